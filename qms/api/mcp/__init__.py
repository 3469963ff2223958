"""MCP in and out, on the official SDK; no decisions."""
