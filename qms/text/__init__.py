"""Text of memories: terms, names, dates, secrets, flags."""
