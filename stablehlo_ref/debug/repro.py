"""Write a small program that shows a fault and checks itself: it returns whether its results are within their bounds.

The program has its inputs as constants and uses only StableHLO, so that it runs in any backend as it does here. With
it, the settings of a backend are found that make the fault go away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from stablehlo_ref.arrays.value_text import dense_text
from stablehlo_ref.debug.bounds.ball import Ball, dtype_of, overflow_threshold, overflowed
from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.cut import Subprogram
from stablehlo_ref.debug.fused import smallest
from stablehlo_ref.debug.judge import excess_of
from stablehlo_ref.debug.session import Session
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import BOOLEAN, tensor_type
from stablehlo_ref.numerics.dtypes import BOOL, element_type_of, kind
from stablehlo_ref.passes.call_graph import functions
from stablehlo_ref.syntax.printer import print_operation

SUSPECT = "suspect"
SHORT = 16  # elements: larger constants are written in hexadecimal


@dataclass(frozen=True)
class Repro:
    """A program, what it is fed, the bounds of its results (None where there is none), and words on what is wrong."""

    program: Subprogram
    feeds: Sequence[Array]
    bounds: Sequence[Ball | None]
    comment: str
    workarounds: tuple[str, ...] = ()  # switches of the backend that make it right

    def text(self) -> str:
        """Return the program whose @main has no inputs and returns whether all is within the bounds."""
        printed = print_operation(self._renamed()).rstrip()
        assert printed.endswith("}")
        comment = "".join(f"// {line}\n" for line in self.comment.splitlines())
        return f"{comment}{printed[:-1]}{self._main()}}}\n"

    def is_within(self, results: Sequence[Array], contract: Contract) -> bool:
        """Return whether results of the program are within the bounds."""
        pairs = zip(results, self.bounds)
        return all(bound is None or excess_of(result, bound, contract) is None for result, bound in pairs)

    def write(self, path: Path) -> None:
        path.write_text(self.text(), encoding="utf-8")

    def _renamed(self) -> Operation:
        module = self.program.program.module
        table = functions(module)
        entry = table.get(self.program.program.entry.name) or table[SUSPECT]
        entry.properties = {**entry.properties, "sym_name": SUSPECT, "sym_visibility": "private"}
        return module

    def _main(self) -> str:
        lines = [f"%in{i} = {_constant(array)}" for i, array in enumerate(self.feeds)]
        types = ", ".join(str(v.type) for v in self.program.feeds), ", ".join(str(v.type) for v in self.program.wanted)
        names = ", ".join(f"%in{i}" for i in range(len(self.feeds)))
        count = len(self.program.wanted)
        lines.append(
            f"%r{f':{count}' if count > 1 else ''} = func.call @{SUSPECT}({names}) : ({types[0]}) -> ({types[1]})"
        )
        checks = []
        for index, bound in enumerate(self.bounds):
            if bound is not None:
                value = self.program.wanted[index]
                lines += _check(index, f"%r#{index}" if count > 1 else "%r", value.type, _checked(bound, value))
                checks.append(f"%ok{index}")
        lines += [f"%all{i} = stablehlo.and {a}, {b} : tensor<i1>" for i, (a, b) in enumerate(_chain(checks))]
        last = f"%all{len(checks) - 2}" if len(checks) > 1 else checks[0]
        body = "".join(f"    {line}\n" for line in [*lines, f"return {last} : tensor<i1>"])
        return f"  func.func public @main() -> tensor<i1> {{\n{body}  }}\n"


def _chain(checks: Sequence[str]) -> list[tuple[str, str]]:
    lefts = [checks[0], *(f"%all{i}" for i in range(len(checks)))]
    return list(zip(lefts, checks[1:]))


def _checked(bound: Ball, value: Value) -> Ball:
    """Return a bound on a value in its type, infinite where one legal result overflows and another does not."""
    dtype = dtype_of(value)
    if kind(dtype) != "floating":
        return bound
    made = overflowed(bound, dtype)
    may_overflow = np.isfinite(made.center) & (np.abs(made.center) + made.radius >= overflow_threshold(dtype))
    return Ball(made.center, np.where(may_overflow, np.inf, made.radius))


def _check(index: int, value: str, type: object, bound: Ball) -> list[str]:
    """Return ops that set `%ok` to whether all elements of a value are within a bound of the center, or equal it."""
    if kind(bound.center.dtype) in ("integer", "boolean"):
        known = np.broadcast_to(bound.radius, bound.center.shape) == 0
        return [
            f"%c{index} = {_constant(bound.center)}",
            f"%k{index} = {_constant(~known)}",
            f"%e{index} = stablehlo.compare EQ, {value}, %c{index} : ({type}, {type}) -> {_bools(bound.center)}",
            f"%o{index} = stablehlo.or %e{index}, %k{index} : {_bools(bound.center)}",
            *_all(index, f"%o{index}", bound.center),
        ]
    wide, bools = str(tensor_type(bound.center.shape, element_type_of(bound.center.dtype))), _bools(bound.center)
    reals = str(tensor_type(bound.center.shape, element_type_of(np.dtype(np.float64))))
    radius = np.broadcast_to(bound.radius, bound.center.shape)
    return [
        f"%c{index} = {_constant(bound.center)}",
        f"%b{index} = {_constant(radius)}",
        f"%w{index} = stablehlo.convert {value} : ({type}) -> {wide}",
        f"%d{index} = stablehlo.subtract %w{index}, %c{index} : {wide}",
        f"%a{index} = stablehlo.abs %d{index} : ({wide}) -> {reals}",
        f"%n{index} = stablehlo.compare LE, %a{index}, %b{index} : ({reals}, {reals}) -> {bools}",
        f"%e{index} = stablehlo.compare EQ, %w{index}, %c{index} : ({wide}, {wide}) -> {bools}",
        f"%x{index} = stablehlo.compare NE, %w{index}, %w{index} : ({wide}, {wide}) -> {bools}",
        f"%y{index} = {_constant(np.isnan(bound.center) | np.isinf(radius))}",
        f"%z{index} = stablehlo.and %x{index}, %y{index} : {bools}",
        f"%f{index} = stablehlo.or %n{index}, %e{index} : {bools}",
        f"%o{index} = stablehlo.or %f{index}, %z{index} : {bools}",
        *_all(index, f"%o{index}", bound.center),
    ]


def _all(index: int, value: str, array: Array) -> list[str]:
    dimensions = ", ".join(map(str, range(array.ndim)))
    types = f"({_bools(array)}, tensor<i1>) -> tensor<i1>"
    return [
        f"%t{index} = stablehlo.constant dense<true> : tensor<i1>",
        f"%ok{index} = stablehlo.reduce({value} init: %t{index}) applies stablehlo.and across dimensions = "
        f"[{dimensions}] : {types}",
    ]


def _bools(array: Array) -> str:
    return str(tensor_type(array.shape, BOOLEAN))


def _constant(array: Array) -> str:
    type = tensor_type(array.shape, element_type_of(array.dtype))
    if array.size <= SHORT or array.dtype == BOOL:
        return f"stablehlo.constant {dense_text(type, array)}"
    return f'stablehlo.constant dense<"0x{np.ascontiguousarray(array).tobytes().hex().upper()}"> : {type}'


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
