"""MLIR text to operations and back."""
