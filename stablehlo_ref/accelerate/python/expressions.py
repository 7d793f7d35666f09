"""Write the code of an op as lines of the source, in which `{0}` and other names in braces stand for values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.accelerate.python.source import Source
from stablehlo_ref.accelerate.python.tensor_code import scalar_type
from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import Type

_NUMBERS = {"zero": 0, "one": 1, "minus_one": -1}
_KNOWN: dict[Any, Any] = {}


class Expressions:
    """Writes code of ops, of which those in `canonical` return canonical NaNs."""

    def __init__(self, source: Source, canonical: Collection[Operation]) -> None:
        self._source = source
        self._canonical = canonical
        self.scratch: dict[str, np.dtype[Any]] = {}  # variables that are arrays of one element

    def is_canonical(self, op: Operation) -> bool:
        """Return whether an op returns canonical NaNs."""
        return op in self._canonical

    def with_canonical_nan(self, op: Operation, code: str | None) -> str | None:
        """Return the code of an op that returns the canonical NaN where its kernel does, which then computes again."""
        if code is None or op not in self._canonical or not issubclass(scalar_type(op.operands[0].type), np.floating):
            return code
        code = code if "{r}" in code else "{r} = " + code
        operands = ", ".join(f"{{{number}}}" for number, _ in enumerate(op.operands))
        return f"{code}\nif {{r}} != {{r}}: {{r}} = {{k}}({operands})[()]"

    def write(self, code: str, op: Operation, operands: Sequence[str], result: str, kernel: Kernel) -> None:
        """Write an expression, or statements that assign `{r}`."""
        code = code if "{r}" in code else "{r} = " + code
        for statement in code.splitlines():
            self._source.line(statement.format(*operands, **self._names(statement, op, result, kernel)), op)

    def _names(self, code: str, op: Operation, result: str, kernel: Kernel) -> dict[str, str]:
        """Return the names of what code refers to besides operands."""
        names = {"r": result, "index": "index"}
        if "{k}" in code:
            names["k"] = self._source.refer(kernel.run)
        if "{t}" in code:
            names["t"] = self._source.refer(scalar_type(op.results[0].type), "t")
        if "{T}" in code:
            dtype = np.dtype(scalar_type(op.results[0].type))
            names["T"] = f"T{dtype.num}"
            self.scratch[names["T"]] = dtype
        for name, value in _NUMBERS.items():
            if f"{{{name}}}" in code:
                names[name] = self.number(op.operands[0].type, value)
            if f"{{to_{name}}}" in code:
                names[f"to_{name}"] = self.number(op.results[0].type, value)
        return names

    def number(self, type: Type, value: int) -> str:
        """Return the name of a small number as a scalar of a type."""
        scalar = scalar_type(type)
        return self._source.refer(_KNOWN.setdefault((scalar, value), scalar(value)), "z")
