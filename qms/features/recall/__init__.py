"""Search and recall, and the effects of use on entries."""
