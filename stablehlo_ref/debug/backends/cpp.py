"""`cpp`: StableHLO's own interpreter in C++, which jaxlib contains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stablehlo_ref.arrays.interop import require
from stablehlo_ref.debug.backends.base import versions_of

_LEGALIZE = "builtin.module(func.func(chlo-legalize-to-stablehlo))"


class Cpp:
    """Runs programs with `stablehlo.eval_module`, which aborts the process on what it does not support."""

    name = "cpp"

    def __init__(self) -> None:
        self.versions = versions_of("jaxlib")
        self._ir: Any = require("jaxlib.mlir.ir")
        self._passes: Any = require("jaxlib.mlir.passmanager")
        self._stablehlo: Any = require("jaxlib.mlir.dialects.stablehlo")
        self._stablehlo.register_stablehlo_passes()
        self._context = require("jax._src.interpreters.mlir").make_ir_context()

    def run(self, program: str, inputs: Sequence[Any]) -> list[Any]:
        from stablehlo_ref.ir.types import TensorType
        from stablehlo_ref.numerics.dtypes import numpy_dtype
        from stablehlo_ref.reading.loading import load

        outputs = [p.type for p in load(program).outputs]
        with self._context, self._ir.Location.unknown():
            module = self._ir.Module.parse(program)
            if "chlo." in program:  # which it does not support
                self._passes.PassManager.parse(_LEGALIZE).run(module.operation)
            found = self._stablehlo.eval_module(module, [self._attribute(array) for array in inputs])
            types = [t for t in outputs if isinstance(t, TensorType)]
            return [_array(a, numpy_dtype(t.element_type), t.shape) for a, t in zip(found, types, strict=True)]

    def _attribute(self, array: Any) -> Any:
        from stablehlo_ref.numerics.dtypes import element_type_of

        array = np.asarray(array, order="C")  # not ascontiguousarray, which gives scalars a dimension
        if array.dtype.isbuiltin == 1 and array.dtype.kind in "fiub":
            return self._ir.DenseElementsAttr.get(array)
        shape = "".join(f"{n}x" for n in array.shape)
        digits = f'"0x{array.tobytes().hex()}"' if array.size else ""
        return self._ir.Attribute.parse(f"dense<{digits}> : tensor<{shape}{element_type_of(array.dtype)}>")


def _array(attribute: Any, dtype: Any, shape: Any) -> Any:
    """Return the array of a dense attribute; of complex numbers and of types that numpy lacks, by its text."""
    if dtype.isbuiltin == 1 and dtype.kind != "c":
        return np.array(attribute).astype(dtype, copy=False).reshape(shape)
    from stablehlo_ref.diagnostics import Source
    from stablehlo_ref.syntax.parser import parse_attribute

    parsed: Any = parse_attribute(Source(str(attribute), "result"))
    return np.array(parsed.array).reshape(shape)


def backend(argument: str) -> Cpp:
    if argument:
        raise ValueError(f"the backend `cpp` takes no argument, got {argument!r}")
    return Cpp()
