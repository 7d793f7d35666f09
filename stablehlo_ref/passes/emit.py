"""Insert new operations in front of one that a pass replaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import DenseElements
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import IndexType, TensorType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.syntax.mhlo import name_of

Body = Callable[["Emitter", Sequence[Value]], Sequence[Value]]  # emits a block: from its arguments to what it returns


class Emitter:
    """Makes operations, each put in front of `anchor` and with its location."""

    def __init__(self, rewriter: Rewriter, anchor: Operation) -> None:
        self.rewriter = rewriter
        self.anchor = anchor

    def insert(self, op: Operation) -> None:
        """Insert an operation in front of the anchor."""
        self.rewriter.insert_before(self.anchor, op)

    def operation(
        self,
        name: str,
        operands: Iterable[Value],
        result_types: Sequence[Type] | None = None,
        regions: Sequence[Region] = (),
        **members: object,
    ) -> Operation:
        """Insert an op; its result types are inferred where they are left out. Members that are None are left out."""
        return self._build(name, operands, result_types, regions, members)

    def _build(
        self,
        name: str,
        operands: Iterable[Value],
        result_types: Sequence[Type] | None,
        regions: Sequence[Region],
        members: Mapping[str, object],
    ) -> Operation:
        given = {key: value for key, value in members.items() if value is not None}
        op = build_operation(
            name,
            tuple(operands),
            result_types,
            self.anchor.location,
            members=given,
            regions=regions,
            debug_location=self.anchor.debug_location,
        )
        self.insert(op)
        return op

    def value(self, name: str, *operands: Value, type: Type | None = None, **members: object) -> Value:
        """Insert an op with one result and return the result."""
        return self._build(name, operands, None if type is None else (type,), (), members).results[0]

    def constant(self, type: TensorType, elements: ArrayLike) -> Value:
        """Insert a constant of a static type; elements broadcast to its shape."""
        name = "arith.constant" if isinstance(type.element_type, IndexType) else "stablehlo.constant"
        return self.value(name, type=type, value=dense(type, elements))

    def constants(self, types: Sequence[Type], arrays: Sequence[Array]) -> list[Value]:
        """Insert one constant for each of the types, all static tensor types, with the elements of its array."""
        tensors = [type for type in types if isinstance(type, TensorType)]
        return [self.constant(type, array) for type, array in zip(tensors, arrays, strict=True)]

    def region(self, arguments: Sequence[Type], body: Body, terminator: str = "stablehlo.return") -> Region:
        """Return a region of one block, whose operations `body` emits."""
        block = Block([Value(type, None, index) for index, type in enumerate(arguments)], [])
        inner = _BlockEmitter(self.rewriter, self.anchor, block)
        inner.operation(terminator, body(inner, block.arguments), ())
        return Region([block])


class _BlockEmitter(Emitter):
    """Makes operations at the end of a block that is not part of the program yet."""

    def __init__(self, rewriter: Rewriter, anchor: Operation, block: Block) -> None:
        super().__init__(rewriter, anchor)
        self.block = block

    def insert(self, op: Operation) -> None:
        op.parent = self.block
        self.block.operations.append(op)


def replace_by_constants(rewriter: Rewriter, op: Operation, arrays: Sequence[Array]) -> None:
    """Replace the results of an op by constants."""
    rewriter.replace(op, Emitter(rewriter, op).constants(op.result_types, arrays))


def dense(type: TensorType, elements: ArrayLike) -> DenseElements:
    """Return a tensor constant, rounded to the element type; elements broadcast to the shape."""
    array = np.asarray(elements)
    with np.errstate(all="ignore"):
        array = array.astype(numpy_dtype(type.element_type), copy=False)
    return DenseElements(type, read_only(np.broadcast_to(array, static_shape(type))))


def static_shape(type: TensorType) -> tuple[int, ...]:
    """Return the shape of a type without unknown sizes; ValueError for any other."""
    if not type.is_static:
        raise ValueError(f"expected a static type, got {type}")
    return tuple(n for n in type.shape if n is not None)


def read_only(array: Array) -> Array:
    """Return a view of an array that cannot be written."""
    view = array.view()
    view.flags.writeable = False
    return view


def cannot_legalize(op: Operation) -> UnsupportedError:
    """Return the error of a pass whose output may not contain an op."""
    message = f"failed to legalize operation '{name_of(op)}' that was explicitly marked illegal"
    return UnsupportedError(message, op.location)
