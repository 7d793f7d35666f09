"""`build_operation`: how attributes become members, and what is inferred or normalised."""

from __future__ import annotations

import pytest

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.define.bound import bind_types
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.members import Undecodable
from stablehlo_ref.diagnostics import Location, Source
from stablehlo_ref.ir.attributes import DenseArray, IntegerAttribute, StructAttribute
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.locations import NameLocation
from stablehlo_ref.ir.types import FLOATS, Type, integer_type, tensor_type

HERE = Location(Source("text", "f.mlir"), 0)
I64 = integer_type(64)


def f32(*shape: int) -> Type:
    return tensor_type(shape, FLOATS["f32"])


def values(*types: Type) -> list[Value]:
    return [Value(type, None, index) for index, type in enumerate(types)]


def terminator(*operands: Value) -> Operation:
    return Operation("stablehlo.return", list(operands), (), {}, {}, [], HERE)


# --- attributes -----------------------------------------------------------------------------------------------------


def test_splits_attributes_into_members_and_discardable_ones() -> None:
    attributes = {"dimension": IntegerAttribute(0, I64), "mhlo.sharding": "replicated"}
    op = build_operation("stablehlo.concatenate", values(f32(2), f32(3)), [f32(5)], HERE, attributes=attributes)
    assert op.properties == {"dimension": 0}
    assert op.attributes == {"mhlo.sharding": "replicated"}


def test_splits_a_struct_into_the_members_of_its_group() -> None:
    struct = StructAttribute(
        "stablehlo.gather",
        {
            "offset_dims": (IntegerAttribute(1, I64),),
            "collapsed_slice_dims": (IntegerAttribute(0, I64),),
            "start_index_map": (IntegerAttribute(0, I64),),
            "index_vector_dim": IntegerAttribute(1, I64),
        },
    )
    attributes = {"dimension_numbers": struct, "slice_sizes": DenseArray(I64, (1, 3))}
    operands = values(f32(4, 3), tensor_type((2, 1), I64))
    op = build_operation("stablehlo.gather", operands, [f32(2, 3)], HERE, attributes=attributes)
    assert op.properties == {
        "offset_dims": (1,),
        "collapsed_slice_dims": (0,),
        "start_index_map": (0,),
        "index_vector_dim": 1,
        "slice_sizes": (1, 3),
    }
    assert not op.attributes
    assert REGISTRY["stablehlo.gather"].encode(op.properties)["dimension_numbers"].name == "stablehlo.gather"


def test_struct_of_another_name_is_not_a_group() -> None:
    struct = StructAttribute("stablehlo.scatter", {"offset_dims": (IntegerAttribute(1, I64),)})
    op = build_operation("stablehlo.gather", [], [f32()], HERE, attributes={"dimension_numbers": struct})
    assert op.properties == {} and op.attributes == {"dimension_numbers": struct}


def test_members_take_precedence_over_attributes() -> None:
    attributes = {"dimension": IntegerAttribute(0, I64)}
    op = build_operation(
        "stablehlo.concatenate", values(f32(1, 2)), [f32(1, 2)], HERE, attributes=attributes, members={"dimension": 1}
    )
    assert op.properties == {"dimension": 1}


def test_keeps_an_attribute_of_the_wrong_kind() -> None:
    attributes = {"dimension": "zero"}
    op = build_operation("stablehlo.concatenate", values(f32(2)), [f32(2)], HERE, attributes=attributes)
    kept = op.properties["dimension"]
    assert isinstance(kept, Undecodable) and kept.attribute == "zero" and kept.reason == "must be a 64-bit integer"
    assert REGISTRY["stablehlo.concatenate"].encode(op.properties) == {"dimension": "zero"}


def test_omitted_attributes_have_their_defaults_in_roles_only() -> None:
    op = build_operation("stablehlo.cholesky", values(f32(2, 2)), None, HERE)
    definition = REGISTRY["stablehlo.cholesky"]
    assert op.properties == {}
    assert bind_types(op, definition).arguments["lower"] is False


def test_attributes_of_an_op_without_a_class_are_discardable() -> None:
    op = build_operation("test.op", [], [], HERE, attributes={"a": True}, members={"b": "c"})
    assert op.attributes == {"a": True}
    assert op.properties == {"b": "c"}


# --- types, regions and locations -----------------------------------------------------------------------------------


def test_infers_result_types() -> None:
    op = build_operation("stablehlo.concatenate", values(f32(2, 7), f32(3, 7)), None, HERE, members={"dimension": 0})
    assert op.result_types == [f32(5, 7)]
    (result,) = op.results
    assert result.owner is op and result.index == 0


def test_infers_several_result_types() -> None:
    members = {"epsilon": 0.0, "feature_index": 1}
    op = build_operation(
        "stablehlo.batch_norm_training", values(f32(2, 3), f32(3), f32(3)), None, HERE, members=members
    )
    assert op.result_types == [f32(2, 3), f32(3), f32(3)]
    assert [result.index for result in op.results] == [0, 1, 2]


def test_infers_types_from_the_types_of_regions() -> None:
    a, b = values(f32(), f32())
    branches = [Region([Block([], [terminator(v)])]) for v in (a, b)]
    op = build_operation("stablehlo.if", values(tensor_type((), integer_type(1))), None, HERE, regions=branches)
    assert op.result_types == [f32()]
    assert all(region.parent is op for region in branches)


def test_op_without_results_needs_no_inference() -> None:
    op = build_operation("func.return", values(f32()), None, HERE)
    assert op.results == []


@pytest.mark.parametrize("name", ["test.op", "stablehlo.reshape"])
def test_types_that_cannot_be_inferred_are_an_error(name: str) -> None:
    with pytest.raises(ValueError, match=f"the result types of '{name}' cannot be inferred"):
        build_operation(name, values(f32(2)), None, HERE)


def test_inference_from_a_wrong_number_of_operands_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected 2, got 1"):
        build_operation("stablehlo.add", values(f32(2)), None, HERE)


def test_keeps_location_debug_location_and_successors() -> None:
    name = NameLocation("layer")
    op = build_operation("cf.br", [], [], HERE, successors=["bb1"], debug_location=name)
    assert op.location is HERE and op.debug_location is name and op.successors == ["bb1"]


# --- normalisation --------------------------------------------------------------------------------------------------


def test_module_without_a_block_gets_one() -> None:
    op = build_operation("builtin.module", [], [], HERE, regions=[Region([])])
    (region,) = op.regions
    assert region.block.operations == [] and region.block.parent is region and region.parent is op


def test_module_with_a_block_keeps_it() -> None:
    block = Block([], [terminator()])
    op = build_operation("builtin.module", [], [], HERE, regions=[Region([block])])
    assert op.regions[0].block is block


def test_function_keeps_lists_of_attributes_as_written() -> None:
    members = {"arg_attrs": ({}, {"a": True}), "res_attrs": ({},)}
    op = build_operation("func.func", [], [], HERE, members=members)
    assert op.properties == members
