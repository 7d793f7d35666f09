"""MLIR's own parser finds the same ops in what was inlined as in the function itself.

Skipped where no package with MLIR's Python bindings is installed.
"""

from __future__ import annotations

import importlib
from functools import cache

import pytest
from inlined_programs import PROGRAMS, Program

from stablehlo_ref.text import inline_function

PACKAGES = ("jax", "iree.compiler")


@cache
def context(package: str):
    """Return MLIR's `ir` module and a context with all dialects of a package."""
    if package == "jax":
        ir = importlib.import_module("jaxlib.mlir.ir")
        found = importlib.import_module("jax._src.interpreters.mlir").make_ir_context()
        for dialect in ("stablehlo", "chlo", "sdy"):
            importlib.import_module(f"jaxlib.mlir.dialects.{dialect}")
    else:
        ir = importlib.import_module(f"{package}.ir")
        found = ir.Context()
    found.allow_unregistered_dialects = True
    return ir, found


def knows(package: str, dialect: str) -> bool:
    try:
        context(package)[1].dialects[dialect]
    except IndexError:
        return False
    return True


def generic_body(package: str, text: str, name: str) -> str:
    """Return the body of a function as MLIR prints it, in generic form."""
    ir, found = context(package)
    with found:
        module = ir.Module.parse(text)
        functions = [op for op in module.body.operations if str(op.attributes["sym_name"]) == f'"{name}"']
        return functions[0].operation.get_asm(print_generic_op_form=True).partition("({")[2]


def caller(program: Program) -> str:
    """Return a function whose body is what was inlined."""
    operands = [f"%caller_{i}" for i in range(len(program.operands))]
    inlined = inline_function(program.text, operands, function=program.function)
    arguments = ", ".join(f"{name}: {type_}" for name, (_, type_) in zip(operands, program.operands))
    types = ", ".join(type_ for _, type_ in program.results)
    returned = f"return {', '.join(inlined.results)} : {types}" if types else "return"
    header = f"func.func @caller({arguments}) -> ({types}) {{"
    return "\n".join([*program.globals, header, *inlined.lines, returned, "}"])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
@pytest.mark.parametrize("package", PACKAGES)
def test_mlir_parses_the_same_ops(package: str, program: Program):
    pytest.importorskip(package)
    missing = [dialect for dialect in program.dialects if not knows(package, dialect)]
    if missing:
        pytest.skip(f"{package} does not know {', '.join(missing)}")
    expected = generic_body(package, program.text, program.function)
    assert generic_body(package, caller(program), "caller") == expected
