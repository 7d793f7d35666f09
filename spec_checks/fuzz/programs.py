"""Valid programs drawn from the op definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from random import Random
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.arrays.random_values import random_array
from stablehlo_ref.define import attribute_codecs as codecs
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.members import REQUIRED, Attr, Ins, Outs
from stablehlo_ref.define.type_constraints import TypeConstraint
from stablehlo_ref.diagnostics import Location, Source
from stablehlo_ref.ir.attributes import DenseElements
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import BOOLEAN, FLOATS, ComplexType, FunctionType, TensorType, Type, integer_type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.syntax.printer import print_operation
from stablehlo_ref.verify import verify

DIALECTS = ("stablehlo", "stablehlo", "stablehlo", "chlo", "arith", "math", "complex", "tensor", "shape")
ELEMENTS: Sequence[Type] = (
    FLOATS["f32"], FLOATS["f32"], FLOATS["f32"], FLOATS["f64"], FLOATS["bf16"], FLOATS["f16"], FLOATS["f8E4M3FN"],
    BOOLEAN, integer_type(32), integer_type(32), integer_type(64), integer_type(8), integer_type(32, "u"),
    integer_type(4), integer_type(64, "u"), ComplexType(FLOATS["f32"]),
)  # fmt: skip
MAX_OPS = 6
TRIES = 30  # of members for one op
NOWHERE = Location(Source(""), 0)
COMBINERS = ("add", "maximum", "minimum", "multiply", "and", "or", "subtract")


def programs() -> st.SearchStrategy[str]:
    """Return a strategy of valid programs as text."""
    return st.builds(program, st.randoms(use_true_random=True))


def program(random: Random) -> str:
    """Return a valid program of a few ops."""
    return print_operation(Generator(random).module(), generic=random.random() < 0.3)


class Generator:
    """Draws ops one by one; each takes values of the ops before it, or new arguments."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.arguments: list[Value] = []
        self.operations: list[Operation] = []

    def module(self) -> Operation:
        """Return a module with a function of drawn ops."""
        for _ in range(self.random.randint(1, MAX_OPS)):
            self._append()
        return self._module(self.operations, self.arguments)

    def _module(self, operations: Sequence[Operation], arguments: Sequence[Value]) -> Operation:
        results = [v for op in operations for v in op.results][-4:] or list(arguments)
        block = Block(list(arguments), [*operations, Operation("func.return", results, (), {}, {}, [], NOWHERE)])
        signature = FunctionType(tuple(v.type for v in arguments), tuple(v.type for v in results))
        properties = {"sym_name": "main", "function_type": signature}
        function = Operation("func.func", [], (), properties, {}, [Region([block])], NOWHERE)
        return Operation("builtin.module", [], (), {}, {}, [Region([Block([], [function])])], NOWHERE)

    def _append(self) -> None:
        """Draw an op until it is valid."""
        dialect = self.random.choice(DIALECTS)
        definition = self.random.choice([d for d in REGISTRY.values() if d.dialect == dialect and d.mnemonic])
        if definition.traits.terminator:
            return
        for _ in range(TRIES):
            arguments = list(self.arguments)
            try:
                op = self._draw(definition, arguments)
                verify(self._module([*self.operations, op], arguments))
            except Exception:  # members that do not fit; what the verifier says of text is tested by mutations
                continue
            self.operations.append(op)
            self.arguments = arguments
            return

    # --- one op -------------------------------------------------------------------------------------------------

    def _draw(self, definition: OpDefinition, arguments: list[Value]) -> Operation:
        like = self._type()
        operands: list[Value] = []
        for member in definition.operands:
            count = self.random.choice((1, 2, 2, 3)) if isinstance(member, Ins) else 1
            for _ in range(count):
                operands.append(self._operand(member.constraint, like, arguments))
                like = operands[-1].type if isinstance(operands[-1].type, TensorType) else like
        members = {n: self._attribute(m, operands) for n, m in definition.attributes.items() if self._is_given(m)}
        regions = [self._region(operands) for _ in definition.regions]
        types = None if "infer" in definition.roles else self._result_types(definition, operands, like)
        return build_operation(definition.name, operands, types, NOWHERE, members=members, regions=regions)

    def _operand(self, constraint: TypeConstraint, like: TensorType, arguments: list[Value]) -> Value:
        values = [*arguments, *(v for op in self.operations for v in op.results)]
        same = [v for v in values if v.type == like and constraint.holds(v.type)]
        if same and self.random.random() < 0.7:
            return self.random.choice(same)
        fitting = [v for v in values if constraint.holds(v.type)]
        if fitting and self.random.random() < 0.3:
            return self.random.choice(fitting)
        type = like if constraint.holds(like) and self.random.random() < 0.8 else self._fitting_type(constraint, like)
        arguments.append(Value(type, None, len(arguments), f"arg{len(arguments)}"))
        return arguments[-1]

    def _fitting_type(self, constraint: TypeConstraint, like: TensorType) -> Type:
        for _ in range(50):
            element = self.random.choice((like.element_type, self.random.choice(ELEMENTS)))
            candidates: tuple[Type, ...] = (
                TensorType(like.shape, element), TensorType((), element), self._type(),
                TensorType((like.rank,), element),
                element,
            )  # fmt: skip
            type = self.random.choice(candidates)
            if constraint.holds(type):
                return type
        raise ValueError("no type fits")

    def _type(self) -> TensorType:
        rank = self.random.choice((0, 1, 1, 2, 2, 3))
        return TensorType(tuple(self.random.choice((1, 2, 2, 3, 4, 0)) for _ in range(rank)), self._element())

    def _element(self) -> Any:
        return self.random.choice(ELEMENTS)

    def _result_types(self, definition: OpDefinition, operands: Sequence[Value], like: TensorType) -> list[Type]:
        types: list[Type] = []
        for member in definition.results:
            count = self.random.choice((1, 2)) if isinstance(member, Outs) else 1
            for _ in range(count):
                fits = [v.type for v in operands if member.constraint.holds(v.type)]
                is_same = fits and self.random.random() < 0.5
                types.append(self.random.choice(fits) if is_same else self._fitting_type(member.constraint, like))
        return types

    def _region(self, operands: Sequence[Value]) -> Region:
        """Return a region of scalars, of values like the operands, or without arguments."""
        kind = self.random.choice(("combine", "combine", "compare", "returned", "same"))
        scalars = [TensorType((), v.type.element_type) for v in operands if isinstance(v.type, TensorType)]
        if kind in ("combine", "compare") and scalars:
            x, y = Value(scalars[0], None, 0, "x"), Value(scalars[0], None, 1, "y")
            name = f"stablehlo.{self.random.choice(COMBINERS)}" if kind == "combine" else "stablehlo.compare"
            members = {} if kind == "combine" else {"comparison_direction": self._enum(REGISTRY[name])}
            op = build_operation(name, [x, y], None, NOWHERE, members=members)
            return self._block([x, y], [op], op.results)
        if kind == "same":
            arguments = [Value(v.type, None, i, f"a{i}") for i, v in enumerate(operands)]
            return self._block(arguments, [], arguments)
        constant = self._constant(self._type() if self.random.random() < 0.3 else TensorType((), BOOLEAN))
        return self._block([], [constant], constant.results)

    def _enum(self, definition: OpDefinition) -> Any:
        codec = definition.attributes["comparison_direction"].codec
        return self._of_codec(codec, ())

    def _block(self, arguments: list[Value], operations: list[Operation], returned: Sequence[Value]) -> Region:
        last = Operation("stablehlo.return", list(returned), (), {}, {}, [], NOWHERE)
        return Region([Block(arguments, [*operations, last])])

    def _constant(self, type: TensorType) -> Operation:
        members = {"value": self._elements(type)}
        return build_operation("stablehlo.constant", [], [type], NOWHERE, members=members)

    def _elements(self, type: TensorType) -> DenseElements:
        generator = np.random.default_rng(self.random.getrandbits(32))
        shape = tuple(n or 0 for n in type.shape)
        array = np.asarray(random_array(generator, numpy_dtype(type.element_type), shape))
        array.flags.writeable = False
        return DenseElements(type, array)

    # --- attributes ---------------------------------------------------------------------------------------------

    def _is_given(self, member: Attr) -> bool:
        return member.default is REQUIRED or self.random.random() < 0.4

    def _attribute(self, member: Attr, operands: Sequence[Value]) -> Any:
        return self._of_codec(member.codec, [v.type for v in operands])

    def _of_codec(self, codec: codecs.AttributeCodec[Any], types: Sequence[Type]) -> Any:
        for kind, draw in self._draws.items():
            if isinstance(codec, kind):
                return draw(self, codec, types)
        raise ValueError(f"{codec} is not drawn")

    def _dims(self, codec: Any, types: Sequence[Type]) -> tuple[int, ...]:
        ranks = [t.rank for t in types if isinstance(t, TensorType)] or [1]
        rank = self.random.choice(ranks)
        axes = list(range(rank))
        self.random.shuffle(axes)
        shape = next((t.shape for t in types if isinstance(t, TensorType)), ())
        choices = (
            tuple(axes), tuple(sorted(axes[: self.random.randint(0, rank)])),
            (self.random.randint(0, max(rank - 1, 0)),),
            tuple(self.random.randint(0, 3) for _ in range(rank)), tuple(n or 0 for n in shape), (1,) * rank,
            (0,) * rank, (),
        )  # fmt: skip
        return self.random.choice(choices)

    def _matrix(self, codec: Any, types: Sequence[Type]) -> tuple[tuple[int, ...], ...]:
        rank = max((t.rank for t in types if isinstance(t, TensorType)), default=1)
        return tuple((self.random.randint(0, 1), self.random.randint(0, 1)) for _ in range(rank))

    def _dense(self, codec: Any, types: Sequence[Type]) -> DenseElements:
        return self._elements(self._type())

    def _enumerated(self, codec: Any, types: Sequence[Type]) -> Enum:
        enum: type[Enum] = codec.enum
        return self.random.choice(list(enum))

    _draws: ClassVar[Mapping[type, Any]] = {  # by kind of codec
        codecs.IntegerCodec: lambda self, codec, types: self.random.choice((0, 0, 1, 1, 2, 3)),
        codecs.RealCodec: lambda self, codec, types: self.random.choice((0.0, 1.0, 1e-5, -2.5)),
        codecs.BooleanCodec: lambda self, codec, types: self.random.random() < 0.5,
        codecs.UnitCodec: lambda self, codec, types: self.random.random() < 0.5,
        codecs.DimsCodec: _dims,
        codecs.BooleansCodec: lambda self, codec, types: tuple(
            self.random.random() < 0.5 for _ in range(self.random.randint(0, 3))
        ),
        codecs.MatrixCodec: _matrix,
        codecs.DenseCodec: _dense,
        codecs.EnumCodec: _enumerated,
        codecs.TypeCodec: lambda self, codec, types: self._element(),
        codecs.StringCodec: lambda self, codec, types: self.random.choice(("", "x", "mhlo.frontend")),
    }
