"""Mining: entries from exported conversations, one module for each format."""
