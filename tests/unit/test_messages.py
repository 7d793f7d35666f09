"""What processes read from the infeed, write to the outfeed, and send to one another, from Python."""

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


def test_infeed_and_outfeed_from_python() -> None:
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
        ([], "there is nothing in the infeed"),
        ([[np.float32(1)]], "reads value #0: expected dtype int32 for tensor<2xi32>"),
        ([np.int32(1)], "not a sequence of values"),
        ([[]], "reads 0 values, not 1"),
        ([[[[1], [1, 2]]]], "reads value #0: expected an array"),
    ],
)
def test_an_infeed_that_does_not_fit(infeed: Any, message: str) -> None:
    with pytest.raises(sr.EvaluationError, match=message):
        sr.load(STREAMS).run_parallel([[None]], infeed=infeed)


def test_an_infeed_without_end() -> None:
    results = sr.load(STREAMS).run_parallel([[None], [None]], infeed=repeat([np.array([1, 2], np.int32)]))
    assert [r[0].tolist() for r in results] == [[2, 4], [2, 4]]


def test_what_the_infeed_gave_stays_the_caller_s() -> None:
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
def test_an_infeed_of_unknown_size(type: str) -> None:
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


def test_messages_of_unknown_size() -> None:
    text = SWAP.replace("TYPE", "tensor<?xf32>")
    inputs = [[np.array([1.0], np.float32)], [np.array([2.0, 3.0], np.float32)]]
    both = sr.load(text.replace("PAIRS", "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>"))
    assert [r[0].tolist() for r in both.run_replicas(inputs)] == [[2, 3], [1]]
    one = sr.load(text.replace("PAIRS", "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>"))
    with pytest.raises(sr.EvaluationError, match=r"nobody sends, so \(tensor<\?xf32>\) has no shape"):
        one.run_replicas(inputs)
