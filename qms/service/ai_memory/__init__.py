"""Toolset `aiMemory`: the `memory_*` tools of ai-memory, over entries of this house."""
