"""constant: a tensor whose elements the program has."""

from stablehlo_ref.semantics.notation import Array


def constant(value: Array) -> Array:
    """`output = value`."""
    return value
