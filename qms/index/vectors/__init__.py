"""The vector index: encoded vectors, scans over them, and their file."""
