"""Reading and writing single entries."""
