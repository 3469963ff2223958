"""Reads settings from the TOML file and writes them back."""
