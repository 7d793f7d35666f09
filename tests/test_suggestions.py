"""Names that messages suggest for unknown ones."""

from __future__ import annotations

from itertools import count

import pytest

import stablehlo_ref as sr
from stablehlo_ref.define.definition import similar_op
from stablehlo_ref.ir.types import FLOATS
from stablehlo_ref.suggestions import closest, edits, element_type
from stablehlo_ref.syntax.parser import KNOWN_DIALECTS


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("stablehlo.ad", "stablehlo.add"),
        ("stablehlo.tahn", "stablehlo.tanh"),
        ("stablhlo.add", "stablehlo.add"),
        ("stabelhlo.multipy", "stablehlo.multiply"),
        ("stablehlo.brodcast_in_dim", "stablehlo.broadcast_in_dim"),
        ("stablehlo.dotgeneral", "stablehlo.dot_general"),
        ("stablehlo.mul", "stablehlo.multiply"),
        ("stablehlo.max", "stablehlo.maximum"),
        ("stablehlo.sin", "stablehlo.sine"),
        ("stablehlo.erf", "chlo.erf"),
        ("chlo.add", "stablehlo.add"),
        ("fnc.func", "func.func"),
        ("add", "stablehlo.add"),
        ("stablehlo.frobnicate", None),
        ("tosa.add", None),
        ("do", None),
        ("stablehlo." + "x" * 100_000, None),
    ],
)
def test_suggests_similar_ops(written: str, meant: str | None) -> None:
    assert sr.parse("") is not None  # ops are registered
    assert similar_op(written, KNOWN_DIALECTS) == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("float32", "f32"), ("u8", "ui8"), ("int32", "i32"), ("uint8_t", "ui8"), ("F32", "f32"), ("fp16", "f16"),
        ("bfloat16", "bf16"), ("float8_e4m3fn", "f8E4M3FN"), ("s32", "i32"), ("pred", "i1"), ("double", "f64"),
        ("complex64", "complex<f32>"), ("rank", None), ("8", None), ("", None),
    ],
)  # fmt: skip
def test_suggests_element_types(written: str, meant: str | None) -> None:
    assert element_type(written, FLOATS) == meant


def test_counts_edits() -> None:
    assert [edits("add", other, 9) for other in ("add", "ad", "adds", "abd", "dad", "sub", "")] == [0, 1, 1, 1, 1, 3, 3]
    assert edits("stabel", "stable", 9) == 1  # letters swapped
    assert edits("aaaaaaaaaa", "bbbbbbbbbb", 2) > 2


def test_prefers_a_common_prefix() -> None:
    assert closest("ad", ["pad", "and", "add"]) == "add"
    assert closest("conv", ["convolution", "convert"]) == "convert"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%0 = stablehlo.abs %arg : tensor<f32>", "undeclared SSA value name '%arg'; did you mean '%arg0'?"),
        ("call @mian() : () -> ()", "calls undefined function @mian; did you mean '@main'?"),
        ("%0 = stablehlo.iota dim = 0 : tensor<4xfloat32>", "expected a type, got 'float32'; did you mean 'f32'?"),
        ("%0 = stablehlo.iota dim = 0 : tensr<4xf32>", "expected a type, got 'tensr'; did you mean 'tensor'?"),
        ("%0 = stablhlo.iota dim = 0 : tensor<4xf32>", "unknown op 'stablhlo.iota'; did you mean 'stablehlo.iota'?"),
        ('%0 = "stablhlo.iota"() : () -> tensor<4xf32>', "unregistered dialect; did you mean 'stablehlo.iota', or use"),
        ("%0 = stablehlo.abs %arg0 {a = #nam} : tensor<f32>", "undefined alias '#nam'; did you mean '#name'?"),
        (
            '%0 = "stablehlo.iota"() {iota_dimensoin = 0 : i64} : () -> tensor<4xf32>',
            "requires attribute 'iota_dimension', got 'iota_dimensoin'",
        ),
        (
            '%0 = "stablehlo.iota"() <{iota_dimensoin = 0 : i64}> : () -> tensor<4xf32>',
            "no property 'iota_dimensoin'; did you mean 'iota_dimension'?",
        ),
    ],
)
def test_errors_suggest_names(text: str, message: str) -> None:
    program = f"#name = 1\nfunc.func @main(%arg0: tensor<f32>) {{\n  {text}\n  return\n}}"
    with pytest.raises(sr.StablehloError) as raised:
        sr.load(program)
    (diagnostic,) = raised.value.diagnostics
    assert message in diagnostic.message


def test_compares_no_more_than_some_names() -> None:
    assert closest("name1", ["name2"] * 1000) == "name2"
    assert closest("name1", (f"name{n}" for n in count(2))) is None
