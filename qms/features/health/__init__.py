"""Health, capabilities, schema and help of the server."""
