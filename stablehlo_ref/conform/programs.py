"""Programs of one op or more, made of members that satisfy the constraints of their ops."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import numpy as np

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.arrays.random_values import random_array
from stablehlo_ref.conform.members import Members, types_in
from stablehlo_ref.conform.solve import NOWHERE, Solver
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.members import Bodies, Ins
from stablehlo_ref.ir.attributes import DenseElements
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import BOOLEAN, ComplexType, FunctionType, QuantizedType, TensorType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.ops.comparison import ComparisonDirection

COMBINERS = ("add", "maximum", "minimum", "multiply")
LOGICAL = ("and", "or", "xor")


class Builder:
    """Makes a module with a function @main, op by op."""

    def __init__(self, rng: random.Random, elements: Sequence[Type] = ()) -> None:
        self.rng = rng
        self.elements = tuple(elements)  # element types that most values have
        self.arguments: list[Value] = []
        self.operations: list[Operation] = []

    @property
    def values(self) -> list[Value]:
        """The values that an op may use."""
        return [*self.arguments, *(result for op in self.operations for result in op.results)]

    def add(self, definition: OpDefinition, broken: str | None = None) -> Operation | None:
        """Append an op, on values that are there or on new arguments; None if no members are found for it."""
        solver = Solver(definition, self.rng, [value.type for value in self.values], self.elements)
        return self._append(definition, solver.solve(broken))

    def add_on(self, definition: OpDefinition, operands: Sequence[Type]) -> Operation | None:
        """Append an op with new arguments of these types as its operands; None if it does not take them."""
        return self._append(definition, Solver(definition, self.rng).with_operands(operands), shares=False)

    def _append(self, definition: OpDefinition, members: Members | None, shares: bool = True) -> Operation | None:
        if members is None:
            return None
        op = self._operation(definition, members, 0.7 if shares else 0.0)
        self.operations.append(op)
        return op

    def _operation(self, definition: OpDefinition, members: Members, sharing: float) -> Operation:
        operands = [self._value(type, name, sharing) for name, type in _types(definition.operands, members)]
        results = [type for _, type in _types(definition.results, members)]
        regions = [
            region_of(self.rng, signature)
            for member in definition.regions
            for signature in (members[member.name] if isinstance(member, Bodies) else [members[member.name]])
        ]
        given = {
            name: members[name]
            for name, attribute in definition.attributes.items()
            if members[name] is not None and members[name] != attribute.default
        }
        return build_operation(definition.name, operands, results, NOWHERE, members=given, regions=regions)

    def _value(self, type: Type, name: str, sharing: float) -> Value:
        """Return a value of a type: one that is there with the probability `sharing`, else a new argument."""
        same = [value for value in self.values if value.type == type]
        if same and self.rng.random() < sharing:
            return self.rng.choice(same[-4:])
        self.arguments.append(Value(type, None, len(self.arguments), f"{name}_{len(self.arguments)}"))
        return self.arguments[-1]

    def module(self) -> Operation:
        """Return a module whose function @main returns the results that no op uses."""
        used = {id(operand) for op in self.operations for operand in op.operands}
        results = [v for op in self.operations for v in op.results if id(v) not in used] or list(self.arguments[:1])
        returns = Operation("func.return", results, (), {}, {}, [], NOWHERE)
        signature = FunctionType(tuple(v.type for v in self.arguments), tuple(v.type for v in results))
        body = Region([Block(list(self.arguments), [*self.operations, returns])])
        function = Operation("func.func", [], (), {"sym_name": "main", "function_type": signature}, {}, [body], NOWHERE)
        return Operation("builtin.module", [], (), {}, {}, [Region([Block([], [function])])], NOWHERE)


def _types(members: Iterable[object], values: Members) -> list[tuple[str, Type]]:
    """Return the types of operands or results, with the names of their members."""
    found: list[tuple[str, Type]] = []
    for member in members:
        name: str = member.name  # type: ignore[attr-defined]
        value = values[name]
        found += [(name, t) for t in (value if isinstance(value, tuple) else (value,)) if t is not None]
    return found


# --- regions ----------------------------------------------------------------------------------------------------------


def region_of(rng: random.Random, signature: FunctionType) -> Region:
    """Return a region with a signature: each output is computed from inputs of its type, or is a constant."""
    arguments = [Value(type, None, i, f"a{i}") for i, type in enumerate(signature.inputs)]
    block = _BlockBuilder(rng, arguments)
    half = len(arguments) // 2
    outputs = []
    for index, type in enumerate(signature.outputs):
        # The arguments of reducers are pairs: x0, x1, ..., y0, y1, ..., or x0, y0, x1, y1, ... of comparators.
        pairs = [p for p in ((index, index + half), (2 * index, 2 * index + 1)) if max(p) < len(arguments)]
        pair = next(([arguments[i] for i in p] for p in pairs if arguments[p[0]].type == arguments[p[1]].type), None)
        outputs.append(block.value(type, pair))
    block.append("stablehlo.return", outputs, ())
    return Region([Block(arguments, block.operations)])


class _BlockBuilder:
    def __init__(self, rng: random.Random, arguments: Sequence[Value]) -> None:
        self.rng = rng
        self.arguments = arguments
        self.operations: list[Operation] = []

    def append(self, name: str, operands: Sequence[Value], types: Sequence[Type] | None, **members: object) -> Value | None:
        op = build_operation(name, list(operands), types, NOWHERE, members=members)
        self.operations.append(op)
        return op.results[0] if op.results else None

    def value(self, type: Type, pair: Sequence[Value] | None) -> Value:
        """Return a value of a type, of a pair of arguments where that is possible."""
        found: Value | None = None
        if pair is not None and pair[0].type == type:
            found = self.append(f"stablehlo.{self._combiner(type)}", pair, None)
        elif pair is not None and type == TensorType((), BOOLEAN):
            found = self._compared(pair)
        else:
            same = [a for a in self.arguments if a.type == type]
            found = self.rng.choice(same) if same else self._converted(type, pair)
        assert found is not None
        return found

    def _combiner(self, type: Type) -> str:
        element = type.element_type if isinstance(type, TensorType) else type
        if element == BOOLEAN:
            return self.rng.choice(LOGICAL)
        return self.rng.choice(("add", "multiply") if isinstance(element, ComplexType) else COMBINERS)

    def _compared(self, pair: Sequence[Value]) -> Value | None:
        type = pair[0].type
        is_complex = isinstance(type, TensorType) and isinstance(type.element_type, ComplexType)
        directions = ("EQ", "NE") if is_complex else ("LT", "GT")
        direction = ComparisonDirection[self.rng.choice(directions)]
        return self.append("stablehlo.compare", pair, None, comparison_direction=direction)

    def _converted(self, type: Type, pair: Sequence[Value] | None) -> Value | None:
        if isinstance(type, TensorType):
            for argument in pair or self.arguments:
                if isinstance(argument.type, TensorType) and argument.type.shape == type.shape:
                    if not any(isinstance(t.element_type, QuantizedType) for t in (type, argument.type)):
                        return self.append("stablehlo.convert", [argument], [type])
            return self.append("stablehlo.constant", [], [type], value=constant(self.rng, type))
        raise NotImplementedError(f"no value of type {type}")


def constant(rng: random.Random, type: TensorType) -> DenseElements:
    """Return a tensor constant of a static type, of random elements."""
    generator = np.random.default_rng(rng.getrandbits(32))
    array = np.asarray(random_array(generator, numpy_dtype(type.element_type), tuple(n or 0 for n in type.shape)))
    array.flags.writeable = False
    return DenseElements(type, array)


def program(rng: random.Random, ops: Sequence[str], broken: str | None = None) -> Operation | None:
    """Return a module of some ops, by name; None if no members of one are found. Only the last is `broken`."""
    builder = Builder(rng)
    for number, name in enumerate(ops):
        if builder.add(REGISTRY[name], broken if number == len(ops) - 1 else None) is None:
            return None
    return builder.module()
