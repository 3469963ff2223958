"""Models: which one is in use, and what it makes of a text."""
