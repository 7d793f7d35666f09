"""Programs whose inputs and outputs are the nested structures of a framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.limits import Limits
from stablehlo_ref.program import Program


class Trees(Protocol):
    """The containers of a framework. Pickled with the program."""

    def flatten(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> Sequence[Any]:
        """Return the leaves of all inputs; EvaluationError for another structure than the program's."""

    def unflatten(self, results: Sequence[Any]) -> Any:
        """Return results in the framework's containers."""


class TreeProgram(Program):
    """A program whose `run` and `trace` take nested containers of a framework; `run` returns them too.

    Of the leaves of all inputs the module has those at `kept`: exporters drop arguments that have no effect. All leaves
    are kept if `kept` is None.
    """

    def __init__(
        self,
        module: Operation,
        trees: Trees,
        kept: Sequence[int] | None = None,
        entry: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(module, entry, limits)
        self._trees = trees
        self._kept = kept

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "trees": self._trees, "kept": self._kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._trees, self._kept = state["trees"], state["kept"]

    def run(self, *arguments: Any, **options: Any) -> Any:
        """Run the program on arguments as the framework's function takes them; return what it returns.

        Options are those of `Program.run`; other keyword arguments are the function's.
        """
        results = super().run(*arguments, **options)
        return results if options.get("until") is not None else self._trees.unflatten(results)

    def _flat(self, arrays: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        leaves = list(self._trees.flatten(arrays, named))
        if self._kept is not None:
            leaves = [leaves[index] for index in self._kept]
        if len(leaves) != len(self.inputs):
            raise EvaluationError(f"@{self.entry.name} takes {len(self.inputs)} arrays, got {len(leaves)}")
        return tuple(leaves), {}
