"""Arrays on their way in and out: files, conversions, comparison, digests, statistics and texts."""
