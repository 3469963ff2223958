"""Mining: exported conversations in, entries worth keeping out."""
