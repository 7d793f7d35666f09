"""The accuracy of a backend's elementwise functions: largest errors, bias and worst operands, by op, type and range.

The reference is exact up to 1 ULP of f64 for narrower types, and correctly rounded for f64. All values of types of at
most 16 bits are tried; of f32 and f64 as many in each range of powers of two, and then neighbours of the worst.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.conform.cases import every_value
from stablehlo_ref.debug.bounds.ball import largest, smallest_normal, ulp
from stablehlo_ref.debug.evaluate import widened
from stablehlo_ref.debug.session import Session
from stablehlo_ref.define.builder import build_module, build_operation
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.members import REQUIRED
from stablehlo_ref.diagnostics import Location, Source, StablehloError
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Value
from stablehlo_ref.ir.types import FLOATS, Type, tensor_type
from stablehlo_ref.numerics.dtypes import bit_width, float_info, numpy_dtype
from stablehlo_ref.program import Program

TYPES = ("f32", "f64", "bf16", "f16")
SAMPLES = 1 << 15  # operands of each range and sign
EDGES = (-24, -8, -1, 1, 8, 24)  # powers of two between ranges of magnitudes
WORST = 256  # operands whose neighbours are tried
CHUNK = 1 << 22  # operands of a run, if all of f32 are tried
NOWHERE = Location(Source("", "<survey>"), 0)


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
    return [
        n
        for n, definition in REGISTRY.items()
        if definition.dialect in ("stablehlo", "chlo") and _is_function(definition)
    ]


def _is_function(definition: OpDefinition) -> bool:
    is_unary = definition.traits.elementwise and len(definition.operands) == 1 and "infer" in definition.roles
    if not (is_unary and definition.mnemonic[:1].isalpha()):
        return False
    if any(a.default is REQUIRED for a in definition.attributes.values()):
        return False
    try:
        return _program(definition.name, FLOATS["f32"], 1).verify().entry.outputs[0].element_type == FLOATS["f32"]
    except StablehloError:
        return False


def survey(
    session: Session, op: str, type: str, samples: int = SAMPLES, every: bool = False, seed: int = 0
) -> list[Row]:
    """Return the errors of an op on a type, by range; EvaluationError if the backend does not run it.

    With `every`, all values of f32 are operands.
    """
    element = FLOATS[type]
    dtype = numpy_dtype(element)
    if every and type == "f32":
        return _merged([row for x in _all_f32() for row in _rows(op, type, x, *_run(session, op, element, x))])
    x = _operands(dtype, samples, np.random.Generator(np.random.Philox(seed)))
    results = _run(session, op, element, x)
    rows = _rows(op, type, x, *results)
    if bit_width(dtype) > 16:
        near = _neighbours(x, _errors(*results, dtype), np.random.Generator(np.random.Philox(seed + 1)))
        rows += [replace(row, bias=None) for row in _rows(op, type, near, *_run(session, op, element, near))]
    return _merged(rows)


def _program(op: str, element: Type, count: int) -> Program:
    argument = Value(tensor_type((count,), element), None, 0)
    made = build_operation(op, [argument], [argument.type], NOWHERE)
    return Program(build_module([argument], [made], made.results, NOWHERE))


def _run(session: Session, op: str, element: Type, x: Array) -> tuple[Array, Array]:
    """Return what the backend computes, and the exact results in f64."""
    outcome = session.run(str(_program(op, element, x.size)), [x])
    if outcome.failure:
        raise Refused(f"{session.description} {outcome}")
    wide = FLOATS["f64"]
    program = _program(op, wide, x.size).verify()
    (exact,) = program.run(widened(x), reproducible=element == wide)
    return np.asarray(outcome.results[0]), np.asarray(exact)


class Refused(Exception):
    """The backend does not run an op on a type."""


# --- operands ---------------------------------------------------------------------------------------------------------


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


def _all_f32() -> Iterator[Array]:
    for start in range(0, 1 << 32, CHUNK):
        yield np.arange(start, start + CHUNK, dtype=np.uint32).view(np.float32)


# --- errors -----------------------------------------------------------------------------------------------------------


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
    by_range: dict[str, list[Row]] = {}
    for row in rows:
        by_range.setdefault(row.range, []).append(row)
    merged = []
    for found in by_range.values():
        worst = max(found, key=lambda row: row.max_ulp)
        known = [(row.bias, row.tested) for row in found if row.bias is not None]
        merged.append(
            replace(
                worst,
                tested=sum(row.tested for row in found),
                bias=sum(bias * count for bias, count in known) / sum(count for _, count in known) if known else None,
                flushed=sum(row.flushed for row in found),
                specials=sum(row.specials for row in found),
                special=next((row.special for row in found if row.specials), 0.0),
            )
        )
    return merged


# --- tables -----------------------------------------------------------------------------------------------------------


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
    head = "| op | " + " | ".join(f"{t}: ULP | operand" for t in types) + " |\n|---|" + "---:|---|" * len(types)
    lines = [head]
    for op in sorted({row.op for row in rows}):
        cells = []
        for type in types:
            found = [row for row in rows if (row.op, row.type) == (op, type)]
            worst = max(found, key=lambda row: row.max_ulp, default=None)
            notes = "*" if any(row.specials for row in found) else ""
            notes += "†" if any(row.flushed for row in found) else ""
            is_exact = worst is not None and worst.max_ulp == 0
            cells += (
                ["-", ""]
                if worst is None
                else [f"{_short(worst.max_ulp)}{notes}", "" if is_exact else f"{worst.operand:.6g}"]
            )
        lines.append(f"| {op} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
