"""The ops of a flat program as text, one by one, with the names that they have in the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stablehlo_ref.debug.cut import Flat, operands_of
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.flat import flatten, restore
from stablehlo_ref.ir.locations import CallSiteLocation, resolve
from stablehlo_ref.passes.call_graph import functions
from stablehlo_ref.passes.elide import elide_constants
from stablehlo_ref.stack import FRAMES, on_enough_stack
from stablehlo_ref.syntax.printer import Printer

SHOWN_ELEMENTS = 8  # of a constant


@dataclass(frozen=True)
class Listed:
    """An op as text, and the names of its results and of the values that it uses."""

    text: str
    results: tuple[str, ...]
    operands: tuple[str, ...]


def listing(flat: Flat) -> list[Listed]:
    """Return the text of each op of a program; large constants are left out."""
    module = restore(flatten(flat.program.module))
    elide_constants(module, SHOWN_ELEMENTS)
    block = functions(module)[flat.program.entry.name].regions[0].block
    return on_enough_stack(module.location, FRAMES, _listed, block.arguments, block.operations[: len(flat.ops)])


def _listed(arguments: Sequence[Value], ops: Sequence[Operation]) -> list[Listed]:
    printer = Printer()
    of_the_entry = [op.results[0] for op in ops if len(op.results) == 1 and not _is_inlined(op)]
    for value in (*arguments, *of_the_entry):  # these keep the names that they have in the text, numbers too
        if value.name and value.name not in printer.used:
            printer.names[value] = value.name
            printer.used.add(value.name)
    found = []
    for op in ops:
        printer.parts = []
        printer.spaced, printer.after_mark = False, False
        printer.operation(op)
        names = tuple(map(printer.operand, op.results)), tuple(map(printer.operand, operands_of(op)))
        found.append(Listed("".join(printer.parts).strip(), *names))
    return found


def _is_inlined(op: Operation) -> bool:
    return isinstance(resolve(op.debug_location), CallSiteLocation)
