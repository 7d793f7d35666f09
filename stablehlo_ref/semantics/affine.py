"""MLIR's affine dialect: the results of a map, which is a function of integers."""

from collections.abc import Callable

Map = Callable[..., tuple[int, ...]]


def apply(map: Map, operands: tuple[int, ...]) -> int:
    (result,) = map(*operands)
    return result


def min_(map: Map, operands: tuple[int, ...]) -> int:
    return min(map(*operands))


def max_(map: Map, operands: tuple[int, ...]) -> int:
    return max(map(*operands))
