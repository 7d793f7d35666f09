"""Passes on programs with Shardy's shardings."""
