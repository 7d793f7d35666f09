"""Tiny tensors as the scalars that they consist of.

Ops on vectors of up to four elements cost ten times as much as on scalars. So slices, broadcasts and concatenations of
few elements only rename scalars in the source, and elementwise ops on them are one expression per element. An array is
made where an op needs one, and taken apart where ops on its elements follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.execute.fuse.few_elements import GATHER, few_elements, reads_few
from stablehlo_ref.execute.fuse.scalar_code import is_plain, is_scalar, scalar_code
from stablehlo_ref.execute.fuse.tensor_code import MOVES, element_code
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype

if TYPE_CHECKING:
    from stablehlo_ref.execute.fuse.writer import Writer

MAX_ELEMENTS = 4
_AS_SCALAR = "\nif type({r}) is not {t}: {r} = {r}[()]"
_CALLS = {1: "{r} = {k}({0})" + _AS_SCALAR, 2: "{r} = {k}({0}, {1})" + _AS_SCALAR}  # of elementwise ops, by operands


class Elements:
    """The tensors of a source whose elements are scalars in it."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.known: dict[str, Sequence[str]] = {}  # the elements of tensors in row-major order
        self.unmade: dict[str, TensorType] = {}  # those for which there is no array

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Forget at the end what is known inside, as the statements inside may not run."""
        known, unmade = dict(self.known), dict(self.unmade)
        yield
        self.known, self.unmade = known, unmade

    def make(self, name: str) -> None:
        """Write the array of a tensor, unless there is one."""
        if name not in self.unmade:
            return
        type = self.unmade.pop(name)
        shape = tuple(n or 0 for n in type.shape)
        empty = self.writer.source.refer(np.zeros(shape, numpy_dtype(type.element_type)), "e")
        self.writer.source.line(f"{name} = {empty}.copy()")
        for index, element in zip(np.ndindex(shape), self.known[name]):
            self.writer.source.line(f"{name}[{', '.join(map(str, index))}] = {element}")

    def of(self, name: str, type: Type) -> Sequence[str]:
        """Return the elements of a tensor of a few elements, or a scalar."""
        assert isinstance(type, TensorType)
        if not type.shape:
            return [name]
        if name not in self.known:
            value = self.writer.source.globals.get(name)
            if isinstance(value, np.ndarray):
                self.known[name] = [self.writer.constant(value[index]) for index in np.ndindex(value.shape)]
            else:
                self.writer.arrays.read(name)
                self.known[name] = [f"{name}e{i}" for i in range(type.size)]
                flat = name if len(type.shape) == 1 else f"{name}.ravel()"
                self.writer.source.line(f"{', '.join(self.known[name])}, = {flat}")
        return self.known[name]

    def element(self, name: str) -> str:
        """Return the only element of a tensor if it is known, else the tensor."""
        if len(self.known.get(name, ())) != 1:
            self.make(name)
            return name
        return self.known[name][0]

    def define(self, name: str, type: Type, elements: Sequence[str]) -> None:
        """Let a tensor, or a scalar, consist of elements."""
        assert isinstance(type, TensorType)
        if type.shape:
            self.known[name], self.unmade[name] = elements, type
        else:
            (self.writer.same[name],) = elements

    # --- ops ----------------------------------------------------------------------------------------------------

    def compute(
        self, op: Operation, operands: Sequence[str], result: str, kernel: Kernel, is_elementwise: bool
    ) -> bool:
        """Write an op on elements, if it has code and one of its operands consists of elements, or is a scalar."""
        type = op.results[0].type
        if operands and operands[0] not in self.known:
            if self._take(op, operands, result, kernel):
                return True
            if _is_tiny(type) and reads_few(op) and self._is_read_by_elements(op.results[0]):
                return self._take_few(op, operands, result, kernel)
        if not isinstance(type, TensorType) or not all(map(_is_tiny, [type, *op.operand_types])):
            return False
        given = [operand in self.known for operand in operands]
        if op.name in MOVES:
            return (any(given) or all(map(is_scalar, op.operand_types)) or type.size == 1) and self._move(
                op, operands, result, kernel
            )
        code = self.writer.expressions.with_canonical_nan(op, scalar_code(op, [None] * len(operands), each=True))
        if code is None and type.size == 1 and is_elementwise:
            code = _CALLS.get(len(operands))
        if code is None or not any(given):
            return False
        count = type.size
        parts = [self.of(x, v.type) for x, v in zip(operands, op.operands)]
        each = [part * count if is_scalar(v.type) else part for part, v in zip(map(list, parts), op.operands)]
        names = [f"{result}e{i}" for i in range(count)]
        for target, *arguments in zip(names, *each):
            self.writer.expressions.write(code, op, arguments, target, kernel)
        self.define(result, type, names)
        return True

    def _take(self, op: Operation, operands: Sequence[str], result: str, kernel: Kernel) -> bool:
        """Write a slice of one element of an array."""
        known = [self.writer.constants.get(name) for name in operands]
        code = element_code(op, known, self.writer.integers.ranges(operands))
        if code is None:
            return False
        self.writer.arrays.read(operands[0])
        self.writer.expressions.write(code, op, operands, f"{result}e0", kernel)
        self.define(result, op.results[0].type, [f"{result}e0"])
        return True

    def _take_few(self, op: Operation, operands: Sequence[str], result: str, kernel: Kernel) -> bool:
        """Write a slice or a gather of a few elements of an array."""
        known, ranges = [self.writer.constants.get(x) for x in operands], self.writer.integers.ranges(operands)
        starts = self.of(operands[1], op.operands[1].type) if op.name == GATHER else ()
        self.writer.arrays.read(operands[0])
        code = few_elements(op, operands, known, ranges, starts)
        names = [f"{result}e{number}" for number, _ in enumerate(code)]
        for name, (text, read) in zip(names, code):
            self.writer.expressions.write(text, op, read, name, kernel)
        self.define(result, op.results[0].type, names)
        return True

    def _is_read_by_elements(self, value: Value) -> bool:
        """Return whether all ops that use a tiny tensor are computed by elements."""
        users = self.writer.integers.planned.uses[value]
        return bool(users) and all(
            self._is_read_by_elements(op.results[0])
            if op.name in MOVES
            else _is_by_elements(op) or _is_index(op, value)
            for op in users
        )

    def _move(self, op: Operation, operands: Sequence[str], result: str, kernel: Kernel) -> bool:
        """Rename elements as an op moves them, which its kernel shows on their numbers.

        These have the type of the elements, as some kernels make views of that type, or i64 if it is none of numbers.
        """
        parts = [self.of(x, v.type) for x, v in zip(operands, op.operands)]
        elements = [element for part in parts for element in part]
        numbers, first = [], 0
        for part, value in zip(parts, op.operands):
            assert isinstance(value.type, TensorType)
            dtype = numpy_dtype(value.type.element_type)
            dtype = dtype if dtype.kind in "iuf" else np.dtype(np.int64)
            numbers.append(np.arange(first, first + len(part), dtype=dtype).reshape([n or 0 for n in value.type.shape]))
            first += len(part)
        moved = np.asarray(kernel.run(*numbers)).reshape(-1)
        if moved.dtype.kind not in "iuf" and len(elements) > 1:  # the kernel has converted the numbers
            return False
        self.define(result, op.results[0].type, [elements[int(i) if len(elements) > 1 else 0] for i in moved])
        return True


def carried(cond: Block, body: Block) -> list[int]:
    """Return the numbers of the values of a loop's state that are carried as elements."""
    returned = body.operations[-1].operands
    found = []
    for number, argument in enumerate(body.arguments):
        owner = returned[number].owner
        if not _is_tiny(argument.type) or is_scalar(argument.type) or not isinstance(owner, Operation):
            continue
        users = [*_users(argument, body), *_users(cond.arguments[number], cond)]
        if users and all(map(_is_by_elements, [owner, *users])):
            found.append(number)
    return found


def _users(value: Value, block: Block) -> list[Operation]:
    return [op for top in block.operations[:-1] for op in top.walk() if value in op.operands]


def _is_by_elements(op: Operation) -> bool:
    if not all(map(_is_tiny, (*op.operand_types, *op.result_types))):
        return False
    moves = op.name in MOVES
    return moves or scalar_code(op, [None] * len(op.operands), each=True) is not None


def _is_index(op: Operation, value: Value) -> bool:
    """Return whether an op gathers a few elements at the start indices `value`."""
    return op.name == GATHER and op.operands[0] is not value and reads_few(op) and _is_tiny(op.result_types[0])


def _is_tiny(type: Type) -> bool:
    return is_plain(type) and isinstance(type, TensorType) and 0 < prod(n or 0 for n in type.shape) <= MAX_ELEMENTS
