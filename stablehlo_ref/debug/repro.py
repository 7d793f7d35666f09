"""Write a small program that shows a fault and checks itself: it returns whether its results are within their bounds.

The program has its inputs as constants and uses only StableHLO, so that it runs in any backend as it does here. With
it, the settings of a backend are found that make the fault go away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np

from stablehlo_ref.debug.bounds.ball import UNKNOWN, Ball, dtype_of, exact, overflow_threshold, overflowed
from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.cut import Flat, Subprogram, subprogram
from stablehlo_ref.debug.fused import smallest
from stablehlo_ref.debug.judge import excess_of
from stablehlo_ref.debug.session import Session
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Value
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import BOOLEAN, FunctionType, tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of, is_fractional, kind
from stablehlo_ref.passes.call_graph import functions
from stablehlo_ref.passes.emit import Emitter
from stablehlo_ref.passes.expressions import Expr, equal, not_equal
from stablehlo_ref.syntax.printer import print_operation

SUSPECT = "suspect"
BOOL_SCALAR = tensor_type((), BOOLEAN)


@dataclass(frozen=True)
class Repro:
    """A program, what it is fed, the bounds of its results, and words on what is wrong."""

    program: Subprogram
    feeds: Sequence[Array]
    bounds: Sequence[Ball]
    comment: str
    workarounds: tuple[str, ...] = ()  # switches of the backend that make it right

    def text(self) -> str:
        """Return the program whose @main has no inputs and returns whether all is within the bounds."""
        module = clone(self.program.program.module, {})
        suspect = functions(module)[self.program.program.entry.name]
        suspect.properties = {**suspect.properties, "sym_name": SUSPECT, "sym_visibility": "private"}
        with Rewriter(module) as rewriter:
            body = Emitter(rewriter, suspect).region((), self._main, "func.return")
        members = {"sym_name": "main", "function_type": FunctionType((), (BOOL_SCALAR,))}
        main = build_operation("func.func", (), (), suspect.location, members=members, regions=[body])
        module.regions[0].block.operations.append(main)
        comment = "".join(f"// {line}\n" for line in self.comment.splitlines())
        return comment + print_operation(module)

    def _main(self, emit: Emitter, _: Sequence[Value]) -> list[Value]:
        types = [value.type for value in self.program.feeds]
        feeds = emit.constants(types, self.feeds)
        if feeds:  # which a compiler must not fold
            feeds = emit.operation("stablehlo.optimization_barrier", feeds, types).results
        call = emit.operation("func.call", feeds, [value.type for value in self.program.wanted], callee=SUSPECT)
        checks = [_is_within(emit, value, b) for value, b in zip(call.results, self.bounds) if b is not UNKNOWN]
        return [reduce(partial(emit.value, "stablehlo.and"), checks)]

    def is_within(self, results: Sequence[Array], contract: Contract) -> bool:
        """Return whether results of the program are within the bounds."""
        return all(excess_of(result, bound, contract) is None for result, bound in zip(results, self.bounds))

    def write(self, path: Path) -> None:
        path.write_text(self.text(), encoding="utf-8")


def repro_of(
    flat: Flat, inputs: Sequence[Array], bounds: Sequence[Ball], expected: Sequence[Array], comment: str
) -> Repro:
    """Return a whole program; results without a bound must be those that are expected."""
    balls = [exact(array) if bound is UNKNOWN else bound for bound, array in zip(bounds, expected)]
    return Repro(subprogram(flat, flat.ops, flat.outputs, flat.arguments), inputs, balls, comment)


def _checked(bound: Ball, value: Value) -> Ball:
    """Return a bound on a value in its type, infinite where one legal result overflows and another does not."""
    dtype = dtype_of(value)
    if kind(dtype) != "floating":
        return bound
    made = overflowed(bound, dtype)
    may_overflow = np.isfinite(made.center) & (np.abs(made.center) + made.radius >= overflow_threshold(dtype))
    return Ball(made.center, np.where(may_overflow, np.inf, made.radius))


def _is_within(emit: Emitter, value: Value, bound: Ball) -> Value:
    """Emit whether all elements of a value are within the bound of the center, or equal it."""
    made = _checked(bound, value)
    radius = np.broadcast_to(made.radius, made.center.shape)

    def constant(array: Array) -> Expr:
        return Expr(emit, emit.constant(tensor_type(array.shape, element_type_of(array.dtype)), array))

    center = constant(made.center)
    x = Expr(emit, value).op("convert", type=center.type)
    if is_fractional(made.center.dtype):
        may_be_nan = constant(np.isnan(made.center) | np.isinf(radius))
        near = (x - center).op("abs") <= constant(radius)
        inside = near | equal(x, center) | (not_equal(x, x) & may_be_nan)
    else:
        inside = equal(x, center) | constant(radius != 0)
    both = emit.region([BOOL_SCALAR] * 2, lambda inner, two: [inner.value("stablehlo.and", *two)])
    operands, dimensions = [inside.value, emit.constant(BOOL_SCALAR, True)], tuple(range(radius.ndim))
    return emit.operation("stablehlo.reduce", operands, [BOOL_SCALAR], [both], dimensions=dimensions).results[0]


def workarounds(repro: Repro, session: Session, contract: Contract, most: int) -> Iterator[str]:
    """Yield the settings that make a program right, by their descriptions; those that fail do not count.

    A setting that is a list is cut down to members that suffice. At most `most` settings are tried.
    """
    left = most

    def is_right(setting: Any) -> bool:
        nonlocal left
        if left <= 0:
            return False
        left -= 1
        outcome = session.run(repro.program.text, list(repro.feeds), setting)
        return not outcome.failure and repro.is_within(outcome.results, contract)

    def is_right_with(name: str, members: Sequence[Any]) -> bool:
        return is_right((name, list(members)))

    for name, setting in session.switches().items():
        if isinstance(setting, list):
            if chosen := smallest(setting, partial(is_right_with, name)):
                yield f"{name}={','.join(map(str, chosen))}"
        elif is_right(setting):
            yield name
