"""The claim index, for contradictions found by rules."""
