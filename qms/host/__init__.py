"""The process: start, signal, stop."""
