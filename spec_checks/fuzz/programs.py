"""Valid programs drawn from the op definitions, by the generator of `conform`."""

from __future__ import annotations

from functools import cache
from random import Random

from hypothesis import strategies as st

from stablehlo_ref.conform.programs import Builder
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.reading.parsing import parse
from stablehlo_ref.syntax.printer import print_operation

DIALECTS = ("stablehlo", "stablehlo", "stablehlo", "chlo", "arith", "math", "complex", "tensor", "shape")
MAX_OPS = 6
EMPTY = "func.func @main() {\n  return\n}\n"


def programs() -> st.SearchStrategy[str]:
    """Return a strategy of valid programs as text."""
    return st.builds(program, st.randoms(use_true_random=True))


def program(random: Random) -> str:
    """Return a valid program of a few ops."""
    builder = Builder(random)
    text = EMPTY
    for _ in range(random.randint(1, MAX_OPS)):
        before = len(builder.operations), len(builder.arguments)
        builder.add(REGISTRY[random.choice(_ops(random.choice(DIALECTS)))])
        made = print_operation(builder.module(), generic=random.random() < 0.3)
        if _is_valid(made):
            text = made
        else:  # such as an op of a dialect with terminators of its own
            del builder.operations[before[0] :], builder.arguments[before[1] :]
    return text


def _is_valid(text: str) -> bool:
    try:
        parse(text).verify()
    except StablehloError:
        return False
    return True


@cache
def _ops(dialect: str) -> list[str]:
    return [n for n, d in REGISTRY.items() if d.dialect == dialect and d.mnemonic and not d.traits.terminator]
