"""Transformations of programs, with the names and options that they have in MLIR."""
