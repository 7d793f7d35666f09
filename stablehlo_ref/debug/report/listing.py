"""The ops of a flat program as text, one by one, with the names that their values have in the program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stablehlo_ref.debug.cut import CHECKS, Flat, operands_of
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.flat import flatten, restore
from stablehlo_ref.limits.stack import FRAMES, on_enough_stack
from stablehlo_ref.passes.call_graph import functions
from stablehlo_ref.passes.elide import elide_constants
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
    for copied, value in zip(_values(block), _values(flat.block)):
        copied.origin = value.origin
    ops = [op for op in block.operations[:-1] if not op.name.startswith(CHECKS)]
    return on_enough_stack(module.location, FRAMES, _listed, ops)


def _values(block: Block) -> Iterator[Value]:
    yield from block.arguments
    yield from (result for op in block.operations for result in op.results)


class _Lister(Printer):
    """Prints ops with the names that values have in the program, `@relu/%3`."""

    def operand(self, value: Value) -> str:
        return value.origin or super().operand(value)

    def _result_names(self, op: Operation) -> str:
        is_known = op.results and all(result.origin for result in op.results)
        return f"{', '.join(map(self.operand, op.results))} = " if is_known else super()._result_names(op)


def _listed(ops: Sequence[Operation]) -> list[Listed]:
    printer = _Lister()
    found = []
    for op in ops:
        printer.parts = []
        printer.spaced, printer.after_mark = False, False
        printer.operation(op)
        names = tuple(map(printer.operand, op.results)), tuple(map(printer.operand, operands_of(op)))
        found.append(Listed("".join(printer.parts).strip(), *names))
    return found
