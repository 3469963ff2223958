"""MCP over standard input and output, forwarded to a server over HTTP."""
