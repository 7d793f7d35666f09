"""The program in memory: types, attributes, operations."""
