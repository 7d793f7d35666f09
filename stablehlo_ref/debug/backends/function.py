"""`python:MODULE:FUNCTION`: a Python function, called with the text of the program and the arrays."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any


class PythonFunction:
    """Calls a function of the text of a program and a list of arrays, which returns a sequence of arrays."""

    def __init__(self, name: str, function: Callable[..., Sequence[Any]]) -> None:
        self.name = name
        self.switches = getattr(function, "switches", {})
        self._function = function

    def run(self, program: str, inputs: Sequence[Any], **options: Any) -> Sequence[Any]:
        return self._function(program, inputs, **options)


def backend(argument: str) -> PythonFunction:
    module, _, name = argument.partition(":")
    function = getattr(importlib.import_module(module), name, None) if module and name else None
    if not callable(function):
        raise ValueError(f"expected python:MODULE:FUNCTION, got 'python:{argument}'")
    return PythonFunction(argument, function)
