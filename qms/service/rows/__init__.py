"""The rows of the command table, a module a toolset."""
