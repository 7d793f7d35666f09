"""Programs from JAX: their inputs and outputs are pytrees, their values are JAX's."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.frameworks.jax import from_jax

jax = pytest.importorskip("jax")
jnp = jax.numpy

PARAMS = {"w": np.arange(6, dtype=np.float32).reshape(3, 2), "unused": np.zeros(5, np.float32)}
X = np.ones((4, 3), np.float32)


def model(params: dict[str, Any], x: Any, scale: Any = 1.0) -> dict[str, Any]:
    return {"y": x @ params["w"] * scale, "sums": [x.sum(), params["w"].sum()]}


def assert_as_jax(results: Any) -> None:
    expected = model(PARAMS, X, 2.0)
    assert jax.tree.structure(results) == jax.tree.structure(expected)
    jax.tree.map(np.testing.assert_array_equal, results, expected)  # small integers: exact in any order


@pytest.mark.parametrize(
    "source",
    [
        lambda *arguments: from_jax(model, *arguments),
        lambda *arguments: from_jax(jax.jit(model), *arguments),
        lambda *arguments: from_jax(jax.jit(model).lower(*arguments)),
        lambda *arguments: from_jax(jax.jit(model).trace(*arguments)),
        lambda *arguments: from_jax(jax.export.export(jax.jit(model))(*arguments)),
    ],
    ids=["function", "jitted", "lowered", "traced", "exported"],
)
def test_takes_and_returns_pytrees(source: Any) -> None:
    program = source(PARAMS, X, 2.0)
    assert len(program.inputs) == 3  # JAX drops the unused parameter
    assert_as_jax(program.run(PARAMS, X, 2.0))


def test_keyword_arguments_are_those_of_the_function() -> None:
    program = from_jax(model, PARAMS, X, scale=2.0)
    assert_as_jax(program.run(PARAMS, X, scale=2.0))


def test_positional_arguments_are_taken_by_name() -> None:
    program = from_jax(lambda p, x, y: p["w"] * x - y, {"w": np.float32(2)}, np.float32(1), np.float32(1))
    w, x, y = {"w": np.float32(3)}, np.float32(10), np.float32(1)
    assert program.run(y=y, x=x, p=w) == program.run(w, y=y, x=x) == program.run(w, x, y) == 29
    with pytest.raises(sr.EvaluationError, match="expected arguments of structure"):
        program.run(w, x, z=y)


def test_options_of_a_run_are_not_arguments() -> None:
    program = from_jax(model, PARAMS, X, 2.0)
    seen = []

    class Names(sr.Observer):
        def after(self, op: Any, results: Any) -> None:
            seen.append(op.name)

    assert_as_jax(program.run(PARAMS, X, 2.0, observer=Names()))
    assert "stablehlo.dot_general" in seen


def test_static_arguments_are_left_out() -> None:
    program = from_jax(jax.jit(lambda x, n: x * n, static_argnums=1), X, 3)
    np.testing.assert_array_equal(program.run(X), X * 3)
    with pytest.raises(sr.EvaluationError, match="expected arguments of structure"):
        program.run(X, 3)


def test_takes_arrays_keys_and_narrow_types() -> None:
    key = jax.random.key(7)
    program = from_jax(lambda key: jax.random.bits(key, (3,)), key)
    np.testing.assert_array_equal(program.run(key), jax.random.bits(key, (3,)))
    program = from_jax(lambda x: x + x, jnp.ones(2, jnp.bfloat16))
    assert program.run(jnp.ones(2, jnp.bfloat16)).tolist() == [2, 2]


def test_names_of_inputs_are_those_of_jax() -> None:
    program = from_jax(model, PARAMS, X, 2.0)
    assert [p.names[-1] for p in program.inputs] == ["params['w']", "x", "scale"]


def test_rejects_objects_that_are_not_functions() -> None:
    with pytest.raises(TypeError, match="expected a function, or a Lowered or Exported of JAX, got int"):
        from_jax(3)


def test_jax_is_not_imported_before_it_is_needed() -> None:
    code = "import sys, stablehlo_ref, stablehlo_ref.frameworks.jax; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_traces_and_stops_take_pytrees() -> None:
    program = from_jax(jax.jit(model), PARAMS, X)
    trace = program.trace(PARAMS, X)
    (name,) = trace.select("stablehlo.dot_general")
    np.testing.assert_array_equal(trace[name], X @ PARAMS["w"])
    np.testing.assert_array_equal(program.run(PARAMS, X, until=name)[0], X @ PARAMS["w"])


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda program: pickle.loads(pickle.dumps(program))])
def test_copies_take_pytrees(duplicate: Any) -> None:
    program = from_jax(jax.jit(model), PARAMS, X, 2.0)
    program.run(PARAMS, X, 2.0)
    assert_as_jax(duplicate(program).run(PARAMS, X, 2.0))


def test_arrays_of_jax_with_bfloat16() -> None:
    program = sr.load("func.func @main(%x: tensor<2xbf16>) -> tensor<2xbf16> {\n  return %x : tensor<2xbf16>\n}")
    assert program.run(jnp.array([1.5, 2], jnp.bfloat16))[0].tolist() == [1.5, 2]
