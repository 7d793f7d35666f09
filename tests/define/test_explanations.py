"""Errors about formulas say which part fails, with its values, and in words which sizes differ."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

import stablehlo_ref as sr
from stablehlo_ref.define.formulas import explain, failing_check, quote
from stablehlo_ref.define.spec import baseline_type, compatible, dim, dims, in_range, rank, same, shape, size
from stablehlo_ref.ir.types import FLOATS, integer_type, tensor_type

F32 = FLOATS["f32"]
FUNCTIONS = {f.__name__: f for f in (baseline_type, compatible, dim, dims, in_range, rank, same, shape, size)}
VALUES = {
    "lhs": tensor_type((2, 3), F32),
    "rhs": tensor_type((4, 5), F32),
    "wide": tensor_type((2, 3, 4), F32),
    "integers": tensor_type((2, 3), integer_type(32)),
    "unknown": tensor_type((None, 3), F32),
    "lhs_contracting_dimensions": (1,),
    "rhs_contracting_dimensions": (0,),
    "permutation": (1, 0),
    "sizes": (2, 4),
    "missing": None,
}


def infer() -> object:
    return tensor_type((2, 7), F32)


def explained(formula: str) -> tuple[str, dict[str, object]]:
    words, values = explain(ast.parse(formula, mode="eval").body, {**FUNCTIONS, **VALUES, "infer": infer})
    return words, values


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (
            "dims(lhs, lhs_contracting_dimensions) == dims(rhs, rhs_contracting_dimensions)",
            "contracting dimension 1 of lhs has size 3, contracting dimension 0 of rhs 4",
        ),
        ("shape(lhs) == dims(lhs, permutation)", "dimension 0 of lhs has size 2, dimension 1 of lhs 3"),
        ("shape(lhs) == shape(rhs)", "dimension 0 of lhs has size 2, of rhs 4"),
        ("shape(unknown) == shape(rhs)", "dimension 1 of unknown has size 3, of rhs 5"),
        ("shape(lhs) == shape(infer())", "dimension 1 of lhs has size 3, expected 7"),
        ("shape(lhs) == sizes", "dimension 1 of lhs has size 3, expected 4"),
        ("sizes == shape(lhs)", "dimension 1 of lhs has size 3, expected 4"),
        ("shape(lhs) == shape(wide)", "lhs has 2 dimensions, expected 3"),
        ("dim(lhs, 1) == dim(rhs, 0)", "dimension 1 of lhs has size 3, dimension 0 of rhs 4"),
        ("dim(lhs, 0) == 1", "dimension 0 of lhs has size 2, expected 1"),
        ("dim(lhs, 0) == 2 == dim(lhs, 1)", "dimension 1 of lhs has size 3, expected 2"),
        ("compatible(lhs, rhs)", "dimension 0 of lhs has size 2, of rhs 4"),
        ("compatible(lhs, unknown, rhs)", "dimension 0 of lhs has size 2, of rhs 4"),
        ("compatible(infer(), baseline_type(lhs))", "dimension 1 of lhs has size 3, expected 7"),
        ("compatible(wide, infer())", "wide has 3 dimensions, expected 2"),
        ("integers == infer()", "integers has elements i32, expected f32"),
        ("compatible(lhs, wide)", "lhs has 2 dimensions, wide has 3"),
        ("lhs == integers", "lhs has elements f32, integers has i32"),
        ("size(lhs) == size(rhs)", ""),
        ("dim(lhs, 0) < 2", ""),
        ("missing == lhs", ""),
    ],
)
def test_words(formula: str, words: str) -> None:
    assert explained(formula)[0] == words


@pytest.mark.parametrize(
    ("formula", "values"),
    [
        ("shape(lhs) == shape(infer())", {"shape(lhs)": (2, 3), "shape(infer())": (2, 7)}),
        ("size(lhs) == size(rhs)", {"size(lhs)": 6, "size(rhs)": 20}),
        ("0 <= 5 < rank(lhs)", {"rank(lhs)": 2}),  # the first comparison holds
        ("dim(lhs, 1) % 2 == 0", {"dim(lhs, 1)": 3}),  # that says more than the remainder
        ("in_range(permutation + sizes, rank(lhs))", {"permutation + sizes": (1, 0, 2, 4), "rank(lhs)": 2}),
        ("rank(lhs) == 2 and size(lhs) == 7", {"size(lhs)": 6}),  # the part that fails
        ("rank(lhs) == 0 or shape(lhs) == sizes", {"shape(lhs)": (2, 3)}),  # the more specific one
        ("all(n < 4 for n in sizes)", {"n": 4}),
        ("all(a == b for a, b in zip(shape(lhs), sizes))", {"a": 3, "b": 4}),
        ("all(n < m for n in sizes if n > 2 for m in (9, dim(lhs, 0)))", {"n": 4, "m": 2}),
        ("same(dim(x, 0) for x in (lhs, rhs))", {"dim(x, 0) for x in (lhs, rhs)": (2, 4)}),
        ("dim(lhs, 5) == dim(rhs, 0)", {"dim(rhs, 0)": 4}),  # the left side has no value
        ("permutation == sizes", {}),  # values of names are shown anyway
        ("same(map(shape, (lhs, missing)))", {}),  # an iterator that raises has no value
        ("all(n < 4 for pair in sizes for n in pair)", {}),
        ("all(dim(lhs, n) == 2 for n in (0, 5))", {"n": 5}),  # what has no value does not hold
    ],
)
def test_values(formula: str, values: dict[str, object]) -> None:
    assert explained(formula)[1] == values


def test_many_values() -> None:
    """The one that is wrong is found among many, and a list of many is shortened."""
    pairs = [*([i, i + 1] for i in range(20_000)), [30_000, -3]]
    text = f"""func.func @main(%a: tensor<f32>) {{
  %0 = "stablehlo.collective_permute"(%a) <{{source_target_pairs = dense<{pairs}> : tensor<20001x2xi64>}}>
      : (tensor<f32>) -> tensor<f32>
  return
}}"""
    with pytest.raises(sr.InvalidError, match=r"all.0 <= i for pair in source_target_pairs for i in pair") as caught:
        sr.load(text.encode())
    notes = caught.value.diagnostics[0].notes
    assert {"pair = (30000, -3)", "i = -3"} < set(notes)
    assert all(len(note) < 500 for note in notes)


def test_notes_of_an_error() -> None:
    """First what differs, then the parts of the formula, then the names in it."""
    text = """func.func @main(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}"""
    with pytest.raises(sr.InvalidError) as caught:
        sr.load(text.encode())
    assert caught.value.diagnostics[0].notes == (
        "contracting dimension 1 of lhs has size 3, contracting dimension 0 of rhs 4",
        "dims(lhs, lhs_contracting_dimensions) = (3,)",
        "dims(rhs, rhs_contracting_dimensions) = (4,)",
        "lhs = tensor<2x3xf32>",
        "lhs_contracting_dimensions = (1,)",
        "rhs = tensor<4x5xf32>",
        "rhs_contracting_dimensions = (0,)",
    )
    assert len(caught.value.diagnostics[0].definitions) == 2  # of both operands


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ("<{perm = array<i64: 1, 0>}>", "'stablehlo.transpose' op has no property 'perm'; did you mean 'permutation'?"),
        ("{perm = array<i64: 1, 0>}", "'stablehlo.transpose' op requires attribute 'permutation', got 'perm'"),
        ("{permutations = array<i64: 1, 0>}", "requires attribute 'permutation', got 'permutations'"),
        ("{axes = array<i64: 1, 0>}", "requires attribute 'permutation'; 'axes' is not an attribute of this op"),
        ("{mhlo.perm = array<i64: 1, 0>}", "'stablehlo.transpose' op requires attribute 'permutation'"),
    ],
)
def test_hint_about_an_attribute_that_is_missing(attributes: str, message: str) -> None:
    op = f'"stablehlo.transpose"(%a) {attributes} : (tensor<2x3xf32>) -> tensor<3x2xf32>'
    with pytest.raises(sr.StablehloError) as caught:
        sr.load(f"func.func @main(%a: tensor<2x3xf32>) {{\n  %0 = {op}\n  return\n}}".encode())
    assert caught.value.diagnostics[0].message.endswith(message)


def role(C: Callable[..., None], sizes: tuple[int, ...]) -> None:
    C(1, all(1 // size for size in sizes))


def test_formula_of_an_error_inside_a_generator() -> None:
    """Where its code has a frame of its own, the function around it has the source."""
    with pytest.raises(ZeroDivisionError) as caught:
        role(lambda label, holds: None, (1, 0))
    found = failing_check(caught.value, role)
    assert found is not None
    assert quote(*found).formula == "all(1 // size for size in sizes)"
    assert quote(*found).names == ["all", "size", "size", "sizes"]
