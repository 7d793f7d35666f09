"""Modules of HLO text for tests: run them, or get their errors."""

from __future__ import annotations

from typing import Any

import pytest

import stablehlo_ref as sr


def run(body: str, *inputs: Any, before: str = "") -> tuple[Any, ...]:
    """Run the entry computation that a body of instructions makes."""
    return tuple(sr.load(f"HloModule m\n\n{before}\nENTRY %main {{\n{body}\n}}\n").run(*inputs))


def error(text: str, kind: type[sr.StablehloError] = sr.MalformedError) -> str:
    with pytest.raises(kind) as raised:
        sr.load(text).verify()
    return str(raised.value)


def instruction(line: str, kind: type[sr.StablehloError] = sr.MalformedError) -> str:
    """Return the error of a module whose entry has this instruction on line 4."""
    return error(f"HloModule m\nENTRY %main {{\n  %x = f32[2,3]{{1,0}} parameter(0)\n  {line}\n}}\n", kind)
