"""Arguments in, text or JSON out, exit code."""
