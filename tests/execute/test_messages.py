"""The infeed, the outfeed, and messages between processes, from Python."""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr

STREAMS = """
func.func @main(%token: !stablehlo.token) -> tensor<2xi32> {
  %0:2 = "stablehlo.infeed"(%token) : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
  %1 = stablehlo.add %0#0, %0#0 : tensor<2xi32>
  %2 = "stablehlo.outfeed"(%1, %0#1) : (tensor<2xi32>, !stablehlo.token) -> !stablehlo.token
  return %1 : tensor<2xi32>
}
"""


def test_infeed_and_outfeed() -> None:
    outfeed: list[Any] = []
    infeed = [[np.array([1, 2], np.int32)], [np.array([3, 4], np.int32)]]
    results = sr.load(STREAMS).run_parallel([[None], [None]], num_partitions=2, infeed=infeed, outfeed=outfeed)
    assert [r[0].tolist() for r in results] == [[2, 4], [6, 8]]
    assert [(process, [v.tolist() for v in values]) for process, values in outfeed] == [
        ((0, 0), [[2, 4]]), ((0, 1), [[6, 8]]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("infeed", "message"),
    [
        ([], "the infeed is empty"),
        ([[np.float32(1)]], "reads value #0: expected dtype int32 for tensor<2xi32>"),
        ([np.int32(1)], "not a sequence of values"),
        ([[]], "reads 0 values, not 1"),
        ([[[[1], [1, 2]]]], "reads value #0: expected an array"),
    ],
)
def test_rejects_infeed_values_of_other_types(infeed: Any, message: str) -> None:
    with pytest.raises(sr.EvaluationError, match=message):
        sr.load(STREAMS).run_parallel([[None]], infeed=infeed)


def test_infeed_may_be_infinite() -> None:
    results = sr.load(STREAMS).run_parallel([[None], [None]], infeed=repeat([np.array([1, 2], np.int32)]))
    assert [r[0].tolist() for r in results] == [[2, 4], [2, 4]]


def test_results_do_not_share_memory_with_the_infeed() -> None:
    given = np.array([1, 2], np.int32)
    text = STREAMS.replace("return %1", "return %0#0")
    ((result,),) = sr.load(text).run_parallel([[None]], infeed=[[given]])
    assert result.tolist() == [1, 2] and not np.shares_memory(result, given)


READ = """
func.func @main() -> TYPE {
  %0 = stablehlo.after_all : !stablehlo.token
  %1:2 = "stablehlo.infeed"(%0) : (!stablehlo.token) -> (TYPE, !stablehlo.token)
  return %1#0 : TYPE
}
"""


@pytest.mark.parametrize("type", ["tensor<?xf32>", "tensor<?xf32, #stablehlo.bounds<3>>"])
def test_infeed_of_dynamic_size(type: str) -> None:
    program = sr.load(READ.replace("TYPE", type))
    results = program.run_replicas([[], []], infeed=[[np.zeros(n, np.float32)] for n in (3, 0)])
    assert [r[0].shape for r in results] == [(3,), (0,)]
    if "bounds" in type:
        with pytest.raises(sr.EvaluationError, match=r"got \(4,\)"):
            program.run_replicas([[]], infeed=[[np.zeros(4, np.float32)]])


SWAP = """
func.func @main(%a: TYPE) -> TYPE {
  %0 = stablehlo.after_all : !stablehlo.token
  %1 = "stablehlo.send"(%a, %0) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, PAIRS}
      : (TYPE, !stablehlo.token) -> !stablehlo.token
  %2:2 = "stablehlo.recv"(%1) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, PAIRS}
      : (!stablehlo.token) -> (TYPE, !stablehlo.token)
  return %2#0 : TYPE
}
"""


def test_send_and_recv_of_dynamic_size() -> None:
    text = SWAP.replace("TYPE", "tensor<?xf32>")
    inputs = [[np.array([1.0], np.float32)], [np.array([2.0, 3.0], np.float32)]]
    both = sr.load(text.replace("PAIRS", "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>"))
    assert [r[0].tolist() for r in both.run_replicas(inputs)] == [[2, 3], [1]]
    one = sr.load(text.replace("PAIRS", "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>"))
    with pytest.raises(sr.EvaluationError, match=r"so the shapes of \(tensor<\?xf32>\) are unknown"):
        one.run_replicas(inputs)
