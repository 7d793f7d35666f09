"""Roles that get the members of a group as one value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from stablehlo_ref.define.attribute_codecs import Dims, Int
from stablehlo_ref.define.bound import bind_types, call_role
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.op import Attr, Group, In, Op, Out
from stablehlo_ref.define.type_constraints import tensor
from stablehlo_ref.diagnostics import Location, Source
from stablehlo_ref.ir.attributes import DenseArray, IntegerAttribute, StructAttribute
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import FLOATS, TensorType, integer_type, tensor_type


@dataclass(frozen=True)
class Numbers:
    dims: Dims
    index: Int


class Sample(Op, dialect="test", op="grouped"):
    """Returns its dimension numbers from `plan`."""

    operand = In(tensor)
    dims = Attr(Dims)
    index = Attr(Int, default=6)
    numbers = Group("test.numbers", as_type=Numbers)
    untyped = Group("test.untyped")
    result = Out(tensor)

    @staticmethod
    def infer(operand: TensorType) -> TensorType:
        return operand

    @staticmethod
    def plan(index: Int, numbers: Numbers) -> tuple[int, Numbers]:
        return index, numbers

    @staticmethod
    def batching_rule(numbers: Numbers) -> Mapping[str, object]:
        return {"index": numbers.index + 1}


@pytest.fixture(autouse=True, scope="module")
def _forget_the_sample() -> Iterator[None]:
    yield
    REGISTRY.pop("test.grouped", None)


def sample(**properties: object) -> Operation:
    t = tensor_type((2,), FLOATS["f32"])
    return Operation("test.grouped", [Value(t, None, 0)], [t], properties, {}, [], Location(Source("", "f.mlir"), 0))


def test_role_gets_members_as_one_value() -> None:
    bound = bind_types(sample(dims=(1, 2), index=3), Sample.definition)
    assert bound.call("plan") == (3, Numbers((1, 2), 3))


def test_group_contains_defaults() -> None:
    assert bind_types(sample(dims=(1,)), Sample.definition).call("plan") == (6, Numbers((1,), 6))
    assert call_role(Sample.definition, "plan", {"dims": (4,)}) == (6, Numbers((4,), 6))


def test_group_contains_changes_of_members() -> None:
    bound = bind_types(sample(dims=(1,)), Sample.definition)
    assert bound.with_members(bound.call("batching_rule")).call("plan") == (7, Numbers((1,), 7))


def test_group_of_a_type_is_one_attribute_in_text() -> None:
    fields = {"dims": DenseArray(integer_type(64), (1, 2)), "index": IntegerAttribute(3, integer_type(64))}
    written = {"numbers": StructAttribute("test.numbers", fields)}
    decoded, discardable = Sample.definition.decode(written)
    assert (decoded, discardable) == ({"dims": (1, 2), "index": 3}, {})
    assert Sample.definition.encode(decoded) == written


def test_rejects_roles_that_name_a_group_without_a_type() -> None:
    with pytest.raises(TypeError, match=r"Bad\.infer: unknown parameter 'untyped'; expected one of: "):

        class Bad(Sample, op="bad"):
            @staticmethod
            def infer(untyped: object) -> None: ...
