"""Projects and the text of the configuration."""
