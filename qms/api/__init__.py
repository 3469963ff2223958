"""HTTP in and out; no decisions."""
