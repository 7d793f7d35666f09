"""A backend for torch-mlir's end-to-end tests, which compile modules of StableHLO and call their functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stablehlo_ref.diagnostics import MissingAttributeError
from stablehlo_ref.program import Program
from stablehlo_ref.reading.parsing import parse


class RefBackend:
    """Compiles modules to programs, as torch-mlir's `StablehloBackend` and `RefBackendLinalgOnTensorsBackend` do.

    >>> backend = RefBackend()
    >>> invoker = backend.load(backend.compile(module))
    >>> invoker.main(np.ones((2, 3), np.float32))
    """

    def compile(self, module: object) -> Program:
        """Return the verified program of a module: an object of MLIR's bindings, its text, or its bytecode."""
        if isinstance(module, Program):
            return module.verify()
        source = module if isinstance(module, str | bytes) else _text(module)
        return parse(source, filename="<torch-mlir>").verify()

    def load(self, artifact: Program) -> Invoker:
        """Return an object with the functions of a program as methods."""
        return Invoker(artifact)


class Invoker:
    """The public functions of a program as methods, which take and return numpy arrays or scalars.

    A function with one result returns it, one with several a tuple, one without any None. AttributeError for a name
    that no function has.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._entries: dict[str, Program] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__") or name not in self._program.functions:
            known = ", ".join(self._program.functions) or "none"
            raise MissingAttributeError(f"no function is called {name!r}; there are {known}")
        entry = self._entries.setdefault(name, self._program.with_entry(name))

        def invoke(*arguments: object) -> Any:
            results = entry.run(*arguments)
            return results[0] if len(results) == 1 else results or None

        return invoke


def _text(module: object) -> str:
    operation = getattr(module, "operation", module)
    if hasattr(operation, "get_asm"):
        return str(operation.get_asm(enable_debug_info=True, large_elements_limit=None))
    return str(module)
