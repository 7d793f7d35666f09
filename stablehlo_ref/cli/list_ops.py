"""List the ops that the package knows: `stablehlo-interp list-ops`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.cli.commands import FINE
from stablehlo_ref.cli.options import CommandParser
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.formulas import formulas

OWN_DIALECTS = ("stablehlo", "chlo", "check", "interpreter")  # listed first


DESCRIPTION = "Print a table of all ops: whether they are evaluated, and how many constraints the verifier checks."
EXAMPLES = """\
examples:
  stablehlo-interp list-ops
  stablehlo-interp list-ops | grep reduce"""


def run(options: argparse.Namespace) -> int:
    """Print the table; return the exit code."""
    print(listing())
    return FINE


def parser() -> CommandParser:
    """Return the parser of the command line."""
    return CommandParser("list-ops", DESCRIPTION, EXAMPLES)


def is_evaluated(definition: OpDefinition) -> bool:
    """Return whether programs with the op run: the op has a role that plans it, or is a terminator or a symbol."""
    is_planned = bool({"plan", "plan_control_flow"} & definition.roles.keys())
    return is_planned or definition.traits.terminator or "sym_name" in definition.attributes


def own_definitions() -> list[OpDefinition]:
    """Return the definitions of the package, sorted; programs may register more."""

    def order(definition: OpDefinition) -> tuple[int, str, str]:
        first = OWN_DIALECTS.index(definition.dialect) if definition.dialect in OWN_DIALECTS else len(OWN_DIALECTS)
        return first, definition.dialect, definition.name

    package = __package__.partition(".")[0]
    return sorted((d for d in REGISTRY.values() if d.op_class.__module__.startswith(f"{package}.")), key=order)


def listing() -> str:
    """Return one line for each op: whether it is evaluated, and how many constraints have a formula."""
    return "\n".join(_lines(own_definitions()))


def _lines(definitions: list[OpDefinition]) -> Iterator[str]:
    width = max(len(definition.name) for definition in definitions)
    yield f"{'op':{width}}  evaluated  constraints"
    for definition in definitions:
        mark = "yes" if is_evaluated(definition) else "no"
        yield f"{definition.name:{width}}  {mark:^9}  {_constraint_count(definition):^11}".rstrip()


def _constraint_count(definition: OpDefinition) -> str:
    try:
        return str(len(formulas(definition.op_class)))
    except OSError:  # a package without its sources
        return "-"
