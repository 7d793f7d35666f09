"""Arrays that ops of generated source write into, and broadcast scalars that need none.

The result of a ufunc takes the place of an operand that is dead if a ufunc made that array too, and only ufuncs have
read it, so that nothing else can refer to it. Ufuncs take a scalar for a tensor that it is broadcast to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from stablehlo_ref.accelerate.python.expressions import (
    is_plain,
    is_scalar,
    scalar_type,
    scatter_code,
    shape_of,
    update_code,
)
from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.execute.guard import LARGE, byte_size
from stablehlo_ref.execute.ownership import ONE_REFERENCE_TO_LOCAL, may_be_overwritten, references
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics import floats
from stablehlo_ref.ops.elementwise import on_element
from stablehlo_ref.ops.slicing import OWN_BYTES

if TYPE_CHECKING:
    from stablehlo_ref.accelerate.python.writer import Writer

_BROADCAST, _UPDATE, _SCATTER = (
    f"stablehlo.{name}" for name in ("broadcast_in_dim", "dynamic_update_slice", "scatter")
)

_EXTREMA: Mapping[object, np.ufunc] = {floats.maximum: np.maximum, floats.minimum: np.minimum}
_SLOW_IN_PLACE = (np.maximum, np.minimum)  # five times as long, as numpy does not use vectors of the machine then


class SourceArrays:
    """What the variables of a source hold: arrays, and scalars that are not yet broadcast."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.spread: dict[str, tuple[str, str]] = {}  # tensors without an array: a scalar, and what broadcasts it
        self._owned: set[str] = set()  # variables of arrays that ufuncs have made and only ufuncs have read
        self._elements: dict[str, str] = {}  # constants that repeat an element, and names of arrays of rank 0 of that
        self.updated: set[str] = set()  # variables of the state of loops whose arrays each turn overwrites

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Forget at the end which arrays are made inside, as the statements inside may not run."""
        spread = dict(self.spread)
        yield
        self.spread = spread

    def read(self, name: str) -> None:
        """Prepare that something other than a ufunc reads an array."""
        self._owned.discard(name)
        if name in self.spread:
            scalar, broadcast = self.spread.pop(name)
            self.writer.source.line(f"{name} = {broadcast}({scalar})")

    @contextmanager
    def overwriting(self, loop: Operation, names: Sequence[str], uses: Uses) -> Iterator[None]:
        """Copy before a loop what each turn overwrites, unless nothing else refers to it, so that no turn needs to."""
        before = self.updated
        updated = [name for number, name in enumerate(names) if is_only_updated(loop, number, uses)]
        for name in updated:
            self.writer.source.line(f"if not ({self._is_own_array(name)}): {name} = {name}.copy()")
        self.updated = before.union(updated)
        yield
        self.updated = before

    # --- ops ----------------------------------------------------------------------------------------------------

    def compute(self, op: Operation, names: list[str], result: str, dead: Sequence[str], kernel: Kernel) -> bool:
        """Write an op that needs no array of its own; return whether it is one."""
        if op.name == _BROADCAST and is_scalar(op.operands[0].type) and is_plain(op.results[0].type):
            self.spread[result] = names[0], self.writer.source.refer(kernel.run)
            return True
        if (ufunc := self._ufunc(op, names, kernel)) is not None and _is_array(op.results[0].type):
            self._call(op, names, result, self._owned.intersection(dead), ufunc)
            return True
        if op.name == _UPDATE:
            return self._update(op, names, result, dead, kernel)
        return op.name == _SCATTER and self._scatter(op, names, result, dead, kernel)

    def _ufunc(self, op: Operation, names: Sequence[str], kernel: Kernel) -> np.ufunc | None:
        """Return the ufunc that computes an op: its kernel, or the one of a maximum or minimum that has no wrong zero.

        Such a zero can only be a result of two zeros, so there is none where an operand is known to have no zeros.
        """
        if isinstance(kernel.run, np.ufunc):
            return kernel.run
        ufunc, type = _EXTREMA.get(on_element(op)) if op.operands else None, op.results[0].type
        if ufunc is None or self.writer.expressions.is_canonical(op) or not is_plain(type):
            return None
        if scalar_type(type) not in (np.float32, np.float64):
            return None
        known = [self.writer.source.globals.get(name) for name in names]
        is_certain = any(isinstance(x, np.ndarray) and x.flags.c_contiguous and x.all() for x in known)
        return ufunc if is_certain else None

    def _call(self, op: Operation, names: Sequence[str], result: str, free: Collection[str], ufunc: np.ufunc) -> None:
        """Write the call of a ufunc, whose result takes the place of an array in `free` of its type."""
        if all(name in self.spread for name in names):
            self.read(names[0])
        is_full = any(name not in self.spread and self._repeated(name) is None for name in names)
        operands = [
            self.spread[name][0] if name in self.spread else (self._repeated(name) if is_full else None) or name
            for name in names
        ]
        type, free = op.results[0].type, () if ufunc in _SLOW_IN_PLACE else free
        out = [name for name, operand in zip(names, op.operands) if name in free and operand.type == type][:1]
        self.writer.source.line(f"{result} = {self.writer.source.refer(ufunc)}({', '.join([*operands, *out])})", op)
        self._owned.add(result)

    def _repeated(self, name: str) -> str | None:
        """Return the name of an array of rank 0 with the element that a constant repeats; None for other values."""
        value = self.writer.source.globals.get(name)
        if not isinstance(value, np.ndarray) or value.size < 2 or any(value.strides):
            return None
        if name not in self._elements:
            self._elements[name] = self.writer.source.refer(value[(0,) * value.ndim].reshape(()), "c")
        return self._elements[name]

    def _update(self, op: Operation, names: list[str], result: str, dead: Sequence[str], kernel: Kernel) -> bool:
        """Write the update of a slice; return whether there is code for it."""
        code = update_code(op, [self.writer.constants.get(name) for name in names])
        if code is not None:
            self._overwrite(op, names, result, dead, kernel, code)
        return code is not None

    def _scatter(self, op: Operation, names: list[str], result: str, dead: Sequence[str], kernel: Kernel) -> bool:
        """Write a scatter of one update; return whether there is code for it."""
        code = None if self.writer.expressions.is_canonical(op) else scatter_code(op)
        if code is not None:
            whole, places, update = names
            self.read(places)
            count = shape_of(op.operands[1])[0]
            self._overwrite(op, [whole, update, *(f"{places}[{n}]" for n in range(count))], result, dead, kernel, code)
        return code is not None

    def _overwrite(
        self, op: Operation, operands: Sequence[str], result: str, dead: Sequence[str], kernel: Kernel, code: str
    ) -> None:
        """Write code that changes the array of the first operand in place if nothing else has it, or a copy."""
        whole = operands[0]
        for name in operands:
            self.read(name)
        may_reuse = whole in dead and whole not in operands[1:]
        if may_reuse and whole in self.updated:
            self.writer.expressions.write(code, op, operands, whole, kernel)
            self.writer.same[result] = whole
            return
        own = f"{whole} if {self._is_own_array(whole)} else {whole}.copy()" if may_reuse else f"{whole}.copy()"
        self.writer.source.line(f"{result} = {own}", op)
        self.writer.expressions.write(code, op, operands, result, kernel)

    def is_own(self, name: str) -> str:
        """Return the test whether a variable has an array to which nothing else refers."""
        return f"{self._has_one_reference(name)} and {self.writer.source.refer(may_be_overwritten)}({name})"

    def _is_own_array(self, name: str) -> str:
        """Return the same test of what is known to be an array, which takes less time."""
        return f"{self._has_one_reference(name)} and {name}.base is None and {name}.flags.writeable"

    def _has_one_reference(self, name: str) -> str:
        source = self.writer.source
        return f"{source.refer(references)}({name}) == {source.refer(ONE_REFERENCE_TO_LOCAL, 'n')}"


class Uses:
    """The ops of a source as they are planned: other ones than were parsed where calls became part of a function."""

    def __init__(self) -> None:
        self.of: dict[Value, list[Operation]] = defaultdict(list)  # ops that use a value, as often as they do
        self.places: dict[Operation, Block] = {}
        self._owners: dict[Value, Operation] = {}
        self._blocks: set[Block] = set()

    def add(self, block: Block) -> None:
        """Add the ops of a block, and those in their regions."""
        pending = [block]
        while pending:
            block = pending.pop()
            if block in self._blocks:
                continue
            self._blocks.add(block)
            for op in block.operations:
                self.places[op] = block
                self._owners.update((result, op) for result in op.results)
                for operand in op.operands:
                    self.of[operand].append(op)
                pending += [block for region in op.regions for block in region.blocks]

    def owner(self, value: Value) -> Operation | None:
        """Return the op of which a value is a result."""
        return self._owners.get(value) or (value.owner if isinstance(value.owner, Operation) else None)


def is_only_updated(loop: Operation, number: int, uses: Uses) -> bool:
    """Return whether each turn of a loop overwrites a part of an array of its state, and else only reads parts."""
    cond, body = (region.block for region in loop.regions)
    argument, following = body.arguments[number], body.operations[-1].operands[number]
    update, size = uses.owner(following), byte_size(argument.type)
    if update is None or update.name not in (_UPDATE, _SCATTER) or update.operands[0] is not argument:
        return False
    if uses.of[following] != [body.operations[-1]] or uses.places.get(update) is not body:
        return False
    users = [op for op in (*uses.of[argument], *uses.of[cond.arguments[number]]) if op is not update]
    code = update_code(update, [None] * len(update.operands)) if update.name == _UPDATE else scatter_code(update)
    is_read = all(map(_copies, users)) and uses.of[argument].count(update) == 1
    return code is not None and 0 < size < LARGE and is_read


def _copies(op: Operation) -> bool:
    """Return whether an op takes a copy of a small part of an array."""
    return op.name == "stablehlo.dynamic_slice" and byte_size(op.result_types[0]) <= OWN_BYTES


def _is_array(type: Type) -> bool:
    """Return whether ufuncs return arrays of a type: they return numpy scalars if its rank is 0."""
    return isinstance(type, TensorType) and type.shape != ()
