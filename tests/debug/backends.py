"""Backends as Python functions, `python:tests.debug.backends:NAME`."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import stablehlo_ref as sr
from stablehlo_ref.debug.backends import open_backend
from stablehlo_ref.debug.cut import BRANCHES, Flat, fed_to
from stablehlo_ref.debug.evaluate import Evaluator


def right(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    return sr.load(program).run(*inputs)


def loud(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    print("compiling")
    return right(program, inputs)


def refuses(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    raise NotImplementedError("no such op")


def dies(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    os.write(2, b"assertion failed\n")
    os.abort()


def hangs(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    time.sleep(100)
    return ()


def starts_a_process(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Hang in a process of its own, whose id is in the file that STABLEHLO_REF_TEST_FILE names."""
    with subprocess.Popen(["sh", "-c", 'echo $$ > "$STABLEHLO_REF_TEST_FILE"; sleep 100']) as process:
        process.wait()
    return ()


def closes_its_pipes(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    os.closerange(3, 256)
    return hangs(program, inputs)


def objects(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    return [object()]


def greedy(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    return [np.ones(1 << 34, np.uint8)]


def scalar(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    return [np.float32(0) for _ in sr.load(program).outputs]


def random(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    return [np.asarray(np.random.random(), np.float32) + result for result in right(program, inputs)]


def fma(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Compute `x * y + z` with one rounding, whatever else is an output."""
    x, y, z = (array.astype(np.float64) for array in inputs) if len(inputs) == 3 else (*inputs, 0)
    once = (x * y + z).astype(np.float32)
    products = {"%0": (x * y).astype(np.float32), "%1": once}
    returned = program.split("return ")[-1].split(":")[0]
    return [products[name.strip()] for name in returned.split(",")]


def multiplies_unrounded(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Return the rounded values of `x * x` and `x * x * y`, the second computed from the unrounded first."""
    x, y = (array.astype(np.float64) for array in inputs)
    with np.errstate(over="ignore"):
        values = {"%0": (x * x).astype(np.float16), "%1": (x * x * y).astype(np.float16)}
    returned = program.split("return ")[-1].split(":")[0]
    return [values[name.strip()] for name in returned.split(",")]


def no_slices(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    if "stablehlo.slice" in program:
        raise NotImplementedError(f"slice of value %{program.count('=')} is not supported")
    return right(program, inputs)


def tanh_off(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Compute sines instead of hyperbolic tangents."""
    return right(program.replace("stablehlo.tanh", "stablehlo.sine"), inputs)


def negated_tanh(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Negate instead of computing hyperbolic tangents."""
    return right(program.replace("stablehlo.tanh", "stablehlo.negate"), inputs)


def noisy_tanh(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Compute sines and cosines by turns instead of hyperbolic tangents."""
    noisy_tanh.calls += 1  # type: ignore[attr-defined]
    name = ("sine", "cosine")[noisy_tanh.calls % 2]  # type: ignore[attr-defined]
    return right(program.replace("stablehlo.tanh", f"stablehlo.{name}"), inputs)


noisy_tanh.calls = 0  # type: ignore[attr-defined]


def wrong_unless(program: str, inputs: Sequence[Any], setting: Any = None) -> Sequence[Any]:
    """Compute sines instead of hyperbolic tangents unless the pass "fuse" is turned off."""
    is_right = setting is not None and "fuse" in setting[1]
    return right(program, inputs) if is_right else tanh_off(program, inputs)


wrong_unless.switches = {  # type: ignore[attr-defined]
    "level=0": ("level", "0"),
    "without": ["fold", "fuse", "sink", "hoist"],
}


def no_tanh_then_slice(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    if "stablehlo.tanh" in program and "stablehlo.slice" in program:
        raise NotImplementedError("cannot fuse")
    return right(program, inputs)


def overflowing(program: str, inputs: Sequence[Any]) -> list[Any]:
    """Runs op by op, with an `exponential` of f32 that overflows at 10."""
    flat = Flat(sr.load(program))
    values, evaluate = dict(zip(flat.arguments, inputs)), Evaluator(flat)
    for op in flat.ops:
        results = evaluate(op, [values[value] for value in fed_to(op)])
        assert results is not None
        if op.name == "stablehlo.exponential":
            results = [np.where(values[op.operands[0]] > 10, np.float32(np.inf), results[0])]
        values.update(zip(op.results, results))
    return [values[value] for value in flat.outputs]


def two_outputs_at_most(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Refuse more than two outputs; compute sines instead of hyperbolic tangents."""
    if len(sr.load(program).outputs) > 2:
        raise NotImplementedError("too many outputs")
    return tanh_off(program, inputs)


def loops_early(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Run the bodies of loops once less than they should, in programs that have one."""
    return _with_loops(program, inputs, lambda states: states[-2] if len(states) > 1 else states[-1])


def loops_stale(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Return the last carry of a loop as it was before the last turn."""
    return _with_loops(program, inputs, lambda states: (*states[-1][:-1], states[max(len(states) - 2, 0)][-1]))


def loops_permuted(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Swap the last two carries of a loop, which have the same type."""
    return _with_loops(program, inputs, lambda states: (*states[-1][:-2], states[-1][-1], states[-1][-2]))


def other_branch(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Take the next branch of a conditional."""
    flat, values, evaluate = _opened(program, inputs)
    for op in flat.ops:
        known = dict(values)
        if op.name in BRANCHES:
            index = known[op.operands[0]]
            known[op.operands[0]] = ~index if index.dtype == bool else (index + 1) % len(op.regions)
        values.update(zip(op.results, _run(op, known, evaluate)))
    return [values[value] for value in flat.outputs]


def _with_loops(program: str, inputs: Sequence[Any], chosen: Callable[[list[Any]], Any]) -> Sequence[Any]:
    flat, values, evaluate = _opened(program, inputs)
    for op in flat.ops:
        if op.name != "stablehlo.while":
            values.update(zip(op.results, _run(op, values, evaluate)))
            continue
        states = [[evaluate.value(v, values) for v in op.operands]]
        while _block(op.regions[0].block, states[-1], values, evaluate)[0]:
            states.append(_block(op.regions[1].block, states[-1], values, evaluate))
        values.update(zip(op.results, chosen(states)))
    return [evaluate.value(value, values) for value in flat.outputs]


def _opened(program: str, inputs: Sequence[Any]) -> tuple[Flat, dict[Any, Any], Evaluator]:
    flat = Flat(sr.load(program))
    return flat, dict(zip(flat.arguments, inputs)), Evaluator(flat)


def _run(op: Any, values: Any, evaluate: Evaluator) -> list[Any]:
    results = evaluate(op, [evaluate.value(value, values) for value in fed_to(op)])
    assert results is not None
    return results


def _block(block: Any, state: Any, values: Any, evaluate: Evaluator) -> list[Any]:
    known = {**values, **dict(zip(block.arguments, state))}
    *ops, terminator = block.operations
    for op in ops:
        known.update(zip(op.results, _run(op, known, evaluate)))
    return [evaluate.value(value, known) for value in terminator.operands]


def half_of_custom_calls(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Halve the first result of each custom call."""
    return _scaled(program, inputs, "stablehlo.custom_call", 0.5)


def doubled_outputs(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Double the first output of programs of at least three ops, whose intermediate values are all right."""
    results = list(right(program, inputs))
    if len(Flat(sr.load(program)).ops) >= 3:
        results[0] = results[0] + results[0]
    return results


def one_output(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Refuse more than one output; double the output of programs of at least three ops."""
    if len(sr.load(program).outputs) > 1:
        raise NotImplementedError("too many outputs")
    return doubled_outputs(program, inputs)


def _scaled(program: str, inputs: Sequence[Any], name: str, factor: float) -> Sequence[Any]:
    flat, values, evaluate = _opened(program, inputs)
    for op in flat.ops:
        results = _run(op, values, evaluate)
        if op.name == name:
            results[0] = (results[0] * factor).astype(results[0].dtype)
        values.update(zip(op.results, results))
    return [evaluate.value(value, values) for value in flat.outputs]


def rounds_at_random(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Return another neighbour of the right results by turns."""
    rounds_at_random.calls += 1  # type: ignore[attr-defined]
    toward = (np.inf, -np.inf)[rounds_at_random.calls % 2]  # type: ignore[attr-defined]
    return [np.nextafter(x, np.float32(toward)) if x.dtype == np.float32 else x for x in right(program, inputs)]


rounds_at_random.calls = 0  # type: ignore[attr-defined]


def no_reverse(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Draw other random numbers, and reverse nothing."""
    flat, values, evaluate = _opened(program, inputs)
    for op in flat.ops:
        results = _run(op, values, evaluate)
        if op.name == "stablehlo.rng_bit_generator":
            results = [x + x.dtype.type(1) for x in results]
        if op.name == "stablehlo.reverse":
            results = [values[op.operands[0]]]
        values.update(zip(op.results, results))
    return [evaluate.value(value, values) for value in flat.outputs]


def _refuse_many(program: str, most: int) -> None:
    if len(sr.load(program).outputs) > most:
        raise NotImplementedError("too many outputs")


def vectors_only(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Refuse outputs that are not vectors; compute sines instead of hyperbolic tangents."""
    if any(len(output.shape) != 1 for output in sr.load(program).outputs):
        raise NotImplementedError("only vectors are returned")
    return tanh_off(program, inputs)


def one_output_of_iota(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Refuse more than one output; count from one."""
    _refuse_many(program, 1)
    flat, values, evaluate = _opened(program, inputs)
    for op in flat.ops:
        results = _run(op, values, evaluate)
        values.update(zip(op.results, [x + x.dtype.type(op.name == "stablehlo.iota") for x in results]))
    return [evaluate.value(value, values) for value in flat.outputs]


def one_output_of_fused(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Refuse more than one output; scale sums of what is not an output."""
    _refuse_many(program, 1)
    return open_backend("python:tests.faulty:unobserved-scaled:stablehlo.add").run(program, inputs)


def wrong_index_alone(program: str, inputs: Sequence[Any]) -> Sequence[Any]:
    """Return the index after that of the largest element, unless the largest element is an output too."""
    results = right(program, inputs)
    is_alone = "stablehlo.reduce" in program and not any(x.dtype == np.float32 for x in results)
    return [x + 1 for x in results] if is_alone else results
