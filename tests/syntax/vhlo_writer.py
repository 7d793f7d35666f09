"""Run by a Python with jax: prints the portable artifact of each program on standard input, in bytes and as text."""

from __future__ import annotations

import json
import sys

from jax._src.interpreters import mlir  # type: ignore[import-not-found]
from jaxlib.mlir import ir  # type: ignore[import-not-found]
from jaxlib.mlir.dialects import stablehlo  # type: ignore[import-not-found]

with mlir.make_ir_context():
    for line in sys.stdin:
        try:
            artifact = stablehlo.serialize_portable_artifact(
                ir.Module.parse(json.loads(line)), stablehlo.get_current_version()
            )
        except Exception:  # not a program that an artifact can have
            print("null", flush=True)
            continue
        print(json.dumps([artifact.hex(), ir.Module.parse(artifact).operation.get_asm()]), flush=True)
