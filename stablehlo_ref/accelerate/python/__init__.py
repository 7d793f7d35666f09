"""Loops and functions as Python source."""
