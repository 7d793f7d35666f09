"""Programs compute the same before and after each pass."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import stablehlo_ref as sr
from stablehlo_ref.passes.catalog import PASSES
from tests.passes.programs import (
    FLAT,
    PROPERTY,
    assert_same_results,
    broadcast,
    inputs_of,
    joined,
    piece,
    programs,
    reshape,
    transformed,
    transpose,
)

REFINE = "stablehlo-refine-shapes"
VHLO = "stablehlo-legalize-to-vhlo"
CHANGE_RESULTS = {
    "stablehlo-convert-to-signless": "unsigned integers become signed; see the tests below",
}


@PROPERTY
@given(data=st.data())
def test_results_are_the_same(data: st.DataObject) -> None:
    """Run the same program after every single pass."""
    names = [name for name in PASSES if name not in (*CHANGE_RESULTS, REFINE, VHLO, "vhlo-to-version")]
    assert_same_results(data.draw(programs()), names, lambda program: inputs_of(data.draw, program))


@PROPERTY
@given(data=st.data())
def test_refined_functions_compute_the_same(data: st.DataObject) -> None:
    try:
        assert_same_results(data.draw(programs()), [REFINE], lambda program: inputs_of(data.draw, program))
    except sr.InvalidError as error:  # calls that pass different constants are refused
        assert "refined with incompatible refinement keys" in str(error)


@PROPERTY
@given(data=st.data())
def test_programs_of_vhlo_compute_the_same(data: st.DataObject) -> None:
    try:
        assert_same_results(data.draw(programs()), [VHLO], lambda program: inputs_of(data.draw, program))
    except sr.UnsupportedError as error:
        assert "failed to legalize operation 'chlo." in str(error)


@PROPERTY
@given(data=st.data())
def test_wrapped_ops_compute_the_same(data: st.DataObject) -> None:
    options = {"op-names": "stablehlo.add,stablehlo.reduce,stablehlo.case,stablehlo.while,func.call", "version": "1"}
    name = "stablehlo-wrap-in-composite"
    assert_same_results(data.draw(programs()), [name], lambda program: inputs_of(data.draw, program), **options)


@PROPERTY
@given(data=st.data())
def test_signless_programs_are_the_same(data: st.DataObject) -> None:
    text = data.draw(programs(elements=("i32", "f32", "i1"), makers=FLAT))
    assert_same_results(text, ["stablehlo-convert-to-signless"], lambda program: inputs_of(data.draw, program))


@PROPERTY
@given(data=st.data())
def test_signless_programs_move_the_same_bits(data: st.DataObject) -> None:
    text = data.draw(programs(elements=("ui8",), makers=(reshape, transpose, broadcast, piece, joined)))
    before = sr.load(text)
    inputs = inputs_of(data.draw, before)
    after = transformed(sr.load(text), "stablehlo-convert-to-signless")
    for result, expected in zip(after.run(*[x.view(np.int8) for x in inputs]), before.run(*inputs), strict=True):
        assert result.dtype == np.int8
        np.testing.assert_array_equal(result.view(np.uint8), expected)
