"""Forward to `qms.platforms.setup`: earlier setup programs and uninstallers run this path."""

from qms.platforms.setup.__main__ import main

if __name__ == "__main__":
    main(prog_name="python -m qms.platforms.setup")
