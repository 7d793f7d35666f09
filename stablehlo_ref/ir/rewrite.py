"""Changes to a program: insert, replace, erase, clone and inline operations.

Values have no lists of uses, as building these would slow down parsing. A `Rewriter` collects the uses inside the op
that it is given, and keeps them up to date while all changes go through it. Blocks change at `commit`, all insertions
and erasures at once, so that the time is linear in the size of the program however many there are; those in an op that
is to be read or cloned change at `settle`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import copy
from typing import TypeAlias

from stablehlo_ref.ir.core import Block, Operation, Region, Value, location_of
from stablehlo_ref.limits.budget import check_time, within_time

Uses: TypeAlias = dict[tuple[Operation, int], None]  # an op and the index of its operand; a dict keeps the order


class Rewriter:
    """Changes the ops inside `root`. Use it as a context manager, or call `commit`."""

    def __init__(self, root: Operation) -> None:
        self.root = root
        self._uses: dict[Value, Uses] = defaultdict(dict)
        self._before: dict[Operation, list[Operation]] = {}
        self._after: dict[Operation, list[Operation]] = {}
        self._erased: set[Operation] = set()
        self._changed: dict[Block, None] = {}
        self._track(root)

    def __enter__(self) -> Rewriter:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is None:
            self.commit()

    # --- uses ---------------------------------------------------------------------------------------------------

    def _track(self, op: Operation) -> None:
        for inner in within_time(op.walk(), "transforming the program", location_of):
            for index, operand in enumerate(inner.operands):
                self._uses[operand][inner, index] = None

    def _forget(self, op: Operation) -> None:
        for inner in op.walk():
            for index, operand in enumerate(inner.operands):
                self._uses[operand].pop((inner, index), None)

    def uses(self, value: Value) -> Sequence[tuple[Operation, int]]:
        """Return the ops that use a value, each with the index of the operand."""
        return tuple(self._uses[value])

    def is_used(self, op: Operation) -> bool:
        """Return whether any result of an op is used."""
        return any(self._uses[result] for result in op.results)

    def is_erased(self, op: Operation) -> bool:
        """Return whether an op has been erased since the last `commit`."""
        return op in self._erased

    # --- changes ------------------------------------------------------------------------------------------------

    def insert_before(self, anchor: Operation, *operations: Operation) -> None:
        """Insert operations before an op, which may itself have been inserted."""
        block = anchor.parent
        assert block is not None
        self._before.setdefault(anchor, []).extend(operations)
        self._add(block, operations)

    def insert_after(self, anchor: Operation, *operations: Operation) -> None:
        """Insert operations right after another one of the program, before those inserted there earlier."""
        block = anchor.parent
        assert block is not None
        self._after.setdefault(anchor, [])[:0] = operations
        self._add(block, operations)

    def _add(self, block: Block, operations: Sequence[Operation]) -> None:
        self._changed[block] = None
        for op in operations:
            op.parent = block
            self._track(op)

    def set_operand(self, op: Operation, index: int, value: Value) -> None:
        """Replace operand `index` of an op."""
        self._uses[op.operands[index]].pop((op, index), None)
        op.operands[index] = value
        self._uses[value][op, index] = None

    def set_operands(self, op: Operation, values: Sequence[Value]) -> None:
        """Replace all operands of an op by a list of any length."""
        for index, operand in enumerate(op.operands):
            self._uses[operand].pop((op, index), None)
        op.operands = list(values)
        for index, operand in enumerate(op.operands):
            self._uses[operand][op, index] = None

    def replace_uses(self, old: Value, new: Value) -> None:
        """Replace `old` by `new` in all ops."""
        if old is new:
            return
        for op, index in self.uses(old):
            self.set_operand(op, index, new)

    def replace(self, op: Operation, values: Sequence[Value]) -> None:
        """Replace the results of an op by other values and erase it; ValueError for a different number of values.

        Values without a name get that of the result that they replace, and so do those without an origin.
        """
        for result, value in zip(op.results, values, strict=True):
            value.name = value.name or result.name
            value.origin = value.origin or result.origin
            self.replace_uses(result, value)
        self.erase(op)

    def erase(self, op: Operation) -> None:
        """Erase an op; ValueError if a result is used."""
        if self.is_used(op):
            raise ValueError(f"'{op.name}' is used, so it cannot be erased")
        assert op.parent is not None
        self._forget(op)
        self._erased.add(op)
        self._changed[op.parent] = None

    def inline(self, op: Operation, block: Block, arguments: Sequence[Value]) -> list[Operation]:
        """Replace an op by a copy of `block`, with `arguments` for the arguments of the block; return the new ops.

        The operands of the block's terminator replace the results of the op.
        """
        mapping: dict[Value, Value] = dict(zip(block.arguments, arguments, strict=True))
        *operations, terminator = block.operations
        made = [clone(inner, mapping) for inner in operations]
        self.insert_before(op, *made)
        self.replace(op, [mapping.get(value, value) for value in terminator.operands])
        return made

    # --- commit -------------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """Apply all insertions and erasures to the blocks."""
        for block in self._changed:
            block.operations = [new for op in block.operations for new in self._expanded(op)]
        for op in self._erased:
            op.parent = None
        self._erased.clear()
        self._changed.clear()

    def settle(self, op: Operation) -> None:
        """Apply the insertions and erasures inside an op to its blocks; erased ops count as such until `commit`."""
        for region in op.regions:
            for block in region.blocks:
                if block in self._changed:
                    del self._changed[block]
                    block.operations = [new for op in block.operations for new in self._expanded(op)]
                for inner in block.operations:
                    self.settle(inner)

    def _expanded(self, op: Operation) -> Iterator[Operation]:
        """Yield the operations inserted before an op, the op unless it is erased, and those inserted after it."""
        pending = [(op, False)]
        while pending:
            op, is_expanded = pending.pop()
            if is_expanded or not (op in self._before or op in self._after):
                if op not in self._erased:
                    yield op
                continue
            pending.extend((inserted, False) for inserted in reversed(self._after.pop(op, ())))
            pending.append((op, True))
            pending.extend((inserted, False) for inserted in reversed(self._before.pop(op, ())))


def clone(op: Operation, mapping: dict[Value, Value]) -> Operation:
    """Return a copy of an op and of its regions.

    Operands in `mapping` are replaced. Results and block arguments are added to it, with those of the copy as values.
    """
    check_time("transforming the program", location=op.location)
    made = Operation(
        op.name,
        [mapping.get(operand, operand) for operand in op.operands],
        op.result_types,
        dict(op.properties),
        dict(op.attributes),
        [],
        op.location,
    )
    made.debug_location, made.spelling = op.debug_location, op.spelling
    made.successors = list(op.successors) or ()
    for old, new in zip(op.results, made.results):
        new.name, new.origin = old.name, old.origin
        mapping[old] = new
    made.regions = [_clone_region(region, mapping) for region in op.regions]
    for region in made.regions:
        region.parent = made
    return made


def _clone_region(region: Region, mapping: dict[Value, Value]) -> Region:
    for block in region.blocks:  # before any operations, which may use arguments of later blocks
        mapping.update((argument, copy(argument)) for argument in block.arguments)
    blocks = [
        Block([mapping[a] for a in block.arguments], [clone(op, mapping) for op in block.operations], block.label)
        for block in region.blocks
    ]
    if len(blocks) > 1:  # a block may use values of one that comes later in the text
        for inner in (inner for block in blocks for op in block.operations for inner in op.walk()):
            inner.operands = [mapping.get(operand, operand) for operand in inner.operands]
    return Region(blocks)
