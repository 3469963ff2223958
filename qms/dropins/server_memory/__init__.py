"""Toolset `serverMemory`: the nine tools of the MCP memory server."""
