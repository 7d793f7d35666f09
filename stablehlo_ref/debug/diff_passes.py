"""Which pass is wrong? Run the program after each pass of a pipeline on the same inputs, and compare neighbours.

A program whose text is that of the one before is not run again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import filterfalse
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.interop import to_arrays
from stablehlo_ref.arrays.random_values import random_array
from stablehlo_ref.debug.contract import Contract, contract_of
from stablehlo_ref.debug.cut import Flat
from stablehlo_ref.debug.evaluate import Evaluator, all_values, distance, same_bits
from stablehlo_ref.debug.explain import beyond, sensitivities
from stablehlo_ref.debug.judge import Judge
from stablehlo_ref.debug.pass_dumps import Stage, is_partial, stages_of
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError, LimitError, StablehloError, UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Region, Value, symbol_name
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.limits import Limits, check_positive
from stablehlo_ref.limits.budget import limited
from stablehlo_ref.numerics.dtypes import bit_width, kind, numpy_dtype
from stablehlo_ref.passes.analysis import operation_key
from stablehlo_ref.program import Program
from stablehlo_ref.reading.inputs import check_size
from stablehlo_ref.text.tokens import counted

SAME_TEXT, SAME, LEGAL, WRONG, SKIPPED = "same text", "same", "not wrong", "wrong", "skipped"
TRIALS = 5  # draws of inputs
MAX_SECONDS = 120.0  # of the run of one program: a wrong one may never end
WAYS = "usual", "whole", "large", "equal", "positive"  # small whole numbers are equal here and there, and valid indices
NEAR = 1e-3  # the relative norm up to which a new op is taken to compute a value that there was before

Draw: TypeAlias = Callable[[Program], Sequence[Any]]


@dataclass(frozen=True)
class Checked:
    """What is known of one pass: "same text", "same", "not wrong", "wrong" or "skipped", and why."""

    name: str
    place: str
    verdict: str
    reasons: tuple[str, ...] = ()


@dataclass
class PassDiff:
    """What `diff_passes` found. `checked` are the passes up to the first that is wrong."""

    contract: str
    checked: list[Checked] = field(default_factory=list)
    passes: int = 0
    runs: int = 0

    @property
    def first_wrong(self) -> Checked | None:
        """The first pass whose output means something else; None if there is none."""
        return next((stage for stage in self.checked if stage.verdict == WRONG), None)

    def to_json(self) -> str:
        """Return all of the result in one line of JSON; docs/reference/json.md describes it."""
        wrong = self.first_wrong
        document = {"schema": 1, **asdict(self), "first_wrong": wrong and wrong.name}
        return json.dumps(document, allow_nan=False)

    def __str__(self) -> str:
        skipped = (stage for stage in self.checked if stage.verdict == SKIPPED)
        lines = [f"{stage.place}: {stage.name}: skipped: {stage.reasons[0]}" for stage in skipped]
        if wrong := self.first_wrong:
            lines.append(f"{wrong.place}: {wrong.name} changes what the program means, under {self.contract}")
            lines += [f"  {reason}" for reason in wrong.reasons]
        else:
            lines.append(f"no pass of {self.passes} changes what the program means, under {self.contract}")
        same = sum(stage.verdict == SAME_TEXT for stage in self.checked)
        lines.append(f"{counted(self.runs, 'program')} run; {same} not run again, as their text is the same")
        return "\n".join(lines)


@checks_arguments
def diff_passes(
    source: str | Path,
    inputs: Sequence[Any] | None = None,
    contract: str | Contract = "xla-cpu",
    *,
    seed: int = 0,
    trials: int = TRIALS,
    only: str = "*",
    entry: str | None = None,
    bisect: bool = False,
    limits: Limits | None = None,
) -> PassDiff:
    """Return the first pass whose output means something else, and what it changed.

    `source` is a folder, or a file with the program after each pass. `only` selects files of a folder. Without `inputs`
    they are drawn from `seed`, `trials` times, each time of another kind (`WAYS`).
    Outputs are judged by the contract, as the program before would be by `diff`.
    With `bisect` few programs are run, and the pass found makes the output wrong, but may not be the first. Each run is
    within `limits`, by default of `MAX_SECONDS`. EvaluationError if no two programs can be compared.
    """
    check_positive("trials", trials)
    rules = contract_of(contract)
    draws: list[Draw] = draws_from(seed, trials) if inputs is None else [lambda _: inputs]
    return diff_stages(stages_of(Path(source), only), rules, draws, entry, bisect, limits)


def diff_stages(
    stages: Sequence[Stage], contract: Contract, draws: Sequence[Draw], entry: str | None, bisect: bool,
    limits: Limits | None,
) -> PassDiff:  # fmt: skip
    """Return what `diff_passes` does for programs; each of `draws` returns inputs, given the first program.

    Of the passes that are wrong on some inputs it is the first.
    """
    limits = limits or Limits(max_seconds=MAX_SECONDS)
    parsed: dict[Stage, Program | StablehloError] = {}
    found, runs = None, 0
    for draw in draws:
        trial = _Search(stages, contract, draw, entry, limits, parsed).run(bisect)
        runs += trial.runs
        if found is None or trial.first_wrong:
            found = trial
        if trial.first_wrong:  # a pass before it may be wrong on other inputs
            names = [(stage.name, stage.place) for stage in stages]
            stages = stages[: names.index((trial.first_wrong.name, trial.first_wrong.place))]
        if len(stages) < 2:
            break
    assert found is not None
    found.runs = runs
    return found


def draws_from(seed: int, trials: int = TRIALS) -> list[Draw]:
    """Return functions that draw inputs of a program at random, each of another kind."""
    return [partial(drawn, seed, trial=trial) for trial in range(trials)]


# --- the search -------------------------------------------------------------------------------------------------------


class _Ran(NamedTuple):
    """A program that ran."""

    stage: Stage
    program: Program
    outputs: list[Array]


class _Search:
    def __init__(
        self, stages: Sequence[Stage], contract: Contract, draw: Draw, entry: str | None, limits: Limits,
        parsed: dict[Stage, Program | StablehloError],
    ) -> None:  # fmt: skip
        self.limits = limits
        self.stages = stages
        self.contract = contract
        self.draw = draw
        self.entry = entry
        self.inputs: list[Array] | None = None
        self.found = PassDiff(contract.name, passes=len(stages))
        self.ran: dict[Stage, _Ran | None] = {}
        self.failed: dict[Stage, str] = {}  # why the run of a program failed
        self.by_text: dict[str, tuple[Program, list[Array]]] = {}
        self.parsed = parsed  # shared by searches on other inputs

    def run(self, bisect: bool) -> PassDiff:
        (self._bisect if bisect else self._in_order)()
        if all(stage.verdict == SKIPPED for stage in self.found.checked):
            reasons = [r for stage in self.found.checked for r in stage.reasons]
            raise EvaluationError("no two programs can be compared", notes=reasons[:8])
        return self.found

    def _in_order(self) -> None:
        before: _Ran | None = None
        for stage in self.stages:
            after = self._after(stage)
            if after is not None and before is not None and self._compare(before, after) == WRONG:
                return
            if before is not None and stage in self.failed:
                self.found.checked.pop()
                reason = f"its run fails, unlike that of the program before: {self.failed[stage]}"
                self._note(stage, WRONG, [reason, changed_op(before.program, self._whole(stage), None)])
                return
            before = after or before

    def _bisect(self) -> None:
        """Find neighbours of which the second differs from the first program and the first does not."""
        ends = self.stages, self.stages[::-1]
        first, bad = (next(filter(None, map(self._after, stages)), None) for stages in ends)
        if first is None or bad is None or first is bad:
            return
        good, index = first, self.stages.index
        inner = range(index(first.stage) + 1, index(bad.stage)) if self._reasons(first, bad) else range(0)
        while inner:
            nearest = sorted(inner, key=lambda i: abs(2 * i + 1 - inner.start - inner.stop))
            middle = next(filter(None, (self._after(self.stages[i]) for i in nearest)), None)
            if middle is None:
                break
            if self._reasons(first, middle):
                bad, inner = middle, range(inner.start, index(middle.stage))
            else:
                good, inner = middle, range(index(middle.stage) + 1, inner.stop)
        self._compare(good, bad)

    # --- one program --------------------------------------------------------------------------------------------

    def _after(self, stage: Stage) -> _Ran | None:
        """Return the program of a stage with its outputs; None, and note why, if it cannot be read or run."""
        if stage not in self.ran:
            self.ran[stage] = self._run(stage)
        return self.ran[stage]

    def _run(self, stage: Stage) -> _Ran | None:
        try:
            with limited(self.limits):
                program = self._whole(stage).verify()
            program.limits = self.limits
        except StablehloError as error:
            self._skip(stage, error)
            return None
        if self.inputs is None:
            self.inputs = to_arrays(self.draw(program))
        text = str(program)
        try:
            if text not in self.by_text:
                self.by_text[text] = program, self._outputs(program, self.inputs)
                self.found.runs += 1
        except StablehloError as error:
            reason = self._skip(stage, error)
            if isinstance(error, EvaluationError) and not isinstance(error, LimitError):
                self.failed[stage] = reason
            return None
        return _Ran(stage, *self.by_text[text])

    def _skip(self, stage: Stage, error: StablehloError) -> str:
        """Note why a program is not compared, and return it."""
        diagnostic = error.diagnostics[0]
        reason = diagnostic.message + (f" ({diagnostic.location})" if diagnostic.location else "")
        self._note(stage, SKIPPED, [reason])
        return reason

    def _parsed(self, stage: Stage) -> Program | StablehloError:
        """Return what a stage has, or why it cannot be read."""
        if stage not in self.parsed:
            try:
                with limited(self.limits):
                    self.parsed[stage] = stage.read(self.entry)
            except StablehloError as error:
                self.parsed[stage] = error
        return self.parsed[stage]

    def _whole(self, stage: Stage) -> Program:
        """Return the program of a stage; if a pass printed one function, with the others as they were printed last.

        Functions that were not printed yet are as they were printed first.
        """
        program = self._parsed(stage)
        if isinstance(program, StablehloError):
            raise program
        if not is_partial(stage.text):
            return program
        at = self.stages.index(stage)
        functions: dict[str | None, Operation] = {}
        for other in (*self.stages[at - 1 :: -1][:at], *self.stages[at + 1 :]):
            if isinstance(found := self._parsed(other), Program):
                for op in found.module.regions[0].block.operations:
                    functions.setdefault(symbol_name(op), op)
                if not is_partial(other.text):
                    break
        functions |= {symbol_name(op): op for op in program.module.regions[0].block.operations}
        ops = [clone(functions[name], {}) for name in sorted(functions, key=str)]
        region = Region([Block([], ops)])
        return Program(Operation("builtin.module", [], [], {}, {}, [region], program.module.location), self.entry)

    def _outputs(self, program: Program, inputs: Sequence[Array]) -> list[Array]:
        types = [(x.shape, x.dtype) for x in inputs]
        taken = [(p.type.shape, p.dtype) if isinstance(p.type, TensorType) else None for p in program.inputs]
        if types != taken and all(t is None or None not in t[0] for t in taken):
            raise UnsupportedError(f"it takes other inputs: {', '.join(map(repr, program.inputs)) or 'none'}")
        return [np.asarray(array) for array in program.run(*inputs)]

    # --- two programs -------------------------------------------------------------------------------------------

    def _compare(self, before: _Ran, after: _Ran) -> str:
        """Note what a pass did, and return the verdict."""
        if before.program is after.program:
            return self._note(after.stage, SAME_TEXT)
        reasons = self._reasons(before, after)
        if reasons:
            changed = changed_op(before.program, after.program, self.inputs or [])
            return self._note(after.stage, WRONG, [*reasons, changed])
        same = all(map(same_bits, after.outputs, before.outputs))
        return self._note(after.stage, SAME if same else LEGAL)

    def _reasons(self, before: _Ran, after: _Ran) -> list[str]:
        return differences(before.program, self.inputs or [], before.outputs, after.outputs, self.contract)

    def _note(self, stage: Stage, verdict: str, reasons: Sequence[str] = ()) -> str:
        self.found.checked.append(Checked(stage.name, stage.place, verdict, tuple(reasons)))
        return verdict


def drawn(seed: int, program: Program, trial: int = 0) -> list[Array]:
    """Return random inputs, of the kind of a trial; EvaluationError for one that is no static tensor or too large."""
    if seed < 0:
        raise ArgumentValueError(f"seed must not be negative, got {seed}")
    generator = np.random.default_rng(seed + trial)
    made = []
    for parameter in program.inputs:
        type = parameter.type
        if not isinstance(type, TensorType) or not type.is_static:
            raise EvaluationError(f"the input '{parameter.name}' of type {type} cannot be drawn", parameter.location)
        dtype, shape = numpy_dtype(type.element_type), cast("tuple[int, ...]", type.shape)
        check_size(parameter, type, dtype.itemsize, program.limits)
        made.append(_varied(random_array(generator, dtype, shape), generator, WAYS[trial % len(WAYS)]))
    return made


def _varied(array: Array, generator: np.random.Generator, way: str) -> Array:
    """Return random numbers, given usual ones, of another kind, in which other faults show."""
    of = kind(array.dtype)
    if way == "usual" or of == "boolean" or (of == "integer" and bit_width(array.dtype) < 8) or not array.size:
        return array
    if way == "equal":
        return np.full_like(array, array.flat[0])
    if of != "integer":
        with np.errstate(all="ignore"):
            factor = np.array({"whole": 1, "large": 8, "positive": 8}[way], array.dtype)
            made = np.rint(array) if way == "whole" else array * factor
            return np.abs(made).astype(array.dtype) if way == "positive" else made.astype(array.dtype)
    if way == "whole":
        return np.asarray(array % np.array(2, array.dtype))
    bits = np.frombuffer(generator.bytes(array.nbytes), array.dtype).reshape(array.shape)
    return np.asarray(bits & np.array(np.iinfo(array.dtype).max >> 1, array.dtype)) if way == "positive" else bits


# --- what differs -----------------------------------------------------------------------------------------------------


def differences(
    program: Program, inputs: Sequence[Array], ours: Sequence[Array], theirs: Sequence[Array], contract: Contract,
    trusts_noise: bool = True,
) -> list[str]:  # fmt: skip
    """Return how the outputs of another program mean something else than a program's; none if rounding explains them.

    Rounding explains them if they are within the bounds of the whole program. Where there is no bound, or with
    `trusts_noise`, it also does if random rounding of its ops moves them as far.
    """
    if len(ours) != len(theirs):
        return [f"expected {counted(len(ours), 'output')}, got {len(theirs)}"]
    types = [(x.shape, x.dtype) != (y.shape, y.dtype) for x, y in zip(ours, theirs)]
    if any(types):
        index = types.index(True)
        x, y = ours[index], theirs[index]
        return [f"output {index}: expected {x.dtype}{list(x.shape)}, got {y.dtype}{list(y.shape)}"]
    if all(map(same_bits, theirs, ours)):
        return []
    made = sensitivities(program, inputs, ours, theirs, contract) if trusts_noise else []
    explained = {s.output for s in made if s.is_explained}
    flat = Flat(program)
    judge = Judge(all_values(flat, inputs), contract, Evaluator(flat))
    found = beyond(inputs, theirs, ours, judge, [], explained)
    return [f"{b}; it differs by {distance(theirs[b.output], ours[b.output]):.2g} of its norm" for b in found]


def same_meaning(before: Program, after: Program, seed: int = 0, contract: str = "xla-cpu") -> list[str]:
    """Return how a program means something else than another on random inputs; none if it does not.

    EvaluationError if one of them cannot be run on these inputs.
    """
    for draw in draws_from(seed):
        inputs = draw(before)
        ours, theirs = ([np.asarray(array) for array in program.run(*inputs)] for program in (before, after))
        if reasons := differences(before, inputs, ours, theirs, contract_of(contract)):
            return [*reasons, changed_op(before, after, inputs)]
    return []


def changed_op(before: Program, after: Program, inputs: Sequence[Array] | None) -> str:
    """Return the first op that computes something new from what the program before has too, with its function.

    Ops that compute a value of the program before, in another way, are left out, unless there are no inputs to run.
    """
    old, new = Flat(before), Flat(after)
    of_old, of_new = _keys(old), _keys(new)
    keys = set(of_old.values())
    known = list(all_values(old, inputs).values()) if inputs is not None else []
    values = all_values(new, inputs) if inputs is not None else {}
    candidates = [op for op in new.ops if any(of_new[r] not in keys for r in op.results)]

    def is_known(op: Operation) -> bool:
        results = [values[r] for r in op.results if r in values]
        return inputs is not None and all(any(_is_near(result, array) for array in known) for result in results)

    if candidates:
        return f"first op that is new: {_described(after, next(filterfalse(is_known, candidates), candidates[0]))}"
    changed = (i for i, (x, y) in enumerate(zip(old.outputs, new.outputs)) if of_old[x] != of_new[y])
    index = next(changed, None)
    if index is None:
        return "no op is new, and the same values are returned"
    maker = old.outputs[index].owner
    gone = f"; that of the program before was from {_described(before, maker)}" if isinstance(maker, Operation) else ""
    return f"no op is new: @{after.entry.name} returns another value as output {index}{gone}"


def _is_near(x: Array, y: Array) -> bool:
    return x.shape == y.shape and x.dtype == y.dtype and (same_bits(x, y) or distance(x, y) <= NEAR)


def _keys(flat: Flat) -> dict[Value, Hashable]:
    """Return a key for each value that says how it is computed from the inputs."""
    keys: dict[Value, Hashable] = {value: ("input", i) for i, value in enumerate(flat.arguments)}
    for op in flat.ops:
        plain = clone(op, {})
        for inner in plain.walk():
            inner.attributes.clear()  # layouts, names and the like
        key = hash(operation_key(plain, keys))
        keys.update((result, (key, index)) for index, result in enumerate(op.results))
    return keys


def _described(program: Program, op: Operation) -> str:
    """Return an op with its place and its function."""
    function = next(
        (symbol_name(f) for f in program.module.walk() if f.name == "func.func"
         for inner in f.walk() if inner.location.offset == op.location.offset and inner.name == op.name),
        None,
    )  # fmt: skip
    result = f"{op.results[0].origin} = " if op.results else ""
    return f"{op.location}: {result}{op.name} in @{function}"
