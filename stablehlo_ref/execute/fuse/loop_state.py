"""The variables that hold the state of a loop: one for each value, or one for each element of a few tiny tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stablehlo_ref.execute.fuse.elements import carried
from stablehlo_ref.execute.fuse.ranges import is_number
from stablehlo_ref.execute.fuse.scalar_code import is_scalar
from stablehlo_ref.ir.core import Operation, Value

if TYPE_CHECKING:
    from stablehlo_ref.execute.fuse.frames import Frame
    from stablehlo_ref.execute.fuse.writer import Writer


class LoopState:
    """The state of a `while` whose arguments of the body are in variables, which it writes."""

    def __init__(self, writer: Writer, frame: Frame, loop: Operation) -> None:
        cond, self._body = (region.block for region in loop.regions)
        self._writer, self._frame, self._plan = writer, frame, frame.planner.blocks[self._body]
        self.names = writer.write(frame, self._plan.arguments)
        self._elements = {i: self._variables_of_elements(i) for i in carried(cond, self._body)}

    def _variables_of_elements(self, index: int) -> list[str]:
        name, type = self.names[index], self._body.arguments[index].type
        return [f"{name}s{n}" for n, _ in enumerate(self._writer.elements.of(name, type))]

    def split(self) -> None:
        """Write what makes tensors that are carried as elements scalars."""
        writer, elements = self._writer, self._writer.elements
        for index, variables in self._elements.items():
            name, type = self.names[index], self._body.arguments[index].type
            writer.move(variables, elements.of(name, type))
            writer.drop([name])
            elements.define(name, type, variables)

    def join(self) -> None:
        """Write what makes them tensors again."""
        elements = self._writer.elements
        for index in self._elements:
            elements.make(self.names[index])
            del elements.known[self.names[index]]

    def advance(self, counter: int | None) -> None:
        """Write what makes the results of the body the state of the next turn, in which the counter is one more."""
        writer, frame = self._writer, self._frame
        targets: list[str] = []
        sources: list[str] = []
        returned = list(zip(self._plan.results, self._body.operations[-1].operands))
        for index, (slot, value) in enumerate(returned):
            if index != counter:
                sources += self._following(index, slot, value)
                targets += self._elements.get(index, [self.names[index]])
        writer.move(targets, sources)
        made = {slot for outs in self._plan.outs for slot in outs}
        writer.drop({frame.name(s): None for s, v in returned if s in made and not is_scalar(v.type)})
        if counter is not None:
            writer.source.line(f"{self.names[counter]} += 1")

    def _following(self, index: int, slot: int, value: Value) -> Sequence[str]:
        """Return the texts of the next state of a value, or of its elements."""
        writer, frame = self._writer, self._frame
        if index in self._elements:
            return writer.elements.of(writer.variable(frame, slot, value), value.type)
        if is_number(value.type):
            return [writer.integers.following(frame, writer.variable(frame, slot, value), value)]
        return [writer.read(frame, slot, value)]
