"""The formats on disk, and watching them."""
