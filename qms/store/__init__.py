"""The store of one project: its entries in RAM, its journal and its JSONL file."""
