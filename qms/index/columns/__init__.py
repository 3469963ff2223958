"""Columns: numpy arrays for filters and conversations."""
