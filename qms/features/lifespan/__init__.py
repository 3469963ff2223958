"""Retention of entries: promotion and expiry."""
