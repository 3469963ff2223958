"""The keyword index: tantivy files, and the overlay of changes that are not in them yet."""
