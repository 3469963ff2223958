"""Log setup and metric definitions."""
