"""Tests of MCP over standard input and output."""
