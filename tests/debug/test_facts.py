"""What debugging knows of each op: a new op must be listed here, or get a rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.debug import contract_of
from stablehlo_ref.debug.bounds import transfer
from stablehlo_ref.debug.bounds.ball import Ball
from stablehlo_ref.debug.cut import Flat
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.explain import sensitivities
from stablehlo_ref.debug.judge import Judge
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.facts import Arithmetic
from tests.debug.programs import compare

WITHOUT_A_BOUND = {  # of floating-point numbers: a result that is not the interpreter's is not judged
    "_asin_acos_kernel", "scan", "all_reduce", "async_done", "async_start", "collective_reduce", "cross-replica-sum",
    "map", "reduce_scatter",
}  # fmt: skip
BY_OTHERS = {Arithmetic.OPEN, Arithmetic.CALLS}  # nothing is known, or regions and functions are entered


def test_ops_that_move_nans_move_or_select_elements() -> None:
    moving = [d for d in REGISTRY.values() if d.traits.nans == "moved"]
    assert moving and all(d.facts and d.facts.arithmetic in (Arithmetic.MOVES, Arithmetic.SELECTS) for d in moving)


def test_every_op_has_a_bound_or_is_listed() -> None:
    known = [d for d in REGISTRY.values() if d.dialect in ("stablehlo", "chlo") and "broadcast_" not in d.mnemonic]
    without = {
        d.mnemonic
        for d in known
        if d.facts is not None
        and d.facts.arithmetic not in BY_OTHERS
        and not transfer.rule_for(d.op_class, d.facts, False)
    }
    assert without - {"async_done", "async_start"} == WITHOUT_A_BOUND - {"async_done", "async_start"}


def test_facts_of_functions_hold() -> None:
    """Functions are monotone, or as steep and apart as their facts say, on numbers between -4 and 4."""
    x = np.linspace(-4, 4, 4001)
    for definition in REGISTRY.values():
        facts, op_class = definition.facts, definition.op_class
        if facts is None or definition.dialect not in ("stablehlo", "chlo") or len(definition.operands) != 1:
            continue
        if not (facts.monotone or facts.slope < np.inf) or not getattr(op_class, "floating", None):
            continue
        with np.errstate(all="ignore"):
            y = np.asarray(op_class.floating(np.dtype(np.float64))(x))
            steps = np.diff(y)
            holds = np.isfinite(steps)
            if callable(facts.monotone):
                holds &= facts.monotone(x[:-1], x[1:])
        if facts.slope < np.inf:
            assert np.max(np.abs(steps)) <= facts.slope * 0.002 * 1.001 and np.ptp(y) <= facts.spread, definition.name
            continue
        sides = [holds]
        if facts.least is not None:
            sides = [holds & (x[1:] < facts.least[0]), holds & (x[:-1] > facts.least[0])]
            assert np.nanmin(y[np.append(False, holds)]) >= facts.least[1], definition.name
        for side in sides:
            signs = np.sign(steps[side])
            assert np.all(signs >= 0) or np.all(signs <= 0), definition.name


def test_every_function_says_how_it_is_shaped() -> None:
    """A function without the fact `monotone` or `slope` has a bound only for operands that are known."""
    functions = [
        d for d in REGISTRY.values() if d.facts and d.facts.arithmetic in (Arithmetic.FUNCTION, Arithmetic.ROUNDS)
    ]
    functions = [d for d in functions if len(d.operands) == 1 and getattr(d.op_class, "floating", None)]
    assert len(functions) > 50
    assert [d.name for d in functions if d.facts and not d.facts.monotone and d.facts.slope == np.inf] == []


def test_the_square_of_an_interval() -> None:
    flat = Flat(
        sr.load("""func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = chlo.square %x : tensor<3xf32> -> tensor<3xf32>
      return %0 : tensor<3xf32> }""")
    )
    operand = Ball(np.array([3.0, 0.5, -2.0]), np.array([1.0, 1.0, 0.5]))
    (found,) = transfer.transfer(flat.ops[0], flat.arguments, [operand], contract_of("strict"), Evaluator(flat)) or ()
    expected = [16 - 9, 2.25 - 0.25, 6.25 - 4]  # from the center to the furthest end; 0.25 to 0 is less
    assert np.all(found.radius >= expected) and np.all(found.radius <= np.array(expected) + 1e-5)


MODERATE = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0]
EXTREME = [-1e30, -100.0, -1e-30, -2e-38, 2e-38, 1e-30, 100.0, 1e30]


def results(numbers: Sequence[float]) -> Iterator[tuple[OpDefinition, list[np.ndarray], np.ndarray, np.ndarray]]:
    """Yield the ops on floats, operands in f32 of all tuples of numbers, and results on them in f32 and in f64."""
    for definition in REGISTRY.values():
        is_numeric = definition.dialect in ("stablehlo", "chlo", "arith", "math") and definition.facts is not None
        kernels, count = getattr(definition.op_class, "floating", None), len(definition.operands)
        if is_numeric and kernels and count <= 2 and not definition.name.endswith(("convert", "reduce_precision")):
            drawn = [np.array(column, np.float32) for column in zip(*product(numbers, repeat=count))]
            with np.errstate(all="ignore"):
                found = np.asarray(kernels(np.dtype(np.float32))(*drawn))
                wide = np.asarray(kernels(np.dtype(np.float64))(*(x.astype(np.float64) for x in drawn)))
            if found.dtype == np.float32:
                yield definition, drawn, found, wide


def test_infinite_results_of_moderate_numbers_are_at_poles() -> None:
    for definition, drawn, found, _ in results(MODERATE):
        pole = definition.facts.pole(*drawn) if definition.facts and definition.facts.pole else False
        assert not np.any(np.isinf(found) & ~np.broadcast_to(pole, found.shape)), definition.name


def test_tiny_results_of_normal_numbers_are_underflow() -> None:
    for definition, _, found, wide in results([*MODERATE[:3], *EXTREME, *MODERATE[4:]]):
        is_tiny = (np.abs(found) < np.finfo(np.float32).smallest_normal) & (wide != found)
        assert not is_tiny.any() or (definition.facts and definition.facts.underflow), definition.name


NEW = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %x : tensor<4xf32>
  return %0 : tensor<4xf32> }"""


def test_an_op_without_facts_is_not_said_to_be_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REGISTRY, "stablehlo.abs", replace(REGISTRY["stablehlo.abs"], facts=None))
    found = compare(NEW, "python:tests.faulty:dropped:stablehlo.abs", "xla-cpu")
    assert found.verdict == "suspicious" and not found.is_explained
    assert "suspicious: stablehlo.abs" in str(found)


LARGEST = """func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  return %0 : tensor<1xf32> }"""


def test_zeros_of_other_sign_are_other_operands() -> None:
    flat = Flat(sr.load(LARGEST))
    evaluate, init = Evaluator(flat), np.array(-np.inf)
    found = [evaluate(flat.ops[-1], [np.array([zero]), init], wide=True) for zero in (0.0, -0.0)]
    assert [np.signbit(results[0]).item() for results in found if results] == [False, True]


@pytest.mark.parametrize(
    "op", ["chlo.erf", "chlo.tan", "chlo.acos", "chlo.lgamma", "stablehlo.tan", "stablehlo.logistic"]
)
def test_every_function_rounds_at_random(op: str) -> None:
    type = "tensor<64xf32>"
    program = sr.load(f"""func.func @main(%x: {type}) -> {type} {{
      %0 = {op} %x : {f"{type} -> {type}" if op.startswith("chlo") else type}
      return %0 : {type} }}""")
    x = [np.linspace(0.1, 0.9, 64, dtype=np.float32)]
    ours = program.run(*x)
    (found,) = sensitivities(program, x, ours, ours, contract_of("strict"))
    assert found.noise > 1e-9


@pytest.mark.parametrize("types", ["bf16 f32", "f16 f32", "f32 f64", "f16 f16", "f8E5M2 f32"])
def test_conversions_to_types_that_have_all_numbers_do_not_round(types: str) -> None:
    assert not np.any(radius_of_conversion(*types.split()))


@pytest.mark.parametrize("types", ["f64 f32", "bf16 f16", "f16 bf16", "f8E5M2 f8E4M3FN", "i32 f32"])
def test_conversions_to_other_types_round(types: str) -> None:
    assert np.all(radius_of_conversion(*types.split()) > 0)


def radius_of_conversion(source: str, target: str) -> np.ndarray:
    """Return the bound on the error of 1 where it is converted."""
    program = sr.load(f"""func.func @main(%x: tensor<1x{source}>) -> tensor<1x{target}> {{
      %0 = stablehlo.convert %x : (tensor<1x{source}>) -> tensor<1x{target}>
      return %0 : tensor<1x{target}> }}""")
    flat, x = Flat(program), np.ones(1, program.inputs[0].dtype)
    judge = Judge({flat.arguments[0]: x, flat.outputs[0]: program.run(x)[0]}, contract_of("strict"), Evaluator(flat))
    (bound,) = judge.known_bounds(flat.ops[0]) or ()
    return bound.radius
