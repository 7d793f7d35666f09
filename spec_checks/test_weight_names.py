"""Weights by name: each gets to the argument that JAX names after it, or the program is refused."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.examples import examples

INPUTS = ["args[0]", "kwargs['x']"]
KEYS = ["a", "b", "a.b", "0", "x"]
PATHS = st.lists(
    st.lists(st.sampled_from(KEYS), min_size=1, max_size=3).map(tuple), min_size=1, max_size=6, unique=True
)


def program(names: list[str]) -> sr.Program:
    """Return a program that returns its arguments, which have these names in locations."""
    inputs = ", ".join(f'%arg{i}: tensor<f32> loc("{name}")' for i, name in enumerate(names))
    values, types = ", ".join(f"%arg{i}" for i in range(len(names))), ", ".join(["tensor<f32>"] * len(names))
    return sr.load(f"func.func @main({inputs}) -> ({types}) {{ return {values} : {types} }}")


@examples(everyday=60, all=2000)
@given(PATHS, st.data())
def test_no_weight_becomes_another_argument(paths: list[tuple[str, ...]], data: st.DataObject) -> None:
    """Arguments that are not kept are those that JAX drops; the inputs of a call come last."""
    kept = [path for path in paths if data.draw(st.booleans())]
    names = ["states" + "".join(f"[{key!r}]" for key in path) for path in kept]
    root = data.draw(st.sampled_from(["", "states."]))
    weights = {root + ".".join(path): np.float32(n) for n, path in enumerate(paths)}
    due = [n for n, path in enumerate(paths) if path in kept]
    given_twice = len(weights) < len(paths)  # ('a', 'b') and ('a.b',): the caller has lost one of them
    shuffled = dict(data.draw(st.permutations(list(weights.items()))))
    try:
        bound = program([*names, *INPUTS]).bind(shuffled)
    except sr.EvaluationError:
        assert given_twice or not kept or _is_ambiguous(paths)
        return
    if not given_twice:
        assert [p.names[-1] for p in bound.inputs] == INPUTS
        assert [float(result) for result in bound.run(-1.0, -2.0)] == [*due, -1, -2]


def _is_ambiguous(paths: list[tuple[str, ...]]) -> bool:
    """Return whether the keys of a state are those of another after its first."""
    every = [".".join(path).split(".") for path in paths]
    return any(a == b[1:] for a in every for b in every)
