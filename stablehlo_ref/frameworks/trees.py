"""Programs whose inputs and outputs are the nested structures of a framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stablehlo_ref.define.context import RunOptions
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.limits import Limits
from stablehlo_ref.program import Program

RUN_OPTIONS = frozenset(RunOptions.__annotations__)


class TreeProgram(Program):
    """A program whose `run` takes and returns nested containers of a framework.

    `flatten` turns positional and keyword arguments into the leaves of all inputs, of which the module has those at
    `kept`: exporters drop arguments that have no effect. `unflatten` turns results into the framework's containers.
    """

    def __init__(
        self,
        module: Operation,
        flatten: Callable[[tuple[Any, ...], dict[str, Any]], Sequence[Any]],
        unflatten: Callable[[Sequence[Any]], Any],
        kept: Sequence[int] | None = None,
        entry: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(module, entry, limits)
        self._flatten = flatten
        self._unflatten = unflatten
        self._kept = kept

    def run(self, *arguments: Any, **options: Any) -> Any:
        """Run the program on arguments as the framework's function takes them; return what it returns.

        Options are those of `Program.run`; other keyword arguments are the function's.
        """
        own = {name: options.pop(name) for name in tuple(options) if name in RUN_OPTIONS}
        leaves = list(self._flatten(arguments, options))
        if self._kept is not None:
            leaves = [leaves[index] for index in self._kept]
        if len(leaves) != len(self.inputs):
            raise EvaluationError(f"@{self.entry.name} takes {len(self.inputs)} arrays, got {len(leaves)}")
        return self._unflatten(super().run(*leaves, **own))
