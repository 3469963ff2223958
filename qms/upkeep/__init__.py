"""Changes that time asks for: planned here, applied by others."""
