"""Turning input into prepared changes."""
