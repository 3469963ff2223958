"""Toolset `aiMemory`: the tools of ai-memory."""
