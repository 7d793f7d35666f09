"""Golden functions: what each op of StableHLO and CHLO computes, as a function of arrays.

>>> from stablehlo_ref import golden
>>> golden.add([1.0, 2.0], np.float32([0.5, 0.25]))
array([1.5 , 2.25], dtype=float32)
>>> golden.dot_general(lhs, rhs, lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[0])
>>> golden.reduce([x], [np.float32(0)], dimensions=[0], body="add")
>>> golden.reshape(x, result="tensor<4x2xf32>")

There is one function for each op class, made of its definition when it is first used. Operands come first, in the order
of the spec, and then attributes by name. A variadic operand is a list of arrays.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.arrays.interop import to_array
from stablehlo_ref.define.attribute_codecs import EnumCodec
from stablehlo_ref.define.builder import build_operation, inferred_types
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.members import REQUIRED, Attr, Bodies, In, Ins
from stablehlo_ref.diagnostics import ArgumentTypeError, ArgumentValueError, Location, Source
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import TypeAttribute
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import BOOLEAN, FunctionType, TensorType, Type, tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.ops.comparison import ComparisonDirection
from stablehlo_ref.program import Program
from stablehlo_ref.syntax.parser import parse_attribute

NOWHERE = Location(Source("", "<golden>"), 0)
DIALECTS = ("stablehlo", "chlo")


def __getattr__(name: str) -> Callable[..., Any]:
    definition = _definitions().get(name)
    if definition is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = golden(definition)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(_definitions())


def _definitions() -> Mapping[str, OpDefinition]:
    """Return the ops by the names of their functions; an op of StableHLO comes before one of CHLO with its name."""
    of_dialects = {d: [o for o in REGISTRY.values() if o.dialect == d] for d in DIALECTS}
    ops = [o for d in reversed(DIALECTS) for o in of_dialects[d] if not (o.traits.terminator or o.traits.communicates)]
    return {o.mnemonic.replace("-", "_"): o for o in ops}


def golden(definition: OpDefinition) -> Callable[..., Any]:
    """Return the function of an op."""
    operands = [member.name for member in definition.operands]

    def function(*arguments: Any, **named: Any) -> Any:
        if len(arguments) > len(operands):
            raise ArgumentTypeError(f"{definition.mnemonic} has {len(operands)} operands, got {len(arguments)}")
        given = dict(zip(operands, arguments))
        for name in given.keys() & named.keys():
            raise ArgumentTypeError(f"{definition.mnemonic} got two values for '{name}'")
        results = _Call(definition, {**given, **named}).program().run(*_arrays(definition, {**given, **named}))
        return results[0] if len(results) == 1 else results

    function.__name__ = function.__qualname__ = definition.mnemonic
    function.__doc__ = inspect.getdoc(definition.op_class)
    function.__signature__ = _signature(definition)  # type: ignore[attr-defined]
    return function


def _signature(definition: OpDefinition) -> inspect.Signature:
    """Return the parameters: operands, then regions and attributes by name, then `result`."""
    positional, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(m.name, positional) for m in definition.operands]
    parameters += [inspect.Parameter(m.name, named) for m in definition.regions]
    for name, member in definition.attributes.items():
        default = inspect.Parameter.empty if member.default is REQUIRED else member.default
        parameters.append(inspect.Parameter(name, named, default=default))
    if "infer" not in definition.roles:
        parameters.append(inspect.Parameter("result", named))
    return inspect.Signature(parameters)


def _arrays(definition: OpDefinition, given: Mapping[str, Any]) -> list[Array]:
    """Return the operands as arrays, in order; lists and numbers have the dtype of the first array."""
    values: list[Any] = []
    for member in definition.operands:
        if isinstance(member, Ins):
            values += list(given.get(member.name, ()))
        elif not (isinstance(member, In) and member.optional and given.get(member.name) is None):
            if member.name not in given:
                raise ArgumentTypeError(f"{definition.mnemonic} needs the operand '{member.name}'")
            values.append(given[member.name])
    arrays = [
        np.from_dlpack(v) if hasattr(v, "__dlpack__") and not hasattr(v, "__array__") else to_array(v) for v in values
    ]
    dtypes = [a.dtype for a in arrays if hasattr(a, "dtype")]
    return [np.asarray(a) if hasattr(a, "dtype") or not dtypes else np.asarray(a, dtypes[0]) for a in arrays]


class _Call:
    """A call of an op, which becomes a program of that op."""

    def __init__(self, definition: OpDefinition, given: Mapping[str, Any]) -> None:
        self.definition = definition
        self.given = given
        unknown = given.keys() - {m.name for m in definition.members.values()} - {"result"}
        if unknown:
            known = ", ".join(m.name for m in definition.members.values())
            raise ArgumentTypeError(f"{definition.mnemonic} has no parameter '{min(unknown)}'; it has {known}")

    def program(self) -> Program:
        """Return the program, which is verified."""
        arrays = _arrays(self.definition, self.given)
        arguments = [Value(tensor_type(a.shape, element_type_of(a.dtype)), None, i) for i, a in enumerate(arrays)]
        regions = [
            self._region(body, arguments)
            for member in self.definition.regions
            for body in (self.given[member.name] if isinstance(member, Bodies) else [self.given.get(member.name)])
        ]
        members = {name: self._attribute(m) for name, m in self.definition.attributes.items() if name in self.given}
        op = build_operation(
            self.definition.name, arguments, self._results(), NOWHERE, members=members, regions=regions
        )
        if not op.results and self.definition.results:
            types = inferred_types(op, self.definition)
            op.results = [Value(type, op, index) for index, type in enumerate(types)]
        last = Operation("func.return", list(op.results), (), {}, {}, [], NOWHERE)
        signature = FunctionType(tuple(v.type for v in arguments), tuple(op.result_types))
        properties = {"sym_name": "main", "function_type": signature}
        function = Operation("func.func", [], (), properties, {}, [Region([Block(arguments, [op, last])])], NOWHERE)
        module = Operation("builtin.module", [], (), {}, {}, [Region([Block([], [function])])], NOWHERE)
        return Program(module).verify()

    def _results(self) -> Sequence[Type]:
        """Return the types that `result` gives; none if they are inferred."""
        result = self.given.get("result")
        if result is None:
            if self.definition.results and "infer" not in self.definition.roles:
                raise ArgumentTypeError(f'{self.definition.mnemonic} needs result="tensor<...>"')
            return ()
        texts = [result] if isinstance(result, str) else list(result)
        return [_type(text) for text in texts]

    def _attribute(self, member: Attr) -> Any:
        value = self.given[member.name]
        if isinstance(member.codec, EnumCodec) and isinstance(value, str):
            if value not in member.codec.enum.__members__:
                raise ArgumentValueError(f"{member.name}: expected {member.codec.name}, got {value!r}")
            return member.codec.enum[value]
        return _tuples(value)

    def _region(self, body: Any, arguments: Sequence[Value]) -> Region:
        """Return the region of `"add"`, an op on pairs of scalars, or of `"LT"`, a comparison of the first pair."""
        if not isinstance(body, str):
            raise ArgumentTypeError(f"{self.definition.mnemonic}: expected the name of an op as region, got {body!r}")
        variadic = next((m.name for m in self.definition.operands if isinstance(m, Ins)), None)
        count = len(self.given[variadic]) if variadic else 1
        scalars = [tensor_type((), v.type.element_type) for v in arguments[:count] if isinstance(v.type, TensorType)]
        is_comparison = body in ComparisonDirection.__members__
        types = [t for t in scalars for _ in range(2)] if is_comparison else scalars * 2
        inputs = [Value(type, None, index) for index, type in enumerate(types)]
        if is_comparison:
            members = {"comparison_direction": ComparisonDirection[body]}
            ops = [
                build_operation("stablehlo.compare", inputs[:2], [tensor_type((), BOOLEAN)], NOWHERE, members=members)
            ]
        else:
            pairs = zip(inputs, inputs[count:])
            ops = [build_operation(f"stablehlo.{body}", list(pair), None, NOWHERE) for pair in pairs]
        last = Operation("stablehlo.return", [op.results[0] for op in ops], (), {}, {}, [], NOWHERE)
        return Region([Block(inputs, [*ops, last])])


def _tuples(value: Any) -> Any:
    """Return lists as tuples, as attributes have them."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) and not isinstance(value, Enum) else value


def _type(text: str) -> Type:
    attribute = parse_attribute(Source(text, "result"))
    if not isinstance(attribute, TypeAttribute):
        raise ArgumentValueError(f"result: expected a type, got {text!r}")
    return attribute.type
