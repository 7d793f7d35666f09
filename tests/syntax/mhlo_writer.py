"""Run by a Python with jax: prints each program on standard input in generic form, and in mhlo in both forms."""

from __future__ import annotations

import json
import re
import sys

from jax._src.interpreters import mlir  # type: ignore[import-not-found]
from jaxlib.mlir import ir  # type: ignore[import-not-found]


def as_tensor(match: re.Match[str]) -> str:
    """Return a list of integers as mhlo has it."""
    numbers = [number for number in (match[2] or "").split(", ") if number]
    elements = f"[{', '.join(numbers)}]" if numbers else ""
    return f"dense<{elements}> : tensor<{len(numbers)}x{match[1]}>"


def in_mhlo(text: str) -> str:
    text = re.sub(r"array<(i64|i1)(?:: ([^>]*))?>", as_tensor, text)
    return re.sub(r'(["#!])stablehlo(?=[.<])', r"\1mhlo", text)


def forms(text: str) -> list[str] | None:
    """Return the three texts; None for a program that MLIR does not have in both dialects."""
    try:
        generic = ir.Module.parse(text).operation.get_asm(print_generic_op_form=True)
        module = ir.Module.parse(in_mhlo(generic))
    except ir.MLIRError:
        return None
    return [generic, module.operation.get_asm(), module.operation.get_asm(print_generic_op_form=True)]


with mlir.make_ir_context() as context:
    for dialect in ("chlo", "mhlo", "sdy", "shape", "tensor", "arith", "cf"):
        context.get_dialect_descriptor(dialect)
    for line in sys.stdin:
        print(json.dumps(forms(json.loads(line))), flush=True)
