"""MLIR's scf dialect, following its documentation. Functions of regions return a tuple of values."""

from typing import Any

from stablehlo_ref.semantics.notation import Arrays, Function


def if_(condition: bool, then_region: Function, else_region: Function) -> Arrays:
    return then_region() if condition else else_region()


def index_switch(
    arg: int, cases: tuple[int, ...], default_region: Function, case_regions: tuple[Function, ...]
) -> Arrays:
    for case, region in zip(cases, case_regions, strict=True):
        if arg == case:
            return region()
    return default_region()


def execute_region(region: Function) -> Arrays:
    return region()


def for_(lower_bound: int, upper_bound: int, step: int, init_args: Arrays, region: Any) -> Arrays:
    """Call `region(i, *carried)` on `lower_bound`, `lower_bound + step`, ... as long as that is below `upper_bound`."""
    carried, i = init_args, lower_bound
    while i < upper_bound:
        carried = region(i, *carried)
        i += step
    return carried


def while_(inits: Arrays, before: Function, after: Function) -> Arrays:
    """`before` returns a condition and values, for `after` or as results."""
    state = inits
    while True:
        condition, *forwarded = before(*state)
        if not condition:
            return tuple(forwarded)
        state = after(*forwarded)
