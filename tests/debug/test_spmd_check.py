"""Which shard is wrong: partitioned programs that are wrong by hand, right ones, and a sample of injected faults."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.debug import spmd_check

ROOT = Path(__file__).parents[2]
GLOBAL = """module {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                  %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
      -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
    %t = stablehlo.tanh %h : tensor<8x32xf32>
    return %t : tensor<8x32xf32>
  }
}
"""
# What a partitioner makes of it: a sum along y, and a gather along x. Device d is at x = d div 4, y = d mod 4.
LOCAL = """func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x32xf32>) -> tensor<8x32xf32> {
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<4x4xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  %s = "stablehlo.all_reduce"(%h) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
  }) : (tensor<4x32xf32>) -> tensor<4x32xf32>
  %t = stablehlo.tanh %s : tensor<4x32xf32>
  %g = "stablehlo.all_gather"(%t) <{all_gather_dim = 0 : i64,
      channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
      replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}>
      : (tensor<4x32xf32>) -> tensor<8x32xf32>
  return %g : tensor<8x32xf32>
}
"""
GATHER = "[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>"
SUM = "[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>"


def check(*changes: tuple[str, str], whole: str = GLOBAL, local: str = LOCAL, **options: str) -> sr.debug.SpmdCheck:
    for old, new in changes:
        assert old in local
        local = local.replace(old, new)
    return spmd_check(sr.parse(whole, filename="global.mlir"), sr.parse(local, filename="local.mlir"), **options)


def test_right_programs() -> None:
    found = check()
    assert found.verdict in ("same", "not wrong") and found.fault is None
    assert str(found).endswith('on the mesh <["x"=2, "y"=4]>, under xla-cpu') or "agrees" in str(found)
    # The order of a sum does not matter, and a gather may be of groups that are listed in another order.
    assert not check((SUM, "[[3, 1, 2, 0], [6, 5, 4, 7]]> : tensor<2x4xi64>")).is_wrong
    assert not check((GATHER, "[[3, 7], [1, 5], [2, 6], [0, 4]]> : tensor<4x2xi64>")).is_wrong


@pytest.mark.parametrize(
    ("changes", "place", "op", "device", "axis"),
    [
        # A sum along x instead of y, and one over all devices.
        ([(SUM, "[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>")], 4, "stablehlo.all_reduce", 0, "y"),
        ([(SUM, "[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>")], 4, "stablehlo.all_reduce", 0, "y"),
        # Devices 3 and 7 are in each other's group: each sum is wrong.
        ([(SUM, "[[0, 1, 2, 7], [4, 5, 6, 3]]> : tensor<2x4xi64>")], 4, "stablehlo.all_reduce", 0, "y"),
        # The shards of devices 2 and 6 are joined in the wrong order.
        ([(GATHER, "[[0, 4], [1, 5], [6, 2], [3, 7]]> : tensor<4x2xi64>")], 11, "stablehlo.all_gather", 2, "x"),
        # Device 1 and those after it are joined along y instead of x; so is device 0.
        ([(GATHER, "[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>")], 11, "stablehlo.all_gather", 0, "x"),
        # The sum is missing.
        ([("stablehlo.tanh %s", "stablehlo.tanh %h")], 2, "stablehlo.dot_general", 0, "y"),
        # The maximum of partial results is not their sum.
        ([("stablehlo.add %a, %b", "stablehlo.maximum %a, %b")], 4, "stablehlo.all_reduce", 0, "y"),
    ],
)
def test_faults(changes: list[tuple[str, str]], place: int, op: str, device: int, axis: str | None) -> None:
    found = check(*changes)
    fault = found.fault
    assert found.verdict == "wrong" and fault is not None and fault.is_confirmed
    line = int(fault.place.split(":")[1])
    assert (line, fault.op, fault.device, fault.axis) == (place, op, device, axis)
    assert fault.position == f"x={device // 4},y={device % 4}"


def test_an_op_that_the_whole_program_does_not_have_is_not_located() -> None:
    found = check(("stablehlo.tanh", "stablehlo.sine"))
    assert found.verdict == "wrong" and found.fault is None and found.shards == tuple(range(8))
    assert "no op is located; output 0 is the first that differs" in str(found)


def test_the_report_of_a_wrong_group() -> None:
    text = str(check((SUM, "[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>")))
    assert (
        'local.mlir:4:8: %s = stablehlo.all_reduce is wrong, first in shard x=0,y=0 (process 0), along axis "y"' in text
    )
    assert 'its groups are along "x", not "y"' in text
    assert 'its operand is split by [{"x"}, {}], partial along "y"' in text
    assert "with the right shards there, the outputs are right" in text


def test_the_picture_shows_the_shards_that_are_wrong() -> None:
    found = check((GATHER, "[[0, 4], [1, 5], [6, 2], [3, 7]]> : tensor<4x2xi64>"))
    assert found.shards == (2, 6)
    assert [line.split() for line in found.picture.splitlines()] == [
        ["y=0", "y=1", "y=2", "y=3"], ["x=0", ".", ".", "X", "."], ["x=1", ".", ".", "X", "."],
    ]  # fmt: skip


def test_a_missing_sum_names_the_op_that_needs_it() -> None:
    found = check(("stablehlo.tanh %s", "stablehlo.tanh %h"))
    assert found.fault is not None and found.fault.what == "missing"
    assert found.fault.before == "local.mlir:10:8"
    assert 'it is a partial result along "y"' in found.fault.reasons


def test_a_missing_sum_beside_equal_constants() -> None:
    """A constant of the partitioned program may be any of those of the whole one that are equal."""
    constants = "".join(
        f"%{name} = stablehlo.constant dense<{value}> : tensor<f32>\n"
        for name, value in (("first", "0.0"), ("second", "0.0"), ("top", "0x7F800000"))
    )

    def bounded(operand: str, type: str) -> tuple[str, str]:
        types = f"(tensor<f32>, {type}, tensor<f32>) -> {type}"
        clamp = f"{constants} %t = stablehlo.clamp %second, {operand}, %top : {types}"
        return f"%t = stablehlo.tanh {'%h' if type == 'tensor<8x32xf32>' else '%s'} : {type}", clamp

    whole = GLOBAL.replace(*bounded("%h", "tensor<8x32xf32>"))
    assert not check(bounded("%s", "tensor<4x32xf32>"), whole=whole).is_wrong
    fault = check(bounded("%h", "tensor<4x32xf32>"), whole=whole).fault
    assert fault is not None and fault.is_confirmed
    assert (fault.what, fault.op, fault.before) == ("missing", "stablehlo.dot_general", "local.mlir:13:7")


def test_an_output_that_is_sharded_in_another_way() -> None:
    whole = GLOBAL.replace(
        "-> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})", "-> tensor<8x32xf32>"
    )
    local = LOCAL.replace("return %g : tensor<8x32xf32>", "return %t : tensor<4x32xf32>")
    local = local.replace("-> tensor<8x32xf32> {", "-> tensor<4x32xf32> {")
    assert not check(whole=whole, local=local, out_shardings='[{"x"}, {}]').is_wrong
    with pytest.raises(sr.EvaluationError, match=r"the sharding of output 0 is not known"):
        check(whole=whole, local=local)
    found = check(whole=whole.replace('"y"=4', '"y"=2'), local=local.replace("4x4xf32", "4x8xf32").replace(
        "tensor<4x32xf32>) -> tensor<4x32xf32> {", "tensor<8x32xf32>) -> tensor<4x32xf32> {").replace(
        "(tensor<4x8xf32>, tensor<4x32xf32>)", "(tensor<4x8xf32>, tensor<8x32xf32>)").replace(
        "%w: tensor<4x32xf32>", "%w: tensor<8x32xf32>").replace(SUM, "[[0, 1], [2, 3]]> : tensor<2x2xi64>").replace(
        GATHER, "[[0, 2], [1, 3]]> : tensor<2x2xi64>"), out_shardings='[{"y"}, {}]')  # fmt: skip
    assert found.verdict == "wrong" and found.fault is not None
    assert (found.fault.device, found.fault.position, found.fault.axis) == (1, "x=0,y=1", "x")


def test_a_deadlock_names_the_op_and_a_process() -> None:
    groups = "dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids"
    half = '"stablehlo.if"(%odd)'
    local = f"""func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x32xf32>) -> tensor<8x32xf32> {{
      %p = stablehlo.partition_id : tensor<ui32>
      %z = stablehlo.constant dense<0> : tensor<ui32>
      %odd = stablehlo.compare EQ, %p, %z : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %o = stablehlo.constant dense<0.0> : tensor<8x32xf32>
      %r = {half} ({{
        %s = "stablehlo.all_reduce"(%o) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
            replica_groups = {groups}}}> ({{
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %c = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %c : tensor<f32>
        }}) : (tensor<8x32xf32>) -> tensor<8x32xf32>
        stablehlo.return %s : tensor<8x32xf32>
      }}, {{
        stablehlo.return %o : tensor<8x32xf32>
      }}) : (tensor<i1>) -> tensor<8x32xf32>
      return %r : tensor<8x32xf32>
    }}"""
    found = check(local=local)
    assert found.verdict == "failed" and found.fault is not None
    assert (found.fault.op, found.fault.place, found.fault.device) == ("stablehlo.all_reduce", "local.mlir:7:14", 0)
    assert "deadlock: process (0, 0) waits at 'stablehlo.all_reduce'" in str(found)


def test_sums_of_narrow_types_across_devices_are_rounded() -> None:
    """Partial sums of bf16 that devices exchange are rounded to bf16: legal, whatever the accumulator is."""
    whole, local = (text.replace("f32>", "bf16>") for text in (GLOBAL, LOCAL))
    for seed in range(3):
        assert not spmd_check(sr.parse(whole), sr.parse(local), seed=seed).is_wrong


def test_shardings_of_gspmd_and_a_mesh_that_is_given() -> None:
    """`devices=[2,4]<=[8]` has device d at row d div 4 and column d mod 4, as the mesh x=2,y=4."""
    first, second = '"{devices=[2,4]<=[8]}"', '"{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"'
    whole = GLOBAL.replace('#sdy.sharding<@mesh, [{"x"}, {"y"}]>', first).replace(
        '#sdy.sharding<@mesh, [{"y"}, {}]>', second
    )
    whole = whole.replace("#sdy.sharding<@mesh, [{}, {}]>", '"{replicated}"').replace("sdy.sharding", "mhlo.sharding")
    whole = whole.replace('  sdy.mesh @mesh = <["x"=2, "y"=4]>\n', "")
    assert not check(whole=whole, mesh="x=2,y=4").is_wrong
    found = check((SUM, GATHER), whole=whole, mesh="x=2,y=4")
    assert found.fault is not None and (found.fault.op, found.fault.axis) == ("stablehlo.all_reduce", "y")
    with pytest.raises(sr.StablehloError, match="give the mesh, such as x=2,y=4"):
        check(whole=whole)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mesh": "x2"}, "expected a mesh such as x=2,y=4, got 'x2'"),
        ({"mesh": "x=2,x=4"}, "got 'x=2,x=4': duplicate axis name"),
        ({"mesh": "a=8"}, 'the sharding of input 0 is invalid: unknown axis "x"'),
        (
            {"in_shardings": '[{"x"}], []'},
            r"input 0 is invalid: expected 2 dimensions in the sharding of tensor<8x16xf32>",
        ),
        ({"in_shardings": '[{"x"}, {"x"}], [{}, {}]'}, 'the sharding of input 0 is invalid: duplicate axis "x"'),
        ({"in_shardings": "[{x}]"}, "expected shardings such as"),
        ({"in_shardings": "[{}, {}]"}, "expected shardings of 2 inputs, got 1"),
        ({"in_shardings": "[{}, {}], [{}, {}]"}, r"input 0, tensor<8x16xf32> in 1 x 1 parts, is tensor<4x4xf32>"),
    ],
)
def test_options_that_do_not_fit(options: dict[str, str], message: str) -> None:
    with pytest.raises(sr.StablehloError, match=message):
        check(**options)


def test_a_tensor_that_does_not_split_into_equal_parts() -> None:
    whole = sr.parse("""module {
      sdy.mesh @mesh = <["x"=2]>
      func.func @main(%x: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<3xf32> {
        return %x : tensor<3xf32>
      }
    }""")
    with pytest.raises(sr.EvaluationError, match="input 0, tensor<3xf32>, does not split into 2 equal parts"):
        spmd_check(whole)


@pytest.mark.parametrize("mask", ["-1.0e9", "0xFF800000"])
def test_a_wrong_order_beside_large_elements_of_a_mask(mask: str) -> None:
    """Rows are in the wrong order, and the mask of columns is the same in all of them."""
    whole = f"""module {{
      sdy.mesh @mesh = <["x"=2]>
      func.func @main(%x: tensor<4x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}})
          -> tensor<4x8xf32> {{
        %low = stablehlo.constant dense<{mask}> : tensor<4x8xf32>
        %m = stablehlo.constant dense<[[1, 1, 0, 0, 0, 0, 0, 0]]> : tensor<1x8xi1>
        %all = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<1x8xi1>) -> tensor<4x8xi1>
        %s = stablehlo.select %all, %x, %low : tensor<4x8xi1>, tensor<4x8xf32>
        %e = stablehlo.exponential %s : tensor<4x8xf32>
        return %e : tensor<4x8xf32>
      }}
    }}"""
    local = f"""func.func @main(%x: tensor<2x8xf32>) -> tensor<4x8xf32> {{
        %low = stablehlo.constant dense<{mask}> : tensor<2x8xf32>
        %m = stablehlo.constant dense<[[1, 1, 0, 0, 0, 0, 0, 0]]> : tensor<1x8xi1>
        %all = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<1x8xi1>) -> tensor<2x8xi1>
        %s = stablehlo.select %all, %x, %low : tensor<2x8xi1>, tensor<2x8xf32>
        %g = "stablehlo.all_gather"(%s) <{{all_gather_dim = 0 : i64,
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, use_global_device_ids}}>
          : (tensor<2x8xf32>) -> tensor<4x8xf32>
        %e = stablehlo.exponential %g : tensor<4x8xf32>
        return %e : tensor<4x8xf32>
      }}"""
    found = check(whole=whole, local=local)
    assert found.fault is not None and found.fault.is_confirmed
    assert (found.fault.op, found.fault.axis) == ("stablehlo.all_gather", "x")
    assert not check(("[[1, 0]]", "[[0, 1]]"), whole=whole, local=local).is_wrong


def test_many_devices() -> None:
    """1,024 devices on a 32 x 32 mesh; a wrong order in one group is found on the first device of it."""
    whole = GLOBAL.replace('"x"=2, "y"=4', '"x"=32, "y"=32')
    for old, new in (("8x16", "64x64"), ("16x32", "64x32"), ("8x32", "64x32")):
        whole = whole.replace(f"tensor<{old}x", f"tensor<{new}x")
    program = sr.parse(whole).verify()
    assert not spmd_check(program).is_wrong
    wrong = program.transform("convert-global-to-local")
    (op,) = [op for op in wrong.module.walk() if op.name == "stablehlo.all_gather"]
    groups = [list(group) for group in op.properties["replica_groups"]]
    assert groups[5][:3] == [5, 37, 69]
    groups[5][1:3] = [69, 37]
    op.properties["replica_groups"] = tuple(map(tuple, groups))
    found = spmd_check(program, wrong)
    assert found.fault is not None and found.fault.op == "stablehlo.all_gather"
    assert (found.fault.device, found.fault.position, found.fault.axis) == (5, "x=0,y=5", "x")
    assert found.picture == "" and len(found.shards) == 32


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, local = tmp_path / "global.mlir", tmp_path / "local.mlir"
    whole.write_text(GLOBAL)
    local.write_text(LOCAL)
    assert main(["spmd-check", str(whole), str(local), "--mesh", "x=2,y=4", "--random-inputs", "0"]) == 0
    assert main(["spmd-check", str(whole), "--random-inputs", "0"]) == 0
    assert "agrees" in capsys.readouterr().out
    local.write_text(LOCAL.replace(SUM, GATHER))
    assert main(["spmd-check", str(whole), str(local), "--random-inputs", "0", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1 and document["verdict"] == "wrong" and document["shards"] == list(range(8))
    assert (document["fault"]["op"], document["fault"]["axis"]) == ("stablehlo.all_reduce", "y")
    assert main(["spmd-check", str(whole), str(local), "--random-inputs", "0", "--mesh", "y"]) == 2
    assert "expected a mesh such as x=2,y=4" in capsys.readouterr().err


def test_a_sample_of_injected_faults() -> None:
    """The whole is `tools/spmd_faults.py --faults 300 --right 200`."""
    command = [sys.executable, "tools/spmd_faults.py", "--faults", "20", "--right", "10", "--seed", "5000"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "0 alarms on 10 right programs" in found.stdout


def test_values_that_have_no_layout_are_not_called_wrong() -> None:
    """Numbers that depend on the device, and halos, have no counterpart in the whole program."""
    whole = """module {
      sdy.mesh @mesh = <["x"=4]>
      func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
          -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
        %z = stablehlo.constant dense<0.0> : tensor<f32>
        %l = stablehlo.slice %x [0:7] : (tensor<8xf32>) -> tensor<7xf32>
        %p = stablehlo.pad %l, %z, low = [1], high = [0], interior = [0]
          : (tensor<7xf32>, tensor<f32>) -> tensor<8xf32>
        %r = stablehlo.add %x, %p : tensor<8xf32>
        return %r : tensor<8xf32>
      }
    }"""
    local = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        %e = stablehlo.slice %x [1:2] : (tensor<2xf32>) -> tensor<1xf32>
        %h = "stablehlo.collective_permute"(%e) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
            source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
        %f = stablehlo.slice %x [0:1] : (tensor<2xf32>) -> tensor<1xf32>
        %p = stablehlo.concatenate %h, %f, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
        %r = stablehlo.add %x, %p : tensor<2xf32>
        return %r : tensor<2xf32>
    }"""
    assert not check(whole=whole, local=local).is_wrong
    found = check(("[[0, 1], [1, 2], [2, 3]]", "[[0, 2], [1, 3], [2, 1]]"), whole=whole, local=local)
    assert found.verdict == "wrong" and np.any(found.shards)
