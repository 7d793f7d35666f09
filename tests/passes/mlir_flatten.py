"""Flattens programs with MLIR's own passes; runs in a Python that has jax.

Reads programs as JSON strings, one a line, and writes how often each op occurs then, as JSON. `inline` of jaxlib's MLIR
leaves `func.call` alone, so calls are inlined one by one with the function that JAX uses; passes do the rest.
"""

import json
import sys
from collections import Counter

from jax._src.interpreters import mlir
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs._jax_mlir_ext import inlined_func_call


def walk(op):
    for region in op.regions:
        for block in region:
            for inner in block:
                yield inner.operation
                yield from walk(inner.operation)


def inline(functions, name, finished):
    """Inline all calls inside a function, in those that it calls first; none of them may be recursive."""
    for call in [op for op in walk(functions[name]) if op.name == "func.call"] if name not in finished else ():
        callee = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
        inline(functions, callee, finished)
        with ir.InsertionPoint(call), ir.Location.unknown():
            results = inlined_func_call(functions[callee], list(call.operands))
        for old, new in zip(call.results, results):
            old.replace_all_uses_with(new)
        call.erase()
    finished.add(name)


def flattened(text):
    module = ir.Module.parse(text)
    functions = {ir.StringAttr(op.attributes["sym_name"]).value: op.operation for op in module.body}
    finished = set()
    for name in functions:
        inline(functions, name, finished)
    passmanager.PassManager.parse("builtin.module(symbol-dce,canonicalize,cse)").run(module.operation)
    return Counter(op.name for op in walk(module.operation))


with mlir.make_ir_context():
    for line in sys.stdin:
        print(json.dumps(flattened(json.loads(line))), flush=True)
