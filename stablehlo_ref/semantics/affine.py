"""MLIR's affine dialect: the results of a map, which is a function of integers."""

from collections.abc import Callable

from stablehlo_ref.semantics.notation import UndefinedError

Map = Callable[..., tuple[int, ...]]


def apply(map: Map, operands: tuple[int, ...]) -> int:
    (result,) = results(map, operands)
    return result


def min_(map: Map, operands: tuple[int, ...]) -> int:
    return min(results(map, operands))


def max_(map: Map, operands: tuple[int, ...]) -> int:
    return max(results(map, operands))


def results(map: Map, operands: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return map(*operands)
    except ZeroDivisionError as error:
        raise UndefinedError(str(error)) from None
