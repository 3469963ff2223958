"""Toolset `serverMemory`: the nine tools of the MCP memory server, over kind `entity`."""
