"""reduce: the reduction of dimensions by a region, in the order that algorithms/reduction_schedule.py defines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from stablehlo_ref.algorithms.reduction_schedule import plan_reduction
from stablehlo_ref.define.assembly import (
    AsmParser,
    AsmPrinter,
    Directive,
    Draft,
    Irregular,
    attribute_dictionary,
    is_plain,
    listed,
    member_value,
)
from stablehlo_ref.define.attribute_codecs import Dims
from stablehlo_ref.define.computation import RegionFunction, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import REGISTRY, OpDefinition, definition_of
from stablehlo_ref.define.facts import FOLDS
from stablehlo_ref.define.op import Attr, Body, Ins, Op, Outs
from stablehlo_ref.define.spec import (
    dims,
    element_type,
    in_range,
    is_promotable,
    is_unique,
    make_tensor_type,
    rank,
    same,
    shape,
    size,
    without,
)
from stablehlo_ref.define.type_constraints import init_value, per_tensor_quantized, tensor
from stablehlo_ref.diagnostics import Location
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import FunctionType, TensorType, Type, tensor_type
from stablehlo_ref.numerics.quantized import to_destination_type

Types: TypeAlias = Sequence[TensorType]
Results: TypeAlias = "RuntimeValue | Sequence[RuntimeValue]"  # of an op's run: of one result its value

T = TypeVar("T")


class ReduceForm(Directive):
    """`(%input init: %init), ... applies op across dimensions = [...] attr-dict : functional_type`.

    Without `applies op`, `reducer(%a: type, %b: type) ... {...}` follows the type.
    """

    members = ("dimensions",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        pairs = [self._pair(parser)]
        while parser.accept(","):
            pairs.append(self._pair(parser))
        draft.operands = [x for x, _ in pairs] + [init for _, init in pairs]
        offset = parser.start
        inner = parser.op_name() if parser.accept("applies") else None
        for token in ("across", "dimensions", "="):
            parser.expect(token)
        draft.members["dimensions"] = parser.dimensions()
        draft.exclusive = self.members
        attribute_dictionary(parser, draft)
        parser.expect(":")
        parser.functional_type(draft)
        draft.regions = [self._applied(parser, draft, inner, offset) if inner else self._reducer(parser)]

    def _pair(self, parser: AsmParser) -> tuple[tuple[str, int], tuple[str, int]]:
        parser.expect("(")
        operand = parser.operand()
        parser.expect("init")
        parser.expect(":")
        init = parser.operand()
        parser.expect(")")
        return operand, init

    def _applied(self, parser: AsmParser, draft: Draft, inner: str, offset: int) -> Region:
        definition = REGISTRY.get(inner)
        if definition is None or not definition.traits.commutative or len(definition.operands) != 2:
            dialect = draft.name.partition(".")[0]
            raise parser.error(
                f"expected the inner-op to be a commutative binary-op from the {dialect} dialect, with zero region, "
                f"producing single result; found '{inner}'",
                offset,
            )
        element = draft.operand_types[0] if draft.operand_types else None
        if not isinstance(element, TensorType):
            raise parser.error(f"'applies' requires a tensor operand, got {element}", offset)
        scalar, location = tensor_type((), element.element_type), parser.location(draft.offset)
        return applied_region(definition, scalar, location, draft.spelling)

    def _reducer(self, parser: AsmParser) -> Region:
        parser.expect("reducer")
        pairs = []
        while parser.accept("("):
            first = parser.argument()
            parser.expect(",")
            pairs.append((first, parser.argument()))
            parser.expect(")")
        arguments = [a for a, _ in pairs] + [b for _, b in pairs]
        for index, argument in enumerate(arguments):
            argument.index = index
        return parser.region(arguments)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        count = len(op.operands) // 2
        if not count or len(op.operands) % 2 or len(op.regions) != 1 or not is_plain(op.regions[0]):
            raise Irregular
        dimensions = listed(member_value(op, "dimensions"))
        names = list(map(printer.operand, op.operands))
        printer.literal("(")
        printer.value(", (".join(f"{x} init: {init})" for x, init in zip(names, names[count:])))
        inner = applied_op(op)
        if inner:
            printer.value(f"applies {printer.op_name(inner)}")
        printer.value(f"across dimensions = {dimensions}")
        printer.dictionary(op, self.members)
        printer.value(f": {printer.functional_type(op)}")
        if not inner:
            self._print_reducer(printer, op.regions[0])

    def _print_reducer(self, printer: AsmPrinter, region: Region) -> None:
        arguments = region.block.arguments
        count = len(arguments) // 2
        if len(arguments) % 2:
            raise Irregular
        names = printer.region_argument_names(arguments)
        written = [printer.argument_text(a, name) for a, name in zip(arguments, names)]
        printer.newline()
        pairs = "".join(f"({a}, {b}) " for a, b in zip(written, written[count:]))
        printer.value(f"reducer{pairs} ")
        printer.region(region, names)


def applied_region(definition: OpDefinition, scalar: Type, location: Location, spelling: str = "") -> Region:
    """Return the body of a reduction that applies one op to two scalars."""
    arguments = [Value(scalar, None, 0), Value(scalar, None, 1)]
    applied = Operation(definition.name, arguments.copy(), [scalar], {}, {}, [], location)
    name = f"{definition.dialect}.return"
    returned = Operation(name, applied.results.copy(), [], {}, {}, [], location)
    applied.spelling = returned.spelling = spelling
    return Region([Block(arguments, [applied, returned])])


def copy_applied_region(region: Region, location: Location) -> Region:
    """Return a copy of a region that `applied_region` returned."""
    op = region.blocks[0].operations[0]
    return applied_region(REGISTRY[op.name], op.results[0].type, location, op.spelling)


def applied_op(op: Operation) -> Operation | None:
    """Return the op that the body of a reduction applies, if `applies op` can express the body; else None."""
    block = op.regions[0].block
    if len(block.operations) != 2 or len(op.operands) != 2 or len(block.arguments) != 2:
        return None
    inner, returned = block.operations
    definition, dialect = definition_of(inner), op.name.partition(".")[0]
    if definition is None or not definition.traits.commutative or inner.name.partition(".")[0] != dialect:
        return None
    if not inner.spelling == returned.spelling == op.spelling:
        return None
    operand = op.operands[0].type
    scalar = tensor_type((), operand.element_type) if isinstance(operand, TensorType) else None
    same_types = {scalar} == {*inner.operand_types, *inner.result_types}
    bare = not (inner.properties or inner.attributes or inner.regions or returned.attributes)
    forwards = inner.operands == block.arguments and returned.operands == inner.results
    return inner if same_types and bare and forwards and returned.name == f"{dialect}.return" else None


class Reduce(Op, op="reduce", nans="computed", facts=FOLDS):
    """Reduce `inputs` along `dimensions` by `body`, starting from `init_values`."""

    inputs = Ins(tensor | per_tensor_quantized)  # I1
    init_values = Ins(init_value)  # I2
    dimensions = Attr(Dims)  # I3
    body = Body()  # I4
    results = Outs(tensor | per_tensor_quantized)

    syntax = (ReduceForm(),)

    @staticmethod
    def infer(inputs: Sequence[TensorType], dimensions: Dims, body: FunctionType) -> Sequence[TensorType]:
        sizes = without(shape(inputs[0]), dimensions)
        return tuple(make_tensor_type(sizes, element_type(t)) for t in body.outputs)

    @staticmethod
    def constraints(
        C: Checker,
        inputs: Sequence[TensorType],
        init_values: Sequence[TensorType],
        dimensions: Dims,
        body: FunctionType,
        results: Sequence[TensorType],
    ) -> None:
        C(1, same(map(shape, inputs)))
        C(2, list(map(element_type, inputs)) == list(map(element_type, init_values)))
        C(3, 0 < size(inputs) == size(init_values) == size(results))
        C(4, in_range(dimensions, rank(inputs[0])))
        C(5, is_unique(dimensions))
        C(6, is_reducer(body, inputs))
        C(7, all(shape(t) == without(shape(inputs[0]), dimensions) for t in results))
        C(8, list(map(element_type, results)) == list(map(element_type, body.outputs)))

    @classmethod
    def plan(
        cls, inputs: Sequence[TensorType], dimensions: Dims, body: RegionFunction, results: Sequence[TensorType]
    ) -> Run:
        """Plan a legal schedule of the reduction: see `semantics.reduction.reduce`.

        All results are computed at once, by `body` on whole slices: one call per level of a binary tree, with whose
        results `init_values` are combined at the end, or, for a body that is not associative, one call per step of a
        left fold that begins with `init_values` (algorithms/reduction_schedule.py).
        """
        promote, sizes = promotion(inputs, results), shape(results[0])
        if not size(results[0]) or 0 in dims(inputs[0], dimensions):
            return lambda inputs, init_values: one_or_all([np.broadcast_to(v, sizes) for v in promote(init_values)])
        reduce = plan_reduction(body, shape(inputs[0]), dimensions)
        return lambda inputs, init_values: one_or_all(reduce(promote(init_values), promote(inputs)))


def is_reducer(body: FunctionType, inputs: Types) -> bool:
    """Return whether `body` is a reduction of `inputs`: `(E0, ..., EN-1, E0, ..., EN-1) -> (E0, ..., EN-1)`.

    `Ei` is a 0-dimensional tensor type whose element type that of `inputs[i]` can be promoted to.
    """
    scalars = tuple(tensor_type((), element_type(t)) for t in body.outputs)
    promotable = len(scalars) == len(inputs) and all(map(is_promotable, inputs, scalars))
    return promotable and body.outputs == scalars and body.inputs == scalars * 2


def promotion(inputs: Types, results: Types) -> Callable[[Sequence[Array]], Sequence[Array]]:
    """Return a function that converts arrays from the element types of `inputs` to those of `results`."""
    pairs = [(element_type(i), element_type(r)) for i, r in zip(inputs, results)]
    if all(a == b for a, b in pairs):
        return lambda arrays: arrays
    kernels = [to_destination_type(a, b) for a, b in pairs]
    return lambda arrays: [kernel(x) for kernel, x in zip(kernels, arrays)]


def one_or_all(results: Sequence[T]) -> T | Sequence[T]:
    """Return a single result by itself and several as a sequence, as the run of an op must."""
    return results[0] if len(results) == 1 else results
