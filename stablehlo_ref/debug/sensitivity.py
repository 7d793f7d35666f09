"""How far outputs move if each op rounds at random: what rounding explains of a difference of whole programs.

The program runs again a few times on this interpreter, with random errors in each rounded result, as large as the
contract allows. Worst-case bounds over a whole program say nothing after a few ops; this says what is usual, in norms
of whole tensors. It is no proof: no verdict of an op is made of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite, sqrt
from time import perf_counter
from typing import Any

import numpy as np

from stablehlo_ref.debug.contract import DOT_ALGORITHMS, Contract
from stablehlo_ref.debug.fused import distance
from stablehlo_ref.debug.regions import recognised
from stablehlo_ref.debug.rounding import real_dtype, unit_roundoff
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import ComplexType, FloatType, TensorType
from stablehlo_ref.numerics.dtypes import kind, numpy_dtype
from stablehlo_ref.ops.extensibility import CustomCall
from stablehlo_ref.program import Program

RUNS = 3
EXPLAINED = 8.0  # a larger factor is outside of what random rounding explains
TARGET = "stablehlo_ref.debug.random_rounding"

_ROUNDED = frozenset(
    f"stablehlo.{name}"
    for name in (
        "add", "subtract", "multiply", "divide", "sqrt", "rsqrt", "cbrt", "exponential", "exponential_minus_one", "log",
        "log_plus_one", "logistic", "tanh", "sine", "cosine", "tan", "power", "atan2", "dot_general", "dot", "reduce",
        "convolution", "reduce_window", "scatter", "select_and_scatter", "convert", "fft", "batch_norm_inference",
        "batch_norm_training", "batch_norm_grad", "cholesky", "triangular_solve",
    )
)  # fmt: skip
_ARITHMETIC = (
    "add", "subtract", "multiply", "divide", "sqrt", "convert", "dot_general", "dot", "convolution", "reduce",
)  # fmt: skip
_PRODUCTS = ("stablehlo.dot_general", "stablehlo.dot", "stablehlo.convolution")
_ENTERED = ("builtin.module", "func.func", "stablehlo.while", "stablehlo.if", "stablehlo.case")


@dataclass(frozen=True)
class Sensitivity:
    """The relative norm by which an output differs, and that of runs with random rounding, a root mean square."""

    output: int
    distance: float
    noise: float

    @property
    def factor(self) -> float:
        """How much larger the difference is than what random rounding makes."""
        if not self.distance or self.noise == inf:
            return 0.0
        return self.distance / self.noise if self.noise else inf

    @property
    def is_explained(self) -> bool:
        return self.factor <= EXPLAINED

    def __str__(self) -> str:
        side = "within" if self.is_explained else "outside"
        noise = f"random rounding of every op makes {self.noise:.2g}"
        return f"output {self.output} differs by {self.distance:.2g}, {side} what {noise} (factor {self.factor:.2g})"


def sensitivities(
    program: Program,
    inputs: Sequence[Array],
    ours: Sequence[Array],
    actual: Sequence[Array],
    contract: Contract,
    seconds: float = inf,
) -> list[Sensitivity]:
    """Return how each output differs from the interpreter's, beside runs with random rounding; none if these fail.

    After `seconds` no further run is started; there is one at least.
    """
    started = perf_counter()
    try:
        noisy = Program(_with_noise(program.module, contract), program.entry.name, program.limits)
        if not any(op.properties.get("call_target_name") == TARGET for op in noisy.module.walk()):
            return []
        runs: list[tuple[Any, ...]] = []
        while len(runs) < RUNS and (not runs or perf_counter() - started < seconds):
            draw = np.random.default_rng(len(runs))
            runs.append(noisy.run(*inputs, custom_calls={TARGET: partial(_rounded, draw)}))
    except StablehloError:
        return []
    found = []
    for index, (x, y) in enumerate(zip(actual, ours)):
        apart = [distance(np.asarray(run[index]), y) for run in runs]
        noise = sqrt(sum(d * d for d in apart) / len(runs)) if all(map(isfinite, apart)) else inf
        found.append(Sensitivity(index, distance(x, y), noise))
    return found


# --- the program with random errors ---------------------------------------------------------------------------------


def _with_noise(module: Operation, contract: Contract) -> Operation:
    """Return a copy of a module with a custom call after each op that rounds, and before each sum of products."""
    made = clone(module, {})
    with Rewriter(made) as rewriter:
        for op in list(_entered(made)):
            if op.name in _ROUNDED:
                for result in op.results:
                    _add_errors(rewriter, op, result, contract)
                _add_errors_of_terms(rewriter, op, contract)
    return made


def _entered(op: Operation) -> Iterator[Operation]:
    """Yield the ops inside functions, loops and conditionals, but not those in bodies of reductions and the like."""
    for region in op.regions if op.name in _ENTERED else ():
        for block in region.blocks:
            for inner in block.operations:
                yield inner
                yield from _entered(inner)


def _add_errors(rewriter: Rewriter, op: Operation, result: Value, contract: Contract) -> None:
    if not _is_fractional(result) or not _rounds(op):
        return
    name = op.name.partition(".")[2]
    ulps = contract.ulps_of(name, 0.5 if name in _ARITHMETIC else contract.elementary_ulps)
    ulps = min(ulps, max(contract.narrow_ulps, 0.5)) if _dtype(result).itemsize <= 2 else ulps
    call = _call(f"ulps {ulps}", result, op)
    uses = rewriter.uses(result)
    rewriter.insert_after(op, call)
    for user, index in uses:
        rewriter.set_operand(user, index, call.results[0])


def _add_errors_of_terms(rewriter: Rewriter, op: Operation, contract: Contract) -> None:
    """Add relative errors to the terms of sums, as roundings of their partial sums and of operands have."""
    is_product = op.name in _PRODUCTS
    if not is_product and not (op.name == "stablehlo.reduce" and recognised(op.regions[0]) == "add"):
        return
    operand, result = op.operands[0], op.results[0]
    if not (_is_fractional(operand) and _is_fractional(result)):
        return
    roundoff = DOT_ALGORITHMS[contract.dot_algorithm].roundoff if is_product else 0.0
    of_sums = unit_roundoff(_dtype(result)) * sqrt(max(_size(operand) / max(_size(result), 1), 1))
    call = _call(f"relative {max(roundoff, of_sums)}", operand, op)
    rewriter.insert_before(op, call)
    rewriter.set_operand(op, 0, call.results[0])


def _call(errors: str, value: Value, op: Operation) -> Operation:
    members = {"call_target_name": TARGET, "backend_config": errors}
    return build_operation("stablehlo.custom_call", [value], [value.type], op.location, members=members)


def _is_fractional(value: Value) -> bool:
    return isinstance(value.type, TensorType) and isinstance(value.type.element_type, FloatType | ComplexType)


def _rounds(op: Operation) -> bool:
    """Return whether an op rounds: `convert` only from wider numbers."""
    if op.name != "stablehlo.convert":
        return True
    operand = op.operands[0]
    return _is_fractional(operand) and _dtype(operand).itemsize > _dtype(op.results[0]).itemsize


def _dtype(value: Value) -> DType:
    assert isinstance(value.type, TensorType)
    return real_dtype(numpy_dtype(value.type.element_type))


def _size(value: Value) -> int:
    assert isinstance(value.type, TensorType)
    return int(np.prod([n or 1 for n in value.type.shape]))


# --- random errors --------------------------------------------------------------------------------------------------


def _rounded(draw: np.random.Generator, call: CustomCall, array: Array) -> list[Array]:
    """Return an array with the errors that a call asks for: `ulps N` or `relative X`."""
    unit, size = call.backend_config.split()
    if unit == "ulps":
        return [_by_ulps(array, float(size), draw)]
    factors = 1 + float(size) * np.asarray(draw.uniform(-1, 1, array.shape))
    with np.errstate(all="ignore"):
        return [np.asarray(array * factors).astype(array.dtype)]


def _by_ulps(array: Array, ulps: float, draw: np.random.Generator) -> Array:
    """Return numbers with random errors of a whole number of ULPs; integers, infinities and NaN are left as they are.

    Integers are most often exact, such as counts, masks and positions. With half a ULP, a quarter of the others goes to
    either side.
    """
    dtype = real_dtype(array.dtype)
    if kind(dtype) != "floating" or dtype.itemsize not in (2, 4, 8):
        return array
    flat = np.ascontiguousarray(array).reshape(-1).view(dtype)
    bits = flat.view(f"i{dtype.itemsize}")
    drawn = draw.integers(-round(2 * ulps), round(2 * ulps) + 1, bits.shape, np.int32) // 2 if ulps >= 1 else None
    steps = draw.integers(0, 4, bits.shape, np.int8) if drawn is None else drawn
    if drawn is None:
        steps = (steps == 1).astype(np.int8) - (steps == 2)
    with np.errstate(invalid="ignore"):
        is_exact = (np.rint(flat) == flat) | ~np.isfinite(flat)
        made = (bits + np.where(is_exact, 0, steps).astype(bits.dtype)).view(dtype)
    kept = np.isfinite(made) & (np.signbit(made) == np.signbit(flat))
    return np.where(kept, made, flat).view(array.dtype).reshape(array.shape)
