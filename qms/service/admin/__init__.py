"""The administration of the server: users, keys, permissions, projects, settings, records."""
