"""Giving new names to all that a function defines."""

from __future__ import annotations

from dataclasses import dataclass

from stablehlo_ref.text.fresh import FreshNames, Prefixes
from stablehlo_ref.text.functions import FoundFunction
from stablehlo_ref.text.returns import Return
from stablehlo_ref.text.scopes import Names


@dataclass(slots=True)
class NewNames:
    """By old name, the labels of the function's own blocks; and the block that returns branch to, if there is one."""

    labels: dict[str, str]
    exit_label: str | None
    exit_arguments: list[str]


def rename(
    function: FoundFunction, names: Names, returns: list[Return], fresh: FreshNames, prefixes: Prefixes
) -> NewNames:
    """Set `new_name` of each definition, and return new names of blocks."""
    for definition in names.definitions:
        if not definition.is_operand:
            prefix = prefixes.argument if definition.is_argument else prefixes.result
            definition.new_name = f"%{fresh(prefix)}"
    entry = function.body.open + 1  # the first block continues one of the other text
    labels = {name: f"^{fresh(prefixes.label)}" for name, token in function.body.labels.items() if token != entry}
    if len(returns) == 1 and returns[0].is_last:
        return NewNames(labels, None, [])
    arguments = [f"%{fresh(prefixes.argument)}" for _ in returns[0].operands]
    return NewNames(labels, f"^{fresh(prefixes.label)}", arguments)
