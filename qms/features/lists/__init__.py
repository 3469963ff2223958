"""Lists of entries: by filter, curated, for a cold start; statistics and completions."""
