"""One project: entries in RAM, journal and JSONL moving together."""
