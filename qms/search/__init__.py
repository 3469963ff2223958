"""Finding: from a question to ranked entries, stage by stage."""
