"""Keys, their owners and their rate limits."""
