"""Attributes of Shardy have the text that Shardy prints."""

from __future__ import annotations

import pytest

from stablehlo_ref.distribution.sdy_attributes import read_attribute, text_of

TEXTS = [
    ("mesh", '#sdy.mesh<["x"=2, "y"=4]>'),
    ("mesh", '#sdy.mesh<["x"=2], device_ids=[1, 0]>'),
    ("mesh", "#sdy.mesh<[], device_ids=[3]>"),
    ("mesh_axis", '#sdy<mesh_axis"x"=2>'),
    ("axis_ref", '#sdy<axis_ref"x":(1)2>'),
    ("manual_axes", '#sdy<manual_axes{"x", "y"}>'),
    ("list_of_axis_ref_lists", '#sdy<list_of_axis_ref_lists[{"x"}, {}]>'),
    ("all_to_all_param_list", '#sdy<all_to_all_param_list[{"x"}: 0->1, {"y"}: 2->3]>'),
    ("sharding", '#sdy.sharding<@mesh, [{"x", "y":(2)4}p1, {?}, {"z", ?}p0], replicated={"a"}, unreduced={"b"}>'),
    ("sharding_per_value", '#sdy.sharding_per_value<[<@"my mesh", [{"x"}]>, <mesh<["x"=2]>, []>]>'),
    ("tensor_mapping", "#sdy<tensor_mapping[i, jk]>"),
    ("op_sharding_rule", "#sdy.op_sharding_rule<([i])->([i])>"),
    (
        "op_sharding_rule",
        "#sdy.op_sharding_rule<([i, k], [k, j], [])->([ijz_1, z]) {i=2, j=4, k=8} "
        "reduction={k} need_replication={i, j} permutation={i} blocked_propagation={z}, custom>",
    ),
    (
        "propagation_edges",
        '#sdy.propagation_edges<[{step-0 = [{"x":(1)2 = operand-0 -> [result-0, result-1]}, '
        '{"y" = result-3 -> [operand-1]}]}]>',
    ),
]


@pytest.mark.parametrize(("mnemonic", "text"), TEXTS)
def test_text_is_that_of_shardy(mnemonic: str, text: str) -> None:
    assert text_of(mnemonic, read_attribute(text)) == text


def test_texts_here_are_those_of_shardy() -> None:
    mlir = pytest.importorskip("jax._src.interpreters.mlir")
    ir = pytest.importorskip("jaxlib.mlir.ir")
    with mlir.make_ir_context():
        for _, text in TEXTS:
            assert str(ir.Attribute.parse(text)) == text


def test_factors_of_a_dimension_can_be_read_again() -> None:
    assert text_of("dim_mapping", (0, 1)) == "#sdy<dim_mapping ij>"
    assert read_attribute("#sdy<dim_mapping ij>") == (0, 1)


def test_device_ids_in_order_are_left_out() -> None:
    in_order = read_attribute('#sdy.mesh<["x"=2, "y"=2], device_ids=[0, 1, 2, 3]>')
    assert in_order == read_attribute('#sdy.mesh<["x"=2, "y"=2]>')
    assert text_of("mesh", in_order) == '#sdy.mesh<["x"=2, "y"=2]>'
