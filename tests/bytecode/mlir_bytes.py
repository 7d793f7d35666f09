"""Reads and writes bytecode with the MLIR of jaxlib: a JSON request per line in, an answer or an error per line out.

Run as a script by the tests, by a Python that has jax. Bytes are hexadecimal.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "syntax"))
from mlir_reader import make_context


def text_of(module: Any, debug_info: bool) -> str:
    return str(
        module.operation.get_asm(print_generic_op_form=True, large_elements_limit=None, enable_debug_info=debug_info)
    )


def handle(request: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer a request.

    `{"read": source}` gives generic text, `{"write": source, "version": n}` bytecode of a version of the format, and
    `{"serialize": source, "target": "1.9.0"}` a portable artifact. A source is text, or `{"bytes": hex}`.
    With `strip`, locations are left out of what is written.
    """
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    from jaxlib.mlir.passmanager import PassManager

    (action,) = {"read", "write", "serialize"} & request.keys()
    source = request[action]
    try:
        if isinstance(source, str):
            module = ir.Module.parse(source, context)
        elif bytes.fromhex(source["bytes"])[5:15] == b"StableHLO_":
            module = stablehlo.deserialize_portable_artifact(context, bytes.fromhex(source["bytes"]))
        else:
            module = ir.Module.parse(bytes.fromhex(source["bytes"]), context)
        if request.get("strip"):
            PassManager.parse("builtin.module(strip-debuginfo)", context).run(module.operation)
        if action == "read":
            return {"text": text_of(module, request.get("debug_info", False))}
        if action == "write":
            output = io.BytesIO()
            module.operation.write_bytecode(output, desired_version=request["version"])
            return {"bytes": output.getvalue().hex()}
        return {"bytes": stablehlo.serialize_portable_artifact(module, request["target"]).hex()}
    except (ir.MLIRError, ValueError) as error:
        return {"error": str(error)}


if __name__ == "__main__":
    shared = make_context()
    for line in sys.stdin:
        request = json.loads(line)
        context = make_context() if request.get("fresh") else shared  # keys of resources are unique in a context
        print(json.dumps(handle(request, context)), flush=True)
