"""Documents: read files of many formats, keep them as chunks, and find references to them."""
