"""`opt` loses nothing: what passes do not change is in the output."""

from __future__ import annotations

from pathlib import Path

import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.ir.locations import name_of
from stablehlo_ref.passes.catalog import PASSES

Capture = pytest.CaptureFixture[str]
OPTIONS = {
    "stablehlo-refine-arguments": "types=tensor<2xf32>",
    "stablehlo-legalize-deprecated-ops": "fail-on-unused=false",
    "vhlo-to-version": "target=1.0.0",
}
OTHERS = ("strip-debuginfo", "stablehlo-legalize-to-vhlo")  # which change the text of every program
ALL = [f"--{name}={OPTIONS.get(name, '')}".removesuffix("=") for name in PASSES if name not in OTHERS]
FILES = sorted((Path(__file__).parents[1] / "interpret").glob("*.mlir"))


def opt(capsys: Capture, path: Path, *options: str) -> str:
    assert main(["opt", *options, str(path)]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def written(folder: Path, text: str) -> Path:
    path = folder / "program.mlir"
    path.write_text(text)
    return path


RESOURCES = """\
module {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %w = stablehlo.constant dense_resource<weights> : tensor<2xf32>
    %0 = stablehlo.add %x, %w {test.table = dense_resource<table> : tensor<1xi64>} : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040",
      table: "0x080000000700000000000000"
    }
  }
#-}
"""


@pytest.mark.parametrize("option", ["--mlir-print-op-generic", *ALL])
def test_resources(tmp_path: Path, capsys: Capture, option: str) -> None:
    after = opt(capsys, written(tmp_path, RESOURCES), option)
    assert 'weights: "0x040000000000803F00000040"' in after and 'table: "0x080000000700000000000000"' in after
    assert "dense_resource<weights>" in after and "dense_resource<table>" in after


LOCATIONS = """\
#file = loc("model.py":3:5)
#call = loc(callsite("f" at #file))
module @jit {
  func.func public @main(%x: tensor<2xf32> loc("inputs[0]")) -> tensor<2xf32> {
    %0 = call @f(%x) : (tensor<2xf32>) -> tensor<2xf32> loc(fused["a", #call])
    return %0 : tensor<2xf32> loc(#file)
  } loc("main")
  func.func private @f(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %0 = stablehlo.negate %x : tensor<2xf32> loc("jit(f)/neg"(#file))
    return %0 : tensor<2xf32> loc(unknown)
  } loc(#call)
} loc("module")
"""
IN_PLACE = ("--mlir-print-debuginfo", "--mlir-print-local-scope")
SAME_OPS = ("symbol-dce", "canonicalize", "cse", "sccp", "stablehlo-canonicalize-dynamism", "stablehlo-refine-shapes")


@pytest.mark.parametrize("name", SAME_OPS)
def test_locations(tmp_path: Path, capsys: Capture, name: str) -> None:
    path = written(tmp_path, LOCATIONS)
    before = opt(capsys, path, *IN_PLACE)
    for location in (
        'loc("inputs[0]")',
        'loc("jit(f)/neg"(',
        'loc(callsite("f" at ',
        'loc(fused["a", ',
        'loc("module")',
    ):
        assert location in before
    assert opt(capsys, path, *IN_PLACE, f"--{name}") == before


IN_PLACE_TEXT = """\
module {
  func.func @main(%arg0: tensor<4xi8> loc("x"), %arg1: tensor<i8> loc("y"("a.py":1:2))) -> tensor<4xi8> {
    %0 = stablehlo.abs %arg0 : tensor<4xi8> loc("abs"("a.py":1:2))
    %1 = stablehlo.abs %0 : tensor<4xi8> loc(callsite("abs"("a.py":1:2) at "f"))
    %2 = stablehlo.reduce(%1 init: %arg1) applies stablehlo.add across dimensions = [0] : (tensor<4xi8>, tensor<i8>) -> tensor<i8> loc("sum")
    %3 = "stablehlo.map"(%1) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg2: tensor<i8> loc("x")):
      %4 = stablehlo.add %arg2, %2 : tensor<i8> loc("a.py":1:2)
      stablehlo.return %4 : tensor<i8> loc("a.py":3:2 to 4:5)
    }) : (tensor<4xi8>) -> tensor<4xi8> loc(fused<"test">["sum", "map"])
    return %3 : tensor<4xi8> loc(unknown)
  } loc("main")
  func.func private @h(tensor<4xi8>) loc("map")
} loc("module")
"""  # noqa: E501
# What MLIR prints for it with debug information.
ALIASES = """\
#loc2 = loc("x")
#loc3 = loc("a.py":1:2)
#loc9 = loc("y"(#loc3))
module {
  func.func @main(%arg0: tensor<4xi8> loc("x"), %arg1: tensor<i8> loc("y"(#loc3))) -> tensor<4xi8> {
    %0 = stablehlo.abs %arg0 : tensor<4xi8> loc(#loc10)
    %1 = stablehlo.abs %0 : tensor<4xi8> loc(#loc12)
    %2 = stablehlo.reduce(%1 init: %arg1) applies stablehlo.add across dimensions = [0] : (tensor<4xi8>, tensor<i8>) -> tensor<i8> loc(#loc5)
    %3 = "stablehlo.map"(%1) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg2: tensor<i8> loc("x")):
      %4 = stablehlo.add %arg2, %2 : tensor<i8> loc(#loc3)
      stablehlo.return %4 : tensor<i8> loc(#loc7)
    }) : (tensor<4xi8>) -> tensor<4xi8> loc(#loc11)
    return %3 : tensor<4xi8> loc(#loc8)
  } loc(#loc1)
  func.func private @h(tensor<4xi8>) loc(#loc6)
} loc(#loc)
#loc = loc("module")
#loc1 = loc("main")
#loc4 = loc("f")
#loc5 = loc("sum")
#loc6 = loc("map")
#loc7 = loc("a.py":3:2 to 4:5)
#loc8 = loc(unknown)
#loc10 = loc("abs"(#loc3))
#loc11 = loc(fused<"test">[#loc5, #loc6])
#loc12 = loc(callsite(#loc10 at #loc4))
"""  # noqa: E501


def test_locations_are_aliases_as_in_mlir(tmp_path: Path, capsys: Capture) -> None:
    assert opt(capsys, written(tmp_path, IN_PLACE_TEXT), "--mlir-print-debuginfo") == ALIASES
    assert opt(capsys, written(tmp_path, ALIASES), *IN_PLACE) == IN_PLACE_TEXT


def test_locations_of_inlined_ops_name_the_call(tmp_path: Path, capsys: Capture) -> None:
    after = opt(capsys, written(tmp_path, LOCATIONS), *IN_PLACE, "--inline")
    called = 'callsite("jit(f)/neg"("model.py":3:5) at fused["a", callsite("f" at "model.py":3:5)])'
    assert f"stablehlo.negate %arg0 : tensor<2xf32> loc({called})" in after
    assert 'loc("inputs[0]")' in after


def test_inlined_ops_are_found_by_their_names() -> None:
    flat = sr.parse(LOCATIONS).transform("inline")
    (negate,) = (op for op in flat.module.walk() if op.name == "stablehlo.negate")
    assert name_of(negate.debug_location) == "jit(f)/neg"


ATTRIBUTES = """\
module @jit attributes {mhlo.num_replicas = 1 : i32, test.list = [1, "a", @main, unit, tensor<?xf32>]} {
  func.func public @main(%arg0: tensor<2xf32> {jax.arg = {a = 1 : i32}}) -> (tensor<2xf32> {jax.result_info = "out"})
      attributes {test.f} {
    %0 = stablehlo.negate %arg0 {mhlo.frontend = {key = "value"}, test.array = array<i64: 1, 2>} : tensor<2xf32>
    return {test.r = -1.5 : f64} %0 : tensor<2xf32>
  }
}
"""


@pytest.mark.parametrize("option", ALL)
def test_discardable_attributes(tmp_path: Path, capsys: Capture, option: str) -> None:
    path = written(tmp_path, ATTRIBUTES)
    before = opt(capsys, path)
    for attribute in ("mhlo.num_replicas = 1 : i32", "test.list = [1", "jax.arg = {a = 1 : i32}", "test.f", "test.r ="):
        assert attribute in before
    after = opt(capsys, path, option)
    assert after == before or "probe" in option


UNKNOWN = """\
module {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0:2 = "other.op"(%arg0) <{kind = #other<kind fast>}> ({
    ^bb0(%arg1: !other.type<3>):
      %1 = "other.inner"(%arg1) {x = 1 : i8} : (!other.type<3>) -> f32
      "other.yield"(%1) : (f32) -> ()
    }) : (tensor<2xf32>) -> (tensor<2xf32>, !other.token)
    "other.effect"(%0#1) : (!other.token) -> ()
    return %0#0 : tensor<2xf32>
  }
}
"""


@pytest.mark.parametrize("option", [option for option in ALL if "signless" not in option])
def test_unknown_dialects(tmp_path: Path, capsys: Capture, option: str) -> None:
    path = written(tmp_path, UNKNOWN)
    before = opt(capsys, path, "--allow-unregistered-dialect")
    for part in ("#other<kind fast>", '"other.inner"', "{x = 1 : i8}", "!other.type<3>", '"other.effect"'):
        assert part in before
    after = opt(capsys, path, "--allow-unregistered-dialect", option)
    assert after == before or "probe" in option


@pytest.mark.parametrize("path", FILES[::7], ids=lambda path: path.stem)
def test_printed_programs_are_printed_again(path: Path, tmp_path: Path, capsys: Capture) -> None:
    """Text, generic text and bytecode hold the same program, with its locations."""
    options = ["--split-input-file", "--mlir-print-debuginfo"]
    text = opt(capsys, path, *options)
    generic = written(tmp_path, opt(capsys, path, *options, "--mlir-print-op-generic"))
    assert opt(capsys, generic, *options) == text


def test_bits_of_resources_of_other_types(tmp_path: Path, capsys: Capture) -> None:
    text = RESOURCES.replace("xf32", "xui32")
    after = opt(capsys, written(tmp_path, text), "--stablehlo-convert-to-signless")
    assert "dense_resource<weights> : tensor<2xi32>" in after and 'weights: "0x040000000000803F00000040"' in after


def test_buffers_of_tensors_of_buffers_are_those_buffers(tmp_path: Path, capsys: Capture) -> None:
    text = """\
func.func @main(%arg0: memref<*xi16>) -> memref<2xi16> {
  %0 = memref.cast %arg0 : memref<*xi16> to memref<2xi16>
  %1 = bufferization.to_tensor %0 : memref<2xi16> to tensor<2xi16>
  %2 = bufferization.to_buffer %1 : tensor<2xi16> to memref<2xi16>
  return %2 : memref<2xi16>
}
"""
    out = opt(capsys, written(tmp_path, text), "--canonicalize")
    assert "%cast = memref.cast %arg0 : memref<*xi16> to memref<2xi16>\n    return %cast : memref<2xi16>" in out
