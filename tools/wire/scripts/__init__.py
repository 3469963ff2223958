"""The scripts of a recording: one module a subject, each a list of steps."""
