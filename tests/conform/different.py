"""`python:tests.conform.different:[SEED:]CONTRACT`: a backend that computes what a contract permits, with other bits.

Sums are computed in another order or in f64, operands are used before they are rounded, functions are off by up to the
permitted error, and subnormal results are zero. What an op does follows from the program and the seed.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.debug.backends import Itself
from stablehlo_ref.debug.bounds.ball import largest, smallest_normal, ulp, widened
from stablehlo_ref.debug.contract import contract_of
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.define.definition import REGISTRY, facts_of
from stablehlo_ref.define.facts import Arithmetic
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Region, Value
from stablehlo_ref.ir.types import QuantizedType, TensorType
from stablehlo_ref.numerics.dtypes import FLOAT64, kind
from stablehlo_ref.numerics.narrow_floats import narrow
from stablehlo_ref.reading.loading import load
from tests.faulty import OpByOp, Uses

UNSIGNED = "float8_e8m0fnu"  # powers of two: one ULP less than 1 is no number
COMMUTATIVE = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")


class Different(OpByOp):
    """Varies the results of ops that round."""

    def __init__(self, description: str) -> None:
        seed, _, contract = description.rpartition(":")
        self._seed = int(seed or 0)
        self._contract = contract_of(contract)
        self._unrounded: dict[Value, Array] = {}
        self._random = np.random.default_rng(0)

    def run_parallel(self, program: str, inputs_per_process: Sequence[Sequence[Any]], grid: Grid) -> list[Any]:
        return Itself("").run_parallel(program, inputs_per_process, grid)

    def __call__(self, program: str, inputs: Sequence[Any]) -> list[Any]:
        self._unrounded = {}
        self._random = np.random.default_rng(zlib.crc32(program.encode(), self._seed))
        try:
            return self.run(program, inputs)
        except (StablehloError, RuntimeError, ValueError):  # not a list of ops on static tensors
            return list(load(program).run(*inputs))

    def changed(
        self, op: Operation, known: Mapping[Value, Array], results: Sequence[Array], evaluate: Evaluator, uses: Uses
    ) -> Sequence[Array]:
        facts = facts_of(op)
        types = (*op.operand_types, *op.result_types)
        is_varied = facts is not None and facts.arithmetic.rounds
        if not is_varied or any(isinstance(t, TensorType) and isinstance(t.element_type, QuantizedType) for t in types):
            return results
        way = self._random.choice(4, p=(0.2, 0.1, 0.2, 0.5))
        if way == 0:
            found = evaluate(op, self._reversed(op, known))
            return self._flushed(results if found is None else found)
        if way == 1:
            return self._flushed(results)
        wide = evaluate(op, [self._operand(op, value, array) for value, array in known.items()], wide=True)
        if wide is None:
            return results
        if REGISTRY[op.name].traits.elementwise:
            self._unrounded.update(zip(op.results, wide))
        with np.errstate(all="ignore"):
            off = [self._off(op, w, r.dtype) if way == 3 else w for w, r in zip(wide, results)]
            return self._flushed([narrow(r.dtype)(np.asarray(w)) for w, r in zip(off, results)])

    def _operand(self, op: Operation, value: Value, array: Array) -> Array:
        """Return an operand, one time in two before it was rounded, if the contract permits that."""
        is_product = isinstance(value.owner, Operation) and value.owner.mnemonic == "multiply"
        is_fused = self._contract.fma and is_product and op.mnemonic in ("add", "subtract")
        if not (self._contract.excess_precision or is_fused) or not REGISTRY[op.name].traits.elementwise:
            return array
        return self._unrounded.get(value, array) if self._random.random() < 0.5 else array

    def _reversed(self, op: Operation, known: Mapping[Value, Array]) -> list[Array]:
        """Return operands whose elements are added in the reverse order."""
        axes: dict[Value, Sequence[int]] = {}
        is_of_two = len(set(op.operands)) == len(op.operands) == 2
        if op.name == "stablehlo.dot_general" and is_of_two:
            for value, name in zip(op.operands, ("lhs", "rhs")):
                axes[value] = op.properties.get(f"{name}_contracting_dimensions", ())
        if op.name == "stablehlo.reduce" and is_of_two and _is_commutative(op.regions[0]):
            axes[op.operands[0]] = op.properties.get("dimensions", ())
        return [np.flip(array, tuple(axes.get(value, ()))) for value, array in known.items()]

    def _off(self, op: Operation, wide: Array, dtype: np.dtype[Any]) -> Array:
        """Return unrounded results of a function, off by up to what the contract permits besides rounding."""
        facts = facts_of(op)
        assert facts is not None
        defaults = {Arithmetic.FUNCTION: self._contract.elementary_ulps, Arithmetic.ROUNDS: 0.5}
        if facts.arithmetic not in defaults or kind(dtype) != "floating" or dtype.name == UNSIGNED:
            return wide
        bound = self._contract.ulps_of(op.mnemonic.removeprefix("broadcast_"), defaults[facts.arithmetic])
        if dtype.itemsize <= 2:
            bound = min(bound, max(self._contract.narrow_ulps, 0.5))
        share = max(bound - (1.0 if dtype == FLOAT64 else 0.5), 0.0) * self._random.uniform(-1, 1, wide.shape)
        magnitude = np.abs(wide)
        is_moderate = (magnitude > 4 * smallest_normal(dtype)) & (magnitude < largest(dtype) / 4)
        found = np.where(is_moderate, wide + share * ulp(magnitude, dtype), wide)
        rounded = found.astype(dtype).astype(np.float64)  # a step of the next binade may be too large
        return np.where(np.abs(rounded - wide) <= bound * ulp(magnitude, dtype), found, wide)

    def _flushed(self, results: Sequence[Array]) -> list[Array]:
        """Return results, one time in four without subnormal numbers, if the contract permits that."""
        found = list(map(np.asarray, results))
        if not self._contract.flush_subnormals or self._random.random() > 0.25:
            return found
        is_float = [kind(array.dtype) == "floating" and array.dtype.name != UNSIGNED for array in found]
        return [
            np.where(np.abs(widened(a)) < smallest_normal(a.dtype), np.zeros((), a.dtype), a) if is_changed else a
            for a, is_changed in zip(found, is_float)
        ]


def _is_commutative(region: Region) -> bool:
    combiner, *others = region.block.operations
    return len(others) == 1 and combiner.mnemonic in COMMUTATIVE and combiner.operands == region.block.arguments


def negated_where_nan(text: str, inputs: Sequence[Any]) -> list[Any]:
    """Return the negative of a unary function where it is NaN, which types without NaN have as another number."""
    (result,) = load(text).run(*inputs)
    wide = np.asarray(inputs[0]).astype(np.float64)
    return [np.where(wide < 1, -np.asarray(result), result)]


def __getattr__(name: str) -> Any:
    """Return the function of the backend of a contract."""
    if name.startswith("__"):
        raise AttributeError(name)
    return Different(name)
