"""Quick Memory Server: one memory service for all your AI agents."""
