"""Does a backend compute the same bits for the same rows in another batch, padding, layout or order?

The spec does not ask for it, as another order of a sum is legal, but a deployment may rely on it. Inputs have rows
along dimension 0, and an op maps each row to a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.arrays.random_values import random_array
from stablehlo_ref.conform.survey import Refused, functions
from stablehlo_ref.debug.evaluate import same_bits
from stablehlo_ref.debug.session import Session
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import FLOATS
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.ulp import ulp_distance

ROWS, COLUMNS, PADDING = 37, 67, 11  # no multiples of the width of vectors
BATCHES = (1, 2, 8, 20)  # rows of smaller batches
RELATIONS = ("batch", "padding", "layout", "order")
BINARY = ("add", "subtract", "multiply", "divide", "power", "atan2", "remainder", "maximum")


@dataclass(frozen=True)
class Relation:
    """Whether the bits of an op's results are the same under a relation, and by how much they differ."""

    op: str
    type: str
    relation: str
    different: int  # elements
    max_ulp: int

    @property
    def holds(self) -> bool:
        return not self.different


@dataclass(frozen=True)
class Subject:
    """An op on `rows` operands that have rows, and on operands of the shapes `others` that have none."""

    name: str
    rows: int
    others: tuple[tuple[int, ...], ...] = ()
    result: tuple[int, ...] = (COLUMNS,)  # the shape of a row of the result

    def line(self, result: str, names: Sequence[str], rows: int, type: str) -> str:
        """Return the op in generic form, or the pretty one of a reduction."""
        operand, made = f"tensor<{rows}x{COLUMNS}x{type}>", self.type(rows, type)
        if self.name == "stablehlo.reduce":
            zero = f"{result}z = stablehlo.constant dense<0.0> : tensor<{type}>\n"
            sum = (
                f"{result} = stablehlo.reduce({names[0]} init: {result}z) applies stablehlo.add across dimensions = [1]"
            )
            return f"{zero}{sum} : ({operand}, tensor<{type}>) -> {made}"
        if self.name == "stablehlo.dot_general":
            types = f"({operand}, tensor<{COLUMNS}x{COLUMNS}x{type}>) -> {made}"
            return f"{result} = stablehlo.dot_general {names[0]}, {names[1]}, contracting_dims = [1] x [0] : {types}"
        return f'{result} = "{self.name}"({", ".join(names)}) : ({", ".join([operand] * len(names))}) -> {made}'

    def type(self, rows: int, type: str) -> str:
        """Return the type of the result."""
        return f"tensor<{'x'.join(map(str, (rows, *self.result)))}x{type}>"


def subjects() -> list[Subject]:
    """Return the ops that are checked."""
    found = [Subject(name, 1) for name in functions()]
    found += [Subject(f"stablehlo.{name}", 2) for name in BINARY if f"stablehlo.{name}" in REGISTRY]
    return [
        *found,
        Subject("stablehlo.dot_general", 1, ((COLUMNS, COLUMNS),)),
        Subject("stablehlo.reduce", 1, result=()),
    ]


def check(session: Session, subject: Subject, type: str, seed: int = 0) -> Iterator[Relation]:
    """Yield whether each relation holds for an op on a type; Refused if the backend does not run it."""
    generator, dtype = np.random.Generator(np.random.Philox(seed)), numpy_dtype(FLOATS[type])
    x = [random_array(generator, dtype, (ROWS, COLUMNS)) for _ in range(subject.rows)]
    others = [random_array(generator, dtype, shape) for shape in subject.others]
    names, fixed = [f"%x{i}" for i in range(len(x))], [f"%w{i}" for i in range(len(others))]

    def run(operands: dict[str, Array], *lines: str, rows: int = ROWS, results: Sequence[str] = ("%r",)) -> list[Array]:
        """Return the results, of so many rows, of lines of a program."""
        given = {**operands, **dict(zip(fixed, others))}
        arguments = ", ".join(f"{n}: tensor<{'x'.join(map(str, (*a.shape, type)))}>" for n, a in given.items())
        types = ", ".join([subject.type(rows, type)] * len(results))
        body = "\n".join([*lines, f"return {', '.join(results)} : {types}"])
        arrays = [np.ascontiguousarray(array) for array in given.values()]
        outcome = session.run(f"func.func @main({arguments}) -> ({types}) {{\n{body}\n}}\n", arrays)
        if outcome.failure:
            raise Refused(f"{session.description} {outcome}")
        return list(outcome.results)

    def applied(result: str, suffix: str = "", rows: int = ROWS) -> str:
        return subject.line(result, [*(f"{name}{suffix}" for name in names), *fixed], rows, type)

    def named(arrays: Sequence[Array], suffix: str = "") -> dict[str, Array]:
        return {f"{name}{suffix}": array for name, array in zip(names, arrays)}

    (base,) = run(named(x), applied("%r"))
    parts = [run(named([a[:n] for a in x]), applied("%r", rows=n), rows=n) for n in BATCHES]
    yield _relation(subject, type, "batch", [(part, base[:n]) for n, (part,) in zip(BATCHES, parts)])

    total = ROWS + PADDING
    types = f"(tensor<{ROWS}x{COLUMNS}x{type}>, tensor<{type}>) -> tensor<{total}x{COLUMNS}x{type}>"
    pads = [f"stablehlo.pad {n}, %one, low = [0, 0], high = [{PADDING}, 0], interior = [0, 0] : {types}" for n in names]
    ranges = ", ".join(f"0:{n}" for n in (ROWS, *subject.result))
    types = f"({subject.type(total, type)}) -> {subject.type(ROWS, type)}"
    (padded,) = run(
        named(x),
        f"%one = stablehlo.constant dense<1.0> : tensor<{type}>",
        *(f"{name}p = {pad}" for name, pad in zip(names, pads)),
        applied("%all", "p", total),
        f"%r = stablehlo.slice %all [{ranges}] : {types}",
    )
    yield _relation(subject, type, "padding", [(padded, base)])

    types = f"(tensor<{COLUMNS}x{ROWS}x{type}>) -> tensor<{ROWS}x{COLUMNS}x{type}>"
    turns = [f"{name} = stablehlo.transpose {name}t, dims = [1, 0] : {types}" for name in names]
    (moved,) = run(named([a.T for a in x], "t"), *turns, applied("%r"))
    yield _relation(subject, type, "layout", [(moved, base)])

    lines = (applied("%r"), applied("%s", "s"))
    both = {**named(x), **named([a[::-1] for a in x], "s")}
    found = [run(both, *order, results=("%r", "%s")) for order in (lines, lines[::-1])]
    yield _relation(subject, type, "order", [(results[0], base) for results in found] + list(zip(*found)))


def as_text(found: Sequence[Relation]) -> str:
    """Return a line for each op and type with relations that do not hold, and how many ops there are."""
    lines = []
    for op, type in dict.fromkeys((r.op, r.type) for r in found):
        broken = [r for r in found if (r.op, r.type) == (op, type) and not r.holds]
        texts = [f"{r.relation} ({r.different} elements, at most {r.max_ulp} ULP)" for r in broken]
        lines += [f"{op} {type}: bits differ by {', '.join(texts)}"] if texts else []
    pairs = len({(r.op, r.type) for r in found})
    return "\n".join([*lines, f"{pairs - len(lines)} of {pairs} ops and types have the same bits under all relations"])


def _relation(subject: Subject, type: str, relation: str, pairs: Sequence[tuple[Array, Array]]) -> Relation:
    different, most = 0, 0
    for x, y in pairs:
        if not same_bits(x, y):
            apart = ulp_distance(np.atleast_1d(np.asarray(x)), np.atleast_1d(np.asarray(y)))
            different += max(int(np.count_nonzero(apart)), 1)
            most = max(most, int(apart.max()))
    return Relation(subject.name, type, relation, different, most)
