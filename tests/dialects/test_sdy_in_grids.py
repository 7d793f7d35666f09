"""Shardy's ops are defined on whole tensors; in a process of a grid, tensors are local."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.dialects import register_all  # noqa: F401

# Ops on %x, a whole tensor that is sharded along the mesh axis "x", or unreduced along "y".
WHOLE = {
    "all_gather": '%0 = sdy.all_gather [{"x"}] %x out_sharding=<@mesh, [{}]> : tensor<4xi32>',
    "all_slice": '%0 = sdy.all_slice [{"y"}] %x out_sharding=<@mesh, [{"x", "y"}]> : tensor<4xi32>',
    "all_to_all": '%0 = sdy.all_to_all [{"x"}: 0->1] %m out_sharding=<@mesh, [{}, {"x"}]> : tensor<4x4xi32>',
    "collective_permute": '%0 = sdy.collective_permute %x out_sharding=<@mesh, [{"y"}]> : tensor<4xi32>',
    "all_reduce": '%0 = sdy.all_reduce {"y"} %u out_sharding=<@mesh, [{}]> : tensor<4xi32>',
    "reduce_scatter": '%0 = sdy.reduce_scatter [{"y"}] %u out_sharding=<@mesh, [{"y"}]> : tensor<4xi32>',
    "sharded_to_unreduced":
        '%0 = sdy.sharded_to_unreduced [{"x"}] %x out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<4xi32>',
    "replicated_to_unreduced":
        '%0 = sdy.replicated_to_unreduced {"y"} %x out_sharding=<@mesh, [{"x"}], unreduced={"y"}> : tensor<4xi32>',
    "reshard": "%0 = sdy.reshard %x <@mesh, [{}]> : tensor<4xi32>",
    "sharding_constraint": "%0 = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<4xi32>",
    "manual_computation": """%0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>]
        out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xi32>) {
          sdy.return %a : tensor<2xi32>
        } : (tensor<4xi32>) -> tensor<4xi32>""",
}  # fmt: skip
# Ops that say nothing about how a tensor is sharded here, or that must be the same everywhere.
EITHER = {
    "constant": "%0 = sdy.constant dense<1> : tensor<4xi32>",
    "propagation_barrier": "%0 = sdy.propagation_barrier %x allowed_direction=NONE : tensor<4xi32>",
    "data_flow_edge": "%0 = sdy.data_flow_edge %x : tensor<4xi32>",
    "func_data_flow_edge": "%0 = sdy.func_data_flow_edge %x : tensor<4xi32>",
    "sharding_group": "sdy.sharding_group %x group_id=1 : tensor<4xi32>",
    "named_computation": """%0 = sdy.named_computation<"f">(%x) (%a: tensor<4xi32>) {
          sdy.return %a : tensor<4xi32>
        } : (tensor<4xi32>) -> tensor<4xi32>""",
}
PARTS = {"mesh", "return"}  # of the program and of an op


def program(line: str) -> sr.Program:
    return sr.load(
        f"""
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%x: tensor<4xi32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}},
    %m: tensor<4x4xi32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}},
    %u: tensor<4xi32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}], unreduced={{"y"}}>}}) -> tensor<4xi32> {{
  {line}
  return %x : tensor<4xi32>
}}""".encode()
    )


INPUTS = [np.zeros(4, np.int32), np.zeros((4, 4), np.int32), np.zeros(4, np.int32)]


def test_every_op_is_tested() -> None:
    names = {d.mnemonic for d in REGISTRY.values() if d.dialect == "sdy" and d.mnemonic}
    assert names == WHOLE.keys() | EITHER.keys() | PARTS


@pytest.mark.parametrize("name", WHOLE)
def test_an_op_on_whole_tensors_is_refused_in_a_grid(name: str) -> None:
    loaded = program(WHOLE[name])
    loaded.run(*INPUTS)  # outside of a grid, and in one of one process, tensors are whole
    loaded.run_parallel([INPUTS], num_replicas=1)
    with pytest.raises(sr.UnsupportedError, match=f"'sdy.{name}' op is defined on whole tensors") as caught:
        loaded.run_parallel([INPUTS] * 4, num_partitions=4)
    assert caught.value.diagnostics[0].line == 6


@pytest.mark.parametrize("name", EITHER)
def test_an_op_that_only_annotates_is_run_in_a_grid(name: str) -> None:
    assert len(program(EITHER[name]).run_parallel([INPUTS] * 2, num_replicas=2)) == 2


def test_an_op_on_whole_tensors_in_a_function_that_processes_call_is_refused() -> None:
    text = """
sdy.mesh @mesh = <["x"=2]>
func.func private @inner(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func @process(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = call @inner(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0:2 = "interpreter.run_parallel"(%x, %x) {programs = [[@process, @process]]}
      : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  return %0#0 : tensor<2xi32>
}
"""
    with pytest.raises(sr.UnsupportedError, match=r"'sdy\.sharding_constraint' op") as caught:
        sr.load(text.encode(), entry="main").run(np.zeros(2, np.int32))
    assert caught.value.diagnostics[0].line == 4


def test_an_op_on_whole_tensors_in_a_computation_of_a_custom_call_is_refused() -> None:
    text = """
sdy.mesh @mesh = <["x"=2]>
func.func private @inner(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = stablehlo.custom_call @apply(%x) {called_computations = [@inner]} : (tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
"""
    loaded, handlers = sr.load(text.encode(), entry="main"), {"apply": lambda call, x: call.computations[0](x)}
    x = np.zeros(2, np.int32)
    loaded.run(x, custom_calls=handlers)
    with pytest.raises(sr.UnsupportedError, match=r"'sdy\.sharding_constraint' op") as caught:
        loaded.run_parallel([[x], [x]], num_partitions=2, custom_calls=handlers)
    assert caught.value.diagnostics[0].line == 4
