"""Op classes: members, roles, and constraints that are quoted when they are violated."""

from __future__ import annotations

from typing import Any

import pytest

from stablehlo_ref.define.assembly import Directive
from stablehlo_ref.define.attribute_codecs import Dims, Int
from stablehlo_ref.define.bound import bind_types
from stablehlo_ref.define.constraints import Checker, check_constraints
from stablehlo_ref.define.definition import REGISTRY, segment_sizes
from stablehlo_ref.define.op import Attr, Group, In, Ins, Op, Out
from stablehlo_ref.define.spec import is_sorted, shape
from stablehlo_ref.define.type_constraints import tensor
from stablehlo_ref.diagnostics import InvalidError, Location, Source
from stablehlo_ref.ir.attributes import DenseArray, IntegerAttribute, StructAttribute
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import FLOATS, integer_type, tensor_type


class Sample(Op, dialect="test", op="sample"):
    """For these tests alone."""

    operand = In(tensor)
    offset_dims = Attr(Dims)
    index = Attr(Int, default=6)
    numbers = Group("test.numbers", offset_dims)
    result = Out(tensor)

    @staticmethod
    def constraints(C: Any, operand: Any, offset_dims: Any, index: int, result: Any) -> None:
        C(1, is_sorted(offset_dims))
        C(2, shape(operand)[offset_dims[0]] == shape(result)[0])
        check_index(C, operand, index)


def check_index(C: Any, operand: Any, index: int) -> None:
    C("index", index < 7 or shape(operand)[index] > 0)


@pytest.fixture(autouse=True, scope="module")
def _unregister_sample() -> Any:
    yield
    REGISTRY.pop("test.sample", None)


def sample(offset_dims: tuple[int, ...]) -> Operation:
    t = tensor_type((2,), FLOATS["f32"])
    place = Location(Source("a\n  sample here", "f.mlir"), 4)
    return Operation("test.sample", [Value(t, None, 0)], [t], {"offset_dims": offset_dims}, {}, [], place)


@pytest.mark.parametrize("line", ["$operand, $index_ : same_type", ("$operand,", Directive(), "$index_ : same_type")])
def test_member_of_a_pretty_form_that_the_class_lacks_fails_at_import(line: Any) -> None:
    with pytest.raises(TypeError, match=r"Bad\.syntax: no member '\$index_'; expected one of: operand, offset_dims, "):

        class Bad(Sample, op="bad"):
            syntax = line


def test_role_parameter_that_is_not_a_member_fails_at_import() -> None:
    with pytest.raises(TypeError, match=r"Bad\.plan: unknown parameter 'lsh'; expected one of: "):

        class Bad(Sample, op="bad"):
            @staticmethod
            def plan(lsh: Any) -> None: ...


def test_violated_constraint_quotes_its_formula_and_values() -> None:
    op = sample((1, 0))
    with pytest.raises(InvalidError) as caught:
        check_constraints(bind_types(op, Sample.definition))
    assert str(caught.value) == (
        "f.mlir:2:3: error: 'test.sample' op (C1): is_sorted(offset_dims)\n  sample here\n  ^\n  offset_dims = (1, 0)"
    )


def test_formula_that_raises_is_violated() -> None:
    op = sample((5,))
    with pytest.raises(InvalidError, match=r"\(C2\): shape\(operand\)\[offset_dims\[0\]\] == shape\(result\)\[0\]"):
        check_constraints(bind_types(op, Sample.definition))


def test_formula_in_a_helper_is_quoted() -> None:
    op = sample((0,))
    op.properties["index"] = 7
    with pytest.raises(InvalidError, match=r"op \(index\): index < 7 or shape\(operand\)\[index\] > 0") as raised:
        check_constraints(bind_types(op, Sample.definition))
    assert "index = 7" in raised.value.diagnostics[0].notes


def test_satisfied_constraints_raise_nothing() -> None:
    op = sample((0,))
    check_constraints(bind_types(op, Sample.definition))
    Checker(op)(1, True)


def test_struct_is_split_into_members_and_joined_again() -> None:
    dims = (IntegerAttribute(1),)
    members, rest = Sample.definition.decode(
        {"numbers": StructAttribute("test.numbers", {"offset_dims": dims}), "other": True}
    )
    assert members == {"offset_dims": (1,)}
    assert rest == {"other": True}
    written = Sample.definition.encode({"offset_dims": (1,), "index": 3})
    assert written["numbers"].fields == {"offset_dims": DenseArray(integer_type(64), (1,))}
    assert written["index"] == IntegerAttribute(3, integer_type(64))


def test_roles_get_defaults_of_omitted_attributes() -> None:
    assert bind_types(sample((0,)), Sample.definition).arguments["index"] == 6


def test_variadic_members_share_the_remaining_operands() -> None:
    one, many = In(tensor), Ins(tensor)
    assert segment_sizes((one, many), 4) == (1, 3)
    assert segment_sizes((many, one, many), 5) == (2, 1, 2)
    with pytest.raises(ValueError, match="expected 1 and an even number more, got 4"):
        segment_sizes((many, one, many), 4)
    with pytest.raises(ValueError, match="expected 1, got 2"):
        segment_sizes((one,), 2)
