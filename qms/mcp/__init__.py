"""MCP over HTTP, built on the official SDK."""
