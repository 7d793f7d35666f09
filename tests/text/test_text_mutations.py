"""Texts with random changes are inlined, or are an error with a location."""

from __future__ import annotations

import random
import re

import pytest
from inlined_programs import PROGRAMS, Program

from stablehlo_ref.diagnostics import MalformedError
from stablehlo_ref.text import inline_function

FRAGMENTS = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "->",
    ":",
    "=",
    ",",
    "%0",
    "%a",
    "%0#1",
    "%0:2",
    "^bb0",
    "^bb1:",
    "#map",
    "!ty",
    "loc",
    "loc(",
    "as",
    "in",
    "at",
    '"',
    "//",
    "@f",
    "return",
    "{-#",
    "#-}",
    "5",
]
find_tokens = re.compile(r"\s+|[\w.$%#^@!]+|.").findall


def mutated(text: str, generator: random.Random) -> str:
    """Return a text with a few tokens removed, added or replaced."""
    tokens = find_tokens(text)
    for _ in range(generator.randint(1, 6)):
        start = generator.randrange(len(tokens))
        inserted = [generator.choice(FRAGMENTS)] if generator.random() < 0.7 else []
        tokens[start : start + generator.randint(0, 2)] = inserted
    return "".join(tokens)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_mutations(program: Program):
    generator = random.Random(program.name)
    operands = [operand for operand, _ in program.operands]
    for _ in range(40):
        text = mutated(program.text, generator)
        try:
            inline_function(text, operands)
        except MalformedError as error:
            (diagnostic,) = error.diagnostics
            assert 0 <= diagnostic.location.offset <= len(text)
