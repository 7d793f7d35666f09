"""Reads programs with the MLIR of jaxlib: a JSON string per line in, its generic text or an error per line out.

Run as a script by the tests, by a Python that has jax.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def make_context() -> Any:
    """Return an MLIR context that knows the dialects of jaxlib and accepts others."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    context = mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():  # deserialization loads the dialect `quant`
        artifact = stablehlo.serialize_portable_artifact(ir.Module.parse(""), stablehlo.get_minimum_version())
        stablehlo.deserialize_portable_artifact(context, artifact)
    return context


def read(text: str, context: Any) -> dict[str, str]:
    """Return the generic text of a program, or the error that MLIR reports."""
    from jaxlib.mlir import ir

    try:
        module = ir.Module.parse(text, context)
    except ir.MLIRError as error:
        return {"error": str(error)}
    return {"text": module.operation.get_asm(print_generic_op_form=True, large_elements_limit=None)}


if __name__ == "__main__":
    shared = make_context()
    for line in sys.stdin:
        text = json.loads(line)
        context = make_context() if "dense_resource" in text else shared  # keys of resources are unique in a context
        print(json.dumps(read(text, context)), flush=True)
