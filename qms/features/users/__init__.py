"""Users, their keys and their permissions."""
