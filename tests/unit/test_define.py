"""Op classes: members, roles, constraints that quote themselves."""

from __future__ import annotations

from typing import Any

import pytest

from stablehlo_ref.define import Attr, Checker, Group, In, Ins, Op, Out, check_constraints, segment_sizes
from stablehlo_ref.diagnostics import InvalidError, Location, Source
from stablehlo_ref.ir.attributes import DenseArray, IntegerAttribute, StructAttribute
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import FLOATS, integer_type, tensor_type
from stablehlo_ref.kinds import Dims, Int, tensor
from stablehlo_ref.spec import is_sorted, shape


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
def _forget_the_sample() -> Any:
    yield
    Op.registry.pop("test.sample", None)


def sample(offset_dims: tuple[int, ...]) -> Operation:
    t = tensor_type((2,), FLOATS["f32"])
    place = Location(Source("a\n  sample here", "f.mlir"), 4)
    return Operation("test.sample", Sample, [Value(t, None, 0)], [t], {"offset_dims": offset_dims}, {}, [], place)


def test_a_role_with_an_unknown_name_fails_at_import() -> None:
    with pytest.raises(TypeError, match=r"Bad\.plan: no such member: \['lsh'\]"):

        class Bad(Sample, op="bad"):
            @staticmethod
            def plan(lsh: Any) -> None: ...


def test_a_constraint_quotes_its_formula_and_the_values_in_it() -> None:
    op = sample((1, 0))
    with pytest.raises(InvalidError) as caught:
        check_constraints(op, Sample.bind(op))
    assert str(caught.value) == (
        "f.mlir:2:3: error: 'test.sample' op (C1): is_sorted(offset_dims)\n  sample here\n  ^\n  offset_dims = (1, 0)"
    )


def test_a_formula_that_cannot_be_evaluated_does_not_hold() -> None:
    op = sample((5,))
    with pytest.raises(InvalidError, match=r"\(C2\): shape\(operand\)\[offset_dims\[0\]\] == shape\(result\)\[0\]"):
        check_constraints(op, Sample.bind(op))


def test_a_formula_in_a_helper_is_quoted_too() -> None:
    op = sample((0,))
    op.properties["index"] = 7
    with pytest.raises(InvalidError, match=r"op \(index\): index < 7 or shape\(operand\)\[index\] > 0") as raised:
        check_constraints(op, Sample.bind(op))
    assert "index = 7" in raised.value.diagnostics[0].notes


def test_constraints_that_hold_say_nothing() -> None:
    op = sample((0,))
    check_constraints(op, Sample.bind(op))
    Checker(op)(1, True)


def test_a_struct_splits_into_members_and_joins_again() -> None:
    dims = (IntegerAttribute(1),)
    members, rest = Sample.decode({"numbers": StructAttribute("test.numbers", {"offset_dims": dims}), "other": True})
    assert members == {"offset_dims": (1,)}
    assert rest == {"other": True}
    written = Sample.encode({"offset_dims": (1,), "index": 3})
    assert written["numbers"].fields == {"offset_dims": DenseArray(integer_type(64), (1,))}
    assert written["index"] == IntegerAttribute(3, integer_type(64))


def test_defaults_are_filled_in() -> None:
    assert Sample.bind(sample((0,)))["index"] == 6


def test_segments_of_variadic_members() -> None:
    one, many = In(tensor), Ins(tensor)
    assert segment_sizes((one, many), 4) == (1, 3)
    assert segment_sizes((many, one, many), 5) == (2, 1, 2)
    with pytest.raises(ValueError, match="expects 1 and twice any number more, has 4"):
        segment_sizes((many, one, many), 4)
    with pytest.raises(ValueError, match="expects 1, has 2"):
        segment_sizes((one,), 2)
