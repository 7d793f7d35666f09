"""Checks of the interpreter against the spec: slow oracles, and property tests that compare the two."""
