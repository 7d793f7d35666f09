"""Observers that follow a run: its values by name, in memory or in files, their statistics, the time of ops."""
