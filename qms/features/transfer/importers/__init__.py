"""Importers, one module for each format."""
