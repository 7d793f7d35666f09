"""Dialects of others of which real exports hold some ops."""
