"""The command table and one module per command family."""
