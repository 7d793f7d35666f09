"""What a backend's functions compute: how accurately, and whether the same bits for the same rows.

The accuracy is the largest errors, bias and worst operands, by op, type and range. The reference is exact up to 1 ULP
of f64 for narrower types, and correctly rounded for f64. All values of types of at most 16 bits are tried; of f32 and
f64 as many in each range of powers of two, and then neighbours of the worst.

The spec does not ask for the same bits for the same rows in another batch, padding, layout or order, as another order
of a sum is legal, but a deployment may rely on it. Inputs have rows along dimension 0, which an op maps to rows.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from stablehlo_ref.arrays.random_values import random_array
from stablehlo_ref.conform.cases import every_value
from stablehlo_ref.conform.programs import Builder, Ops, names_of_ops
from stablehlo_ref.debug.bounds.ball import largest, smallest_normal, ulp
from stablehlo_ref.debug.evaluate import same_bits, widened
from stablehlo_ref.debug.session import Session
from stablehlo_ref.define.bound import NOWHERE
from stablehlo_ref.define.builder import build_module
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.members import REQUIRED
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Value
from stablehlo_ref.ir.types import FLOATS, Type, tensor_type
from stablehlo_ref.numerics.dtypes import bit_width, float_info, numpy_dtype
from stablehlo_ref.numerics.ulp import ulp_distance
from stablehlo_ref.program import Program

TYPES = ("f32", "f64", "bf16", "f16")
SAMPLES = 1 << 15  # operands of each range and sign
EDGES = (-24, -8, -1, 1, 8, 24)  # powers of two between ranges of magnitudes
WORST = 256  # operands whose neighbours are tried
CHUNK = 1 << 22  # operands of a run, if all of f32 are tried

ROWS, COLUMNS, PADDING = 37, 67, 11  # no multiples of the width of vectors
BATCHES = (1, 2, 8, 20)  # rows of smaller batches
RELATIONS = ("batch", "padding", "layout", "order")
BINARY = ("add", "subtract", "multiply", "divide", "power", "atan2", "remainder", "maximum")

Body = Callable[[Ops], Sequence[Value]]  # makes ops on arguments, and returns the results


class Refused(Exception):
    """The backend does not run an op on a type."""


def program_of(shapes: Sequence[Sequence[int]], element: Type, body: Body) -> Program:
    """Return a program whose inputs have these shapes and an element type."""
    ops = Ops([tensor_type(tuple(shape), element) for shape in shapes])
    results = body(ops)
    return Program(build_module(ops.arguments, ops.operations, results, NOWHERE))


def run(session: Session, element: Type, arrays: Sequence[Array], body: Body) -> list[Array]:
    """Return what a backend computes; Refused if it does not run the program."""
    program = program_of([array.shape for array in arrays], element, body)
    outcome = session.run(str(program), list(map(np.ascontiguousarray, arrays)))
    if outcome.failure:
        raise Refused(f"{session.description} {outcome}")
    return list(map(np.asarray, outcome.results))


# --- accuracy ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """The errors of an op on operands of a type in a range. ULPs are of the exact result, and have a fraction.

    `flushed` counts results that are zero as they, or their operands, are subnormal; they are in no other figure.
    `specials` counts those that are NaN or infinite where the exact result is not, or the reverse, and `special` is the
    first operand with such a result.
    """

    op: str
    type: str
    range: str
    tested: int
    max_ulp: float
    operand: float
    result: float
    exact: float
    bias: float | None  # the mean of signed errors in ULPs, of random operands
    flushed: int
    specials: int
    special: float

    def as_dictionary(self) -> dict[str, Any]:
        """Return the fields for JSON, numbers that it lacks as text."""
        return {k: str(v) if isinstance(v, float) and not np.isfinite(v) else v for k, v in asdict(self).items()}


def functions() -> list[str]:
    """Return the ops of one floating-point operand whose result has its type."""
    type = tensor_type((1,), FLOATS["f32"])
    public = [REGISTRY[name] for name in names_of_ops() if REGISTRY[name].mnemonic[:1].isalpha()]
    unary = [
        o for o in public if len(o.operands) == 1 and all(a.default is not REQUIRED for a in o.attributes.values())
    ]
    made = [Builder(random.Random(0)).add_on(definition, type) for definition in unary]
    return [o.name for o, op in zip(unary, made) if op is not None and op.result_types == [type]]


def _applied(op: str) -> Body:
    return lambda ops: [ops.value(op, ops.arguments)]


def survey(
    session: Session, op: str, type: str, samples: int = SAMPLES, every: bool = False, seed: int = 0
) -> list[Row]:
    """Return the errors of an op on a type, by range; EvaluationError if the backend does not run it.

    With `every`, all values of f32 are operands.
    """
    element = FLOATS[type]
    dtype = numpy_dtype(element)
    if every and type == "f32":
        chunks = (np.arange(i, i + CHUNK, dtype=np.uint32).view(np.float32) for i in range(0, 1 << 32, CHUNK))
        return _merged([row for x in chunks for row in _rows(op, type, x, *_run(session, op, element, x))])
    x = _operands(dtype, samples, np.random.Generator(np.random.Philox(seed)))
    results = _run(session, op, element, x)
    rows = _rows(op, type, x, *results)
    if bit_width(dtype) > 16:
        near = _neighbours(x, _errors(*results, dtype), np.random.Generator(np.random.Philox(seed + 1)))
        rows += [replace(row, bias=None) for row in _rows(op, type, near, *_run(session, op, element, near))]
    return _merged(rows)


def _run(session: Session, op: str, element: Type, x: Array) -> tuple[Array, Array]:
    """Return what the backend computes, and the exact results in f64."""
    (results,) = run(session, element, [x], _applied(op))
    wide = FLOATS["f64"]
    (exact,) = program_of([x.shape], wide, _applied(op)).run(widened(x), reproducible=element == wide)
    return results, np.asarray(exact)


def _operands(dtype: DType, samples: int, generator: np.random.Generator) -> Array:
    """Return all values of a narrow type, or special ones and as many of each range and sign."""
    if bit_width(dtype) <= 16:
        return every_value(dtype)
    info = float_info(dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}").type
    edges = [info.minexp, *(e for e in EDGES if info.minexp < e < info.maxexp), info.maxexp]
    parts = [np.array([0.0, -0.0, np.inf, -np.inf, np.nan]).astype(dtype)]
    powers = np.array([0.0, *(np.ldexp(1.0, e) for e in edges[:-1])]).astype(dtype).view(unsigned)
    limits = np.array([*powers, np.array(np.inf, dtype).view(unsigned)])
    for low, high in pairwise(limits):
        drawn = generator.integers(int(low), int(high), samples, np.uint64).astype(unsigned).view(dtype)
        parts += [drawn, -drawn]
    return np.concatenate(parts)


def _neighbours(x: Array, errors: Array, generator: np.random.Generator) -> Array:
    """Return as many operands near those with the largest errors."""
    magnitudes = np.where(np.isfinite(errors), np.abs(errors), 0.0)
    worst = x[np.argsort(magnitudes)[-WORST:]]
    bits = np.resize(worst, x.size).view(f"i{x.itemsize}")
    far = float_info(x.dtype).nmant - 9  # in powers of two: at most 2**-9 of the operand
    steps = 2.0 ** generator.uniform(0, far, x.size) * generator.choice([-1, 1], x.size)
    with np.errstate(all="ignore"):
        return np.asarray((bits + steps.astype(bits.dtype)).view(x.dtype))


def _errors(results: Array, exact: Array, dtype: DType) -> Array:
    """Return errors in ULPs of the exact results; NaN where a result or the exact one is not finite."""
    with np.errstate(all="ignore"):
        return np.asarray((widened(results) - exact) / ulp(exact, dtype))


def _rows(op: str, type: str, x: Array, results: Array, exact: Array) -> list[Row]:
    """Return the errors on operands by their ranges."""
    dtype, wide, got, errors = x.dtype, widened(x), widened(results), _errors(results, exact, x.dtype)
    sizes, tiny, info = np.abs(wide), smallest_normal(dtype), float_info(dtype)
    with np.errstate(all="ignore"):
        rounded = np.where(np.abs(exact) > largest(dtype), np.copysign(np.inf, exact), exact)
        near_overflow = (np.abs(exact) > largest(dtype) * (1 - 2.0**-6)) & ~np.isnan(got) & np.isfinite(exact)
        is_same = (np.isfinite(got) & np.isfinite(rounded)) | (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    is_special = ~is_same & ~near_overflow
    is_flushed = (got == 0) & (exact != 0) & ((np.abs(exact) < tiny) | (sizes < tiny)) & (np.abs(errors) >= 1)
    is_counted = np.isfinite(errors) & ~is_flushed & ~is_special

    powers = [e for e in EDGES if info.minexp < e < info.maxexp]
    texts = [f"2^{a} to 2^{b}" for a, b in pairwise(powers)]
    texts = ["subnormal", f"below 2^{powers[0]}", *texts, f"from 2^{powers[-1]}", "0, infinite, NaN"]
    bins = np.searchsorted([tiny, *(2.0**e for e in powers)], sizes, side="right")
    bins = np.where(np.isfinite(sizes) & (sizes > 0), bins, len(texts) - 1)
    rows = []
    for number, text in enumerate(texts):
        inside = bins == number
        if not inside.any():
            continue
        counted, specials = inside & is_counted, np.flatnonzero(inside & is_special)
        magnitudes = np.where(counted, np.abs(errors), -1.0)
        worst = int(np.argmax(magnitudes))
        rows.append(Row(
            op, type, text, int(inside.sum()), max(float(magnitudes[worst]), 0.0), float(wide[worst]),
            float(got[worst]), float(exact[worst]), float(errors[counted].mean()) if counted.any() else 0.0,
            int((inside & is_flushed).sum()), len(specials), float(wide[specials[0]]) if len(specials) else 0.0,
        ))  # fmt: skip
    return rows


def _merged(rows: Sequence[Row]) -> list[Row]:
    """Return one row for each range: the worst, with the counts and the mean bias of all."""
    found = []
    for name in dict.fromkeys(row.range for row in rows):
        own = [row for row in rows if row.range == name]
        known = [(row.bias, row.tested) for row in own if row.bias is not None]
        found.append(replace(
            max(own, key=lambda row: row.max_ulp),
            tested=sum(row.tested for row in own),
            bias=sum(bias * count for bias, count in known) / sum(count for _, count in known) if known else None,
            flushed=sum(row.flushed for row in own),
            specials=sum(row.specials for row in own),
            special=next((row.special for row in own if row.specials), 0.0),
        ))  # fmt: skip
    return found


def as_text(rows: Sequence[Row]) -> str:
    """Return a line for each range, the worst first."""
    lines = [f"{'op':<32}{'type':<6}{'range':<18}{'max ULP':>10}  {'bias':>7}  worst operand"]
    for row in sorted(rows, key=lambda row: -row.max_ulp):
        bias = "" if row.bias is None else f"{row.bias:.2f}"
        notes = f"{row.operand!r}"
        notes += f"; {row.flushed} flushed to zero" if row.flushed else ""
        notes += f"; {row.specials} NaN or infinities differ, as for {row.special!r}" if row.specials else ""
        lines.append(f"{row.op:<32}{row.type:<6}{row.range:<18}{_short(row.max_ulp, 2):>10}  {bias:>7}  {notes}")
    return "\n".join(lines)


def _short(ulps: float, digits: int = 1) -> str:
    return f"{ulps:.{digits}f}" if ulps < 1e5 else f"{ulps:.1e}"


def as_markdown(rows: Sequence[Row]) -> str:
    """Return a table with a line for each op, and for each type the largest error and where it is."""
    types = list(dict.fromkeys(row.type for row in rows))
    lines = ["| op | " + " | ".join(f"{t}: ULP | operand" for t in types) + " |", "|---|" + "---:|---|" * len(types)]
    for op in sorted({row.op for row in rows}):
        cells = [_cell([row for row in rows if (row.op, row.type) == (op, type)]) for type in types]
        lines.append(f"| {op} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(rows: Sequence[Row]) -> str:
    if not rows:
        return "- | "
    worst = max(rows, key=lambda row: row.max_ulp)
    notes = "*" * any(row.specials for row in rows) + "†" * any(row.flushed for row in rows)
    return f"{_short(worst.max_ulp)}{notes} | " + (f"{worst.operand:.6g}" if worst.max_ulp else "")


# --- the same bits for the same rows ----------------------------------------------------------------------------------


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

    def applied(self, ops: Ops, operands: Sequence[Value], element: Type) -> Value:
        """Append the op, and return its result."""
        if self.name == "stablehlo.dot_general":
            return ops.value(self.name, operands, lhs_contracting_dimensions=(1,), rhs_contracting_dimensions=(0,))
        if self.name == "stablehlo.reduce":
            scalar = tensor_type((), element)
            body = Ops([scalar, scalar])
            region = body.region([body.value("stablehlo.add", body.arguments)])
            operands = [*operands, ops.constant(scalar, 0.0)]
            return ops.append(self.name, operands, None, [region], dimensions=(1,)).results[0]
        return ops.value(self.name, operands)


def subjects() -> list[Subject]:
    """Return the ops that are checked."""
    found = [Subject(name, 1) for name in functions()]
    found += [Subject(f"stablehlo.{name}", 2) for name in BINARY]
    return [*found, Subject("stablehlo.dot_general", 1, ((COLUMNS, COLUMNS),)), Subject("stablehlo.reduce", 1)]


def check(session: Session, subject: Subject, type: str, seed: int = 0) -> Iterator[Relation]:
    """Yield whether each relation holds for an op on a type; Refused if the backend does not run it."""
    element, generator = FLOATS[type], np.random.Generator(np.random.Philox(seed))
    shapes = [*[(ROWS, COLUMNS)] * subject.rows, *subject.others]
    arrays = [random_array(generator, numpy_dtype(element), shape) for shape in shapes]
    x, others = arrays[: subject.rows], arrays[subject.rows :]

    def applied(ops: Ops, change: Callable[[Ops, Value], Value] = lambda ops, value: value, start: int = 0) -> Value:
        """Return the result of the op on operands that are changed, of those from `start`."""
        own, fixed = ops.arguments[start : start + len(x)], ops.arguments[len(ops.arguments) - len(others) :]
        return subject.applied(ops, [*(change(ops, value) for value in own), *fixed], element)

    def related(relation: str, pairs: Sequence[tuple[Array, Array]]) -> Relation:
        apart = [ulp_distance(*map(np.atleast_1d, pair)) for pair in pairs if not same_bits(*pair)]
        different = sum(max(int(np.count_nonzero(distance)), 1) for distance in apart)
        return Relation(subject.name, type, relation, different, max((int(d.max()) for d in apart), default=0))

    (base,) = run(session, element, arrays, lambda ops: [applied(ops)])
    parts = [run(session, element, [*(a[:n] for a in x), *others], lambda ops: [applied(ops)])[0] for n in BATCHES]
    yield related("batch", [(part, base[:n]) for n, part in zip(BATCHES, parts)])

    def padded(ops: Ops, value: Value) -> Value:
        one = ops.constant(tensor_type((), element), 1.0)
        sides = {"edge_padding_low": (0, 0), "interior_padding": (0, 0)}
        return ops.value("stablehlo.pad", [value, one], edge_padding_high=(PADDING, 0), **sides)

    def without_padding(ops: Ops) -> list[Value]:
        ranges = {"start_indices": (0,) * base.ndim, "limit_indices": base.shape, "strides": (1,) * base.ndim}
        return [ops.value("stablehlo.slice", [applied(ops, padded)], **ranges)]

    yield related("padding", [(run(session, element, arrays, without_padding)[0], base)])

    def turned(ops: Ops, value: Value) -> Value:
        return ops.value("stablehlo.transpose", [value], permutation=(1, 0))

    (moved,) = run(session, element, [*(a.T for a in x), *others], lambda ops: [applied(ops, turned)])
    yield related("layout", [(moved, base)])

    both = [*x, *(a[::-1] for a in x), *others]
    last = len(x)
    found = [
        run(session, element, both, lambda ops: [applied(ops), applied(ops, start=last)]),
        run(session, element, both, lambda ops: [applied(ops, start=last), applied(ops)])[::-1],
    ]
    yield related("order", [(results[0], base) for results in found] + list(zip(*found)))


def relations_as_text(found: Sequence[Relation]) -> str:
    """Return a line for each op and type with relations that do not hold, and how many ops there are."""
    pairs, lines = dict.fromkeys((r.op, r.type) for r in found), []
    for op, type in pairs:
        broken = [r for r in found if (r.op, r.type) == (op, type) and not r.holds]
        texts = [f"{r.relation} ({r.different} elements, at most {r.max_ulp} ULP)" for r in broken]
        lines += [f"{op} {type}: bits differ by {', '.join(texts)}"] if texts else []
    same = len(pairs) - len(lines)
    return "\n".join([*lines, f"{same} of {len(pairs)} ops and types have the same bits under all relations"])
