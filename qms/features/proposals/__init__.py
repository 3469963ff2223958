"""Proposals of a language model: made in the background, listed, accepted or dismissed."""
