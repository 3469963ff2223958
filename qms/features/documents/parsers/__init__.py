"""Readers of one format each; all but those of plain text run in a locked worker only."""
