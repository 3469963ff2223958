"""Entry lines, their canonical form, and the JSON Schema of the types."""
