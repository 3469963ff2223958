"""Starts `qms` of the wheel in this bundle; the client passes `mcp` and its options."""

from qms.cli.server import start

if __name__ == "__main__":
    start()
