"""The search pipeline: from a query to ranked entries, in stages."""
