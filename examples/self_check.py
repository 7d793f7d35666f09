"""Make exported programs check themselves: what the `export_*.py` scripts beside it share.

The exported function keeps its text and gets a name of its own. A new `@main` holds inputs and the results that the
framework computed from them; it calls the function and compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

ELEMENTS = {"float32": "f32", "int32": "i32", "int8": "i8", "bool": "i1"}


def tensor_type(x: np.ndarray, *unknown: int) -> str:
    """Return the type of an array; axes in `unknown` have the size `?`."""
    sizes = ["?" if axis in unknown else str(size) for axis, size in enumerate(x.shape)]
    return f"tensor<{'x'.join([*sizes, ELEMENTS[x.dtype.name]])}>"


def constant(name: str, x: np.ndarray) -> str:
    """Return a constant: integers as numbers, floats bit by bit."""
    elements = str(x.tolist()) if x.dtype.kind == "i" else f'"0x{x.tobytes().hex().upper()}"'
    return f"    {name} = stablehlo.constant dense<{elements}> : {tensor_type(x)}"


def check(actual: str, expected: str, x: np.ndarray, tolerance: float) -> str:
    """Return a check that a value has expected elements: integers are equal, floats within an absolute tolerance."""
    if x.dtype.kind != "f":
        return f"    check.expect_eq {actual}, {expected} : {tensor_type(x)}"
    return f"    check.expect_almost_eq {actual}, {expected}, tolerance = {tolerance:.1e} : {tensor_type(x)}"


def self_checking(
    exported: str, name: str, inputs: Sequence[np.ndarray], expected: Sequence[np.ndarray], tolerance: float = 1e-5
) -> str:
    """Return an exported module with its `@main` renamed to `name`, and a `@main` that calls it and compares."""
    arguments = [f"%input{i}" for i in range(len(inputs))]
    wanted = [f"%expected{i}" for i in range(len(expected))]
    results = [f"%0#{i}" if len(expected) > 1 else "%0" for i in range(len(expected))]
    types = ", ".join(map(tensor_type, expected))
    count = f":{len(expected)}" if len(expected) > 1 else ""
    signature = f"({', '.join(map(tensor_type, inputs))}) -> ({types})"
    body = [
        *map(constant, arguments, inputs),
        *map(constant, wanted, expected),
        f"    %0{count} = call @{name}({', '.join(arguments)}) : {signature}",
        *(check(*pair, x, tolerance) for *pair, x in zip(results, wanted, expected)),
        f"    return {', '.join(results)} : {types}",
    ]
    return with_main(exported, name, [f"  func.func public @main() -> ({types}) {{", *body, "  }"])


def with_main(exported: str, name: str, main: Sequence[str]) -> str:
    """Return an exported module with its `@main` renamed to `name`, and another one before it."""
    head, _, rest = exported.replace("  func.func public @main(", "  func.func @main(").partition("  func.func @main(")
    text = "\n".join(main)
    return f"{head}{text}\n  func.func private @{name}({rest.replace('@main', f'@{name}')}"


def write(script: str, text: str, made_by: str) -> None:
    """Write the program of a script, `export_x.py`, to `x.mlir` beside it."""
    path = Path(script)
    name = path.stem.removeprefix("export_")
    comment = f"// By {path.name} with {made_by}: @main runs the exported function and checks it.\n"
    path.with_name(f"{name}.mlir").write_text(comment + text, encoding="utf-8")
