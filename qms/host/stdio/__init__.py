"""MCP over standard input and output, carried to a server over HTTP."""
