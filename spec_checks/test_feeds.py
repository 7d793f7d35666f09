"""Compare infeed and outfeed with their oracles: programs that read, add and write, in grids that share the queues."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.strategies import arrays, same, shapes
from stablehlo_ref.ir.types import tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.semantics import distribution as oracle

INT32 = np.dtype(np.int32)


def text(steps: list[str], type: str) -> str:
    """Return a program that adds up what it reads, and writes the sum and its operand."""
    lines, token, value = ["%t = stablehlo.after_all : !stablehlo.token"], "%t", "%x"
    for i, step in enumerate(steps):
        if step == "infeed":
            lines.append(f'%r{i}:2 = "stablehlo.infeed"({token}) : (!stablehlo.token) -> ({type}, !stablehlo.token)')
            lines.append(f"%s{i} = stablehlo.add {value}, %r{i}#0 : {type}")
            lines.append(f"%t{i} = stablehlo.after_all {token}, %r{i}#1 : !stablehlo.token")
            token, value = f"%t{i}", f"%s{i}"
        else:
            types = f"({type}, {type}, !stablehlo.token) -> !stablehlo.token"
            lines.append(f'%t{i} = "stablehlo.outfeed"({value}, %x, {token}) : {types}')
            token = f"%t{i}"
    body = "\n".join(lines)
    return f"func.func @main(%x: {type}) -> {type} {{\n{body}\nreturn {value} : {type}\n}}\n"


@settings(max_examples=60, deadline=None)
@given(
    data=st.data(), shape=shapes(max_rank=2), count=st.integers(1, 3),
    steps=st.lists(st.sampled_from(["infeed", "outfeed"]), max_size=5),
)  # fmt: skip
def test_infeed_and_outfeed(data: st.DataObject, shape: tuple[int, ...], count: int, steps: list[str]) -> None:
    inputs = [data.draw(arrays(INT32, shape)) for _ in range(count)]
    waiting = [(data.draw(arrays(INT32, shape)),) for _ in range(count * steps.count("infeed"))]
    program = sr.load(text(steps, str(tensor_type(shape, element_type_of(INT32)))))
    written: list[tuple[tuple[int, int], tuple[np.ndarray, ...]]] = []
    actual = program.run_parallel([[x] for x in inputs], num_replicas=count, num_partitions=1,
                                  infeed=list(waiting), outfeed=written)  # fmt: skip
    queue: list[tuple[np.ndarray, ...]] = []
    with np.errstate(all="ignore"):
        for process, x in enumerate(inputs):  # no process waits, so they run one after the other
            value = x
            for step in steps:
                if step == "infeed":
                    value = value + oracle.infeed(waiting)[0]
                else:
                    oracle.outfeed((value, x), queue)
            assert same(actual[process][0], value)
    assert [process for process, _ in written] == [(p, 0) for p in range(count) for s in steps if s == "outfeed"]
    assert all(same(a, b) for (_, found), wanted in zip(written, queue, strict=True) for a, b in zip(found, wanted))
