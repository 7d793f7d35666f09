"""Programs of mhlo are printed as mhlo, which MLIR reads to the same generic text as the originals."""

from __future__ import annotations

from pathlib import Path

import pytest

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import split_text
from stablehlo_ref.passes.spellings import hlo_legalize_to_stablehlo
from stablehlo_ref.syntax.printer import print_operation
from tests.compare import difference
from tests.shared import ask_mlir, needs_mlir

FOLDER = Path(__file__).parents[1] / "interpret"
INTERPRET = sorted(path for path in FOLDER.glob("*.mlir") if not path.stem.startswith(("mhlo", "sdy", "vhlo")))

CALLEE = 'func.func private @callee(!mhlo.token, tensor<2xf32>) -> !mhlo.token attributes {execution_thread = "main"}'
FORMS = {
    "tuple all_to_all": """func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = "mhlo.all_to_all"(%a, %b) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}""",
    "asynchronous ops": f"""{CALLEE}
!bundle = !mhlo.async_bundle<tuple<!mhlo.token, tensor<2xf32>>, !mhlo.token, tensor<i32>>
func.func @f(%t: !mhlo.token, %a: tensor<2xf32>) -> !mhlo.token {{
  %0 = "mhlo.async_start"(%t, %a) <{{called_computation = @callee, execution_thread = "main"}}>
      : (!mhlo.token, tensor<2xf32>) -> !bundle
  %1 = "mhlo.async_update"(%0) : (!bundle) -> !bundle
  %2 = "mhlo.async_done"(%1) : (!bundle) -> !mhlo.token
  return %2 : !mhlo.token
}}""",
    "ragged_dot": """func.func @f(%a: tensor<2x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "mhlo.ragged_dot"(%a, %b, %g) <{precision_config = [#mhlo<precision HIGH>, #mhlo<precision DEFAULT>],
      ragged_dot_dimension_numbers = #mhlo.ragged_dot<dot_dimension_numbers = #mhlo.dot<
      lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2],
      rhs_contracting_dimensions = [2]>, lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}>
      : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
  return
}""",
    "unused dimensions": """func.func @f(%a: tensor<1x8x8x32x7xf32>, %b: tensor<3x3x32x7x6xf32>)
    attributes {n = #mhlo.conv<[b, 0, 1, ?, f]x[0, 1, ?, i, o]->[?, b, 0, 1, f]>} {
  %0 = "mhlo.convolution"(%a, %b) <{batch_group_count = 1 : i64, dimension_numbers =
      #mhlo.conv<[b, 0, 1, ?, f]x[0, 1, ?, i, o]->[?, b, 0, 1, f]>, feature_group_count = 1 : i64,
      lhs_dilation = dense<1> : tensor<2xi64>, padding = dense<1> : tensor<2x2xi64>,
      rhs_dilation = dense<1> : tensor<2xi64>, window_strides = dense<1> : tensor<2xi64>}>
      : (tensor<1x8x8x32x7xf32>, tensor<3x3x32x7x6xf32>) -> tensor<32x1x8x8x6xf32>
  %1 = mhlo.convolution(%a, %b) dim_numbers = [b, 0, 1, ?, f]x[0, 1, ?, i, o]->[?, b, 0, 1, f],
      window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1],
      reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config =
      [#mhlo<precision DEFAULT>, #mhlo<precision HIGH>]}
      : (tensor<1x8x8x32x7xf32>, tensor<3x3x32x7x6xf32>) -> tensor<32x1x8x8x6xf32>
  return
}""",
    "unknown properties": """func.func @f(%a: tensor<2x2xf32>) {
  %0 = "mhlo.cholesky"(%a) <{foo = 1 : i64, lower = true}> {bar = 2 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}""",
    "aliases": """func.func private @f(%a: tuple<i32, tuple<i32, tensor<?xf32>>>
    {mhlo.result_alias = #mhlo.result_alias<tuple_indices = [1, 1], result_index = [1, 0], must_alias>,
    mhlo.parameter_replication = [true, false, true]},
    %b: i32 {mhlo.parameter_replication = [false], mhlo.result_alias = #mhlo.result_alias<result_index = [0]>},
    %c: tuple<> {mhlo.parameter_replication = []}) -> (i32, tuple<tensor<3xf32>>)""",
    "scan": """func.func @f(%a: tensor<10xf32>, %b: tensor<f32>) -> (tensor<10xf32>, tensor<f32>) {
  %0:2 = mhlo.scan (%a) inits (%b) dimension=0 {
  ^bb0(%x: tensor<f32>, %c: tensor<f32>):
    %1 = mhlo.add %x, %c : tensor<f32>
    mhlo.return %1, %1 : tensor<f32>, tensor<f32>
  } : (tensor<10xf32>, tensor<f32>) -> (tensor<10xf32>, tensor<f32>)
  return %0#0, %0#1 : tensor<10xf32>, tensor<f32>
}""",
    "ops without equal": """func.func @f(%a: tensor<2xf32>, %t: !mhlo.token) -> tensor<2xf32> {
  %0 = "mhlo.add_dependency"(%a, %t) : (tensor<2xf32>, !mhlo.token) -> tensor<2xf32>
  %1 = mhlo.add_dependency %0, %t : (tensor<2xf32>, !mhlo.token) -> tensor<2xf32>
  %2 = mhlo.copy %1 : tensor<2xf32>
  %3 = "mhlo.fusion"(%2) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({
  ^bb0(%x: tensor<2xf32>):
    %4 = mhlo.add %x, %x : tensor<2xf32>
    "mhlo.return"(%4) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}""",
    "bounds": """func.func @f(%a: tensor<?x2xf32, #mhlo.type_extensions<bounds = [5, ?]>>,
    %b: tensor<?x2xf32, #stablehlo.bounds<5, ?>>) attributes {test.b = #mhlo.type_extensions<bounds = [?, 4]>} {
  %0 = mhlo.add %a, %a : tensor<?x2xf32, #mhlo.type_extensions<bounds = [5, ?]>>
  return
}""",
    "enumerations": """func.func @f(%a: tensor<f32>, %n: tensor<1xi64>, %s: tensor<2xui64>,
    %c: tensor<4xcomplex<f32>>) {
  %0 = "mhlo.rng"(%a, %a, %n) {rng_distribution = #mhlo.rng_distribution<UNIFORM>}
      : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<7xf32>
  %1:2 = "mhlo.rng_bit_generator"(%s) <{rng_algorithm = #mhlo.rng_algorithm<THREE_FRY>}>
      : (tensor<2xui64>) -> (tensor<2xui64>, tensor<10xui32>)
  %2 = mhlo.exponential %a {result_accuracy = #mhlo.result_accuracy<mode = #mhlo.result_accuracy_mode<HIGHEST>>,
      test.mode = #mhlo.result_accuracy_mode<DEFAULT>} : tensor<f32>
  %3 = "mhlo.fft"(%c) <{fft_length = dense<4> : tensor<1xi64>, fft_type = #mhlo<fft_type FFT>}>
      : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %4 = mhlo.compare LT, %a, %a, TOTALORDER {test.other = #stablehlo<comparison_type FLOAT>}
      : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return
}""",
    "top_k": """func.func @f(%a: tensor<16xf32>) {
  %0:2 = "mhlo.topk"(%a) <{k = 8 : i64}> : (tensor<16xf32>) -> (tensor<8xf32>, tensor<8xi32>)
  %1:2 = mhlo.topk(%a, k=8, largest=false) : tensor<16xf32> -> (tensor<8xf32>, tensor<8xi32>)
  %2:2 = mhlo.topk(%a, k=8) : tensor<16xf32> -> (tensor<8xf32>, tensor<8xi32>)
  return
}""",
    "reductions": """func.func @f(%a: tensor<4x4xf32>, %b: tensor<f32>) {
  %0 = mhlo.reduce(%a init: %b) applies mhlo.add across dimensions = [0]
      : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = mhlo.reduce(%a init: %b) across dimensions = [1] {test.list = array<i64: 1>}
      : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %2 = mhlo.add %x, %y : tensor<f32>
    %3 = mhlo.cosh %2 : tensor<f32>
    mhlo.return %3 : tensor<f32>
  }
  return
}""",
    "both dialects": """func.func @f(%a: tensor<4x4xf32>, %b: tensor<f32>, %s: !stablehlo.token, %m: !mhlo.token) {
  %0 = stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [0]
      : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = "mhlo.transpose"(%a) <{permutation = dense<[1, 0]> : tensor<2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = mhlo.custom_call @f(%a) {custom_call_schedule = #mhlo<custom_call_schedule NONE>,
      operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}""",
    "schedule": """func.func @f(%a: tensor<4xf32>) {
  %0 = mhlo.custom_call @f(%a) {custom_call_schedule = #mhlo<custom_call_schedule LATEST>}
      : (tensor<4xf32>) -> tensor<4xf32>
  return
}""",
}  # fmt: skip


def answers(script: str, texts: list[str]) -> list[object]:
    return list(map(ask_mlir(f"syntax/{script}"), texts))


def read(text: str) -> sr.Program:
    return sr.parse(text, allow_unregistered_dialect=True).verify()


def printed(program: sr.Program) -> list[str]:
    return [print_operation(program.module, generic) for generic in (False, True)]


@needs_mlir
@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_mlir_reads_forms(text: str) -> None:
    found, *again = answers("mlir_reader.py", [text, *printed(read(text))])
    assert found == again[0] == again[1]
    assert isinstance(found, dict)
    assert "text" in found, found


@needs_mlir
def test_mlir_reads_every_op() -> None:
    """Programs that MLIR itself prints in mhlo, in both forms."""
    parts = [part for path in INTERPRET for _, part in split_text(path.read_text("utf-8"))]
    parts = ["\n".join(x for x in part.splitlines() if not x.strip().startswith("check.")) for part in parts]
    forms = [made for made in answers("mhlo_writer.py", parts) if isinstance(made, list)]
    assert len(forms) > 250
    programs = [read(generic) for _, _, generic in forms]
    pretty, generic = zip(*map(printed, programs))
    expected = answers("mlir_reader.py", [generic for _, _, generic in forms])
    assert answers("mlir_reader.py", list(generic)) == expected
    assert answers("mlir_reader.py", list(pretty)) == expected
    for (original, _, _), program in zip(forms, programs):
        hlo_legalize_to_stablehlo(program.module)
        assert printed(program) == printed(read(original))


WITHOUT_EQUAL = ("tuple all_to_all", "asynchronous ops", "unused dimensions", "ops without equal", "top_k", "schedule")


@pytest.mark.parametrize("name", FORMS)
def test_legalizes_what_has_an_equal(name: str) -> None:
    program = read(FORMS[name])
    if name in WITHOUT_EQUAL:
        with pytest.raises(sr.UnsupportedError, match=r"failed to legalize operation 'mhlo\.\w+'"):
            hlo_legalize_to_stablehlo(program.module)
        return
    hlo_legalize_to_stablehlo(program.module)
    for text in printed(program):
        assert name == "aliases" or "mhlo" not in text
        assert difference(read(text).module, program.module) is None
