"""Count the faults that `conform` finds within the profile `pr`: by rule, in an op, a type, an attribute, a boundary.

    nice python tools/conform_faults.py --faults 500
    nice python tools/conform_faults.py --faults 25 --seed 3

A fault is drawn: an op and an element type of its operands or results, and what is wrong there. The results are changed
always, or at a boundary (an odd dimension, an operand that is the largest number), or an attribute is taken as another
one. It counts if it changes the results of any of some more programs of the op than the profile has. Print what was
missed. Exit with 1 if less than 95 % are found.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from stablehlo_ref.conform import cases
from stablehlo_ref.conform.campaign import PROFILES
from stablehlo_ref.conform.members import neighbours
from stablehlo_ref.conform.verdicts import judge
from stablehlo_ref.debug.contract import contract_of
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.judge import same_bits
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.facts import Arithmetic
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.numerics.dtypes import float_info, kind
from stablehlo_ref.reading.loading import load
from tests.debug.programs import InProcess
from tests.faulty import OpByOp, Uses

LEAST = 0.95
MORE = 12  # programs of an op and a type beyond the profile, in which a fault may have an effect
STRICT = contract_of("strict")
ULPS = 4  # what a function is off by, if it is wrong; 16 times as many in f64, whose functions have no better reference
STEPS = 3  # what quantized numbers are off by, of which one is legal

# --- what is wrong ----------------------------------------------------------------------------------------------------

Change = Callable[[Array], Array]  # of results
Place = Callable[[Array], Array]  # where, by the operand or result that decides


def _increased(x: Array) -> Array:
    if x.dtype == bool:
        return ~x
    one = x.dtype.type(1)
    return np.where(x == x, x + one, one).astype(x.dtype)


def _increased_steps(x: Array) -> Array:
    return (x + np.where(x > 0, -STEPS, STEPS)).astype(x.dtype)


def _off(x: Array) -> Array:
    if kind(x.dtype) != "floating":
        return x
    wide = x.astype(np.float64)
    spacing = np.spacing(np.abs(x)).astype(np.float64)
    return (wide + np.sign(wide) * ULPS * (16 if x.dtype == np.float64 else 1) * spacing).astype(x.dtype)


def _negated(x: Array) -> Array:
    return ~x if x.dtype == bool else (-x).astype(x.dtype)


def _rolled(x: Array) -> Array:
    return np.roll(x.reshape(-1), 1).reshape(x.shape)


def _without_last(x: Array) -> Array:
    found = x.copy()
    found.reshape(-1)[-1:] = _increased(found.reshape(-1)[:1])
    return found


CHANGES: Mapping[str, Change] = {
    "one too many": _increased, "negated": _negated, "elements off by one": _rolled, "last element": _without_last,
    f"off by {ULPS} ULP": _off, f"off by {STEPS} steps": _increased_steps,
}  # fmt: skip
SHAPES: Mapping[str, Callable[[tuple[int, ...]], bool]] = {
    "odd dimension": lambda shape: bool(shape) and shape[-1] % 2 == 1,
    "even dimension": lambda shape: bool(shape) and shape[-1] % 2 == 0,
    "dimension of size 1": lambda shape: 1 in shape,
    "scalar": lambda shape: not shape,
    "three dimensions": lambda shape: len(shape) >= 3,
}
VALUES: Mapping[str, Place] = {  # of operands of elementwise ops
    "zero": lambda x: x == 0,
    "negative": lambda x: x < 0,
    "the largest": lambda x: x == _ends(x.dtype)[1],
    "the smallest": lambda x: x == _ends(x.dtype)[0],
    "NaN": np.isnan,
    "infinity": np.isinf,
    "negative zero": lambda x: (x == 0) & np.signbit(x),
    "subnormal": lambda x: (x != 0) & (np.abs(x.astype(np.float64)) < 2.0 ** float_info(x.dtype).minexp),
}


def _ends(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    values = cases.every_value(dtype) if dtype.itemsize <= 2 else None
    if kind(dtype) == "floating":
        return float_info(dtype).min, float_info(dtype).max
    if values is not None:
        return values.min(), values.max()
    return np.iinfo(dtype).min, np.iinfo(dtype).max


@dataclass(frozen=True)
class Fault:
    """What is wrong in an op on an element type: the change, and the boundary or the attribute."""

    op: str
    element: str
    rule: str  # "type", "shape", "value" or "attribute"
    where: str  # the boundary, or the attribute
    change: str

    def __str__(self) -> str:
        return " ".join(filter(None, (self.op, self.element, self.rule, self.where, self.change)))


class Injected(OpByOp):
    """This interpreter with a fault."""

    def __init__(self, fault: Fault) -> None:
        self.name, self.fault = str(fault), fault

    def run(self, program: str, inputs: Sequence[Any]) -> list[Any]:
        try:
            return super().run(program, inputs)
        except Exception:  # not a list of ops on tensors: then without the fault
            return list(load(program).run(*inputs))

    def changed(
        self, op: Operation, known: Mapping[Value, Array], results: Sequence[Array], evaluate: Evaluator, uses: Uses
    ) -> Sequence[Array]:
        fault = self.fault
        if op.name != fault.op or not any(cases.has_elements(v.type, fault.element) for v in cases.data_of(op)):
            return results
        if fault.rule == "attribute":
            return next(self._with_others(op, list(known.values()), results, evaluate), results)
        first = np.asarray(results[0])
        with np.errstate(all="ignore"):
            changed = CHANGES[fault.change](first)
            if fault.rule == "shape" and not SHAPES[fault.where](first.shape):
                return results
            if fault.rule == "value":
                operand = known.get(op.operands[0])
                if operand is None or operand.shape != first.shape:
                    return results
                changed = np.where(VALUES[fault.where](operand), changed, first)
        return [changed.astype(first.dtype), *results[1:]]

    def _with_others(
        self, op: Operation, arrays: list[Array], results: Sequence[Array], evaluate: Evaluator
    ) -> Iterator[Sequence[Array]]:
        """Yield the results with other values of an attribute: the default, or one step away."""
        member = REGISTRY[op.name].attributes[self.fault.where]
        value = op.properties.get(member.name, member.default)
        for other in (member.default, *neighbours(member, value)):
            if other == value or type(other) is not type(value):
                continue
            made = copy(op)
            made.properties = {**op.properties, member.name: other}
            try:
                found = evaluate(made, arrays)
            except Exception:  # such a value is not valid
                continue
            if found is not None and [(x.shape, x.dtype) for x in found] == [
                (np.shape(x), np.asarray(x).dtype) for x in results
            ]:
                yield found


# --- drawing ----------------------------------------------------------------------------------------------------------


def _ops() -> list[str]:
    """Return the ops that may have faults: those whose results are computed from operands, in one process."""
    left = (Arithmetic.OPEN, Arithmetic.CALLS)
    found = [(name, getattr(REGISTRY[name], "facts", None)) for name in cases.names_of_ops()]
    return [
        name
        for name, facts in found
        if facts is not None and facts.arithmetic not in left and not cases.runs_in_grid(name) and not facts.constant
    ]


def drawn(seed: int) -> Iterator[Fault]:
    """Yield different faults without end: of each rule in turn."""
    rng, ops, seen = Random(seed), _ops(), set[Fault]()
    while True:
        for rule in ("type", "attribute", "shape", "value"):
            fault = _drawn(rng, rule, rng.choice(ops))
            if fault is not None and fault not in seen:
                seen.add(fault)
                yield fault


def _drawn(rng: Random, rule: str, op: str) -> Fault | None:
    definition = REGISTRY[op]
    elements = [name for name in cases.ELEMENTS if cases.takes(definition, cases.ELEMENTS[name])]
    if not elements:
        return None
    element, change = rng.choice(elements), rng.choice(list(CHANGES)[:5])
    if change == f"off by {ULPS} ULP" and element not in ("f32", "f64", "bf16", "f16"):
        change = "one too many"
    if change == "one too many" and element.startswith("quant"):
        change = f"off by {STEPS} steps"
    if rule == "attribute":
        names = [name for name, member in definition.attributes.items()]
        return Fault(op, element, rule, rng.choice(names), "") if names else None
    if rule == "shape":
        return Fault(op, element, rule, rng.choice(list(SHAPES)), change)
    if rule == "value":
        known = list(VALUES)[: 8 if element[0] in "fb" else 4]
        is_real = definition.traits.elementwise and element[0] in "fbiu" and element != "i1"
        return Fault(op, element, rule, rng.choice(known), "one too many") if is_real else None
    return Fault(op, element, rule, "", change)


# --- finding ----------------------------------------------------------------------------------------------------------


@cache
def _names(op: str, element: str) -> list[str]:
    """Return the cases of the profile that have an op on an element type, besides chains."""
    names = [name.split("/") for name in PROFILES["pr"].names([op])]
    kinds = ("op", "exhaustive", "dynamic")
    return ["/".join(name) for name in names if name[0] in kinds and (name[0] == "dynamic" or name[2] == element)]


def verdict(fault: Fault) -> str:
    """Return "found", "missed" with why, or "" if the fault changes no result."""
    session, judged = InProcess(str(fault), Injected(fault)), ""
    for name in _names(fault.op, fault.element):
        if _changes(name, session):
            record = judge(name, session, STRICT)
            if record.cell.is_bad:
                return "found"
            judged = f"missed: {name} is {record.cell.value} {record.detail}"
    if judged:
        return judged
    more = (f"op/{fault.op}/{fault.element}/{number}" for number in range(1, MORE))
    shows = next((name for name in more if _changes(name, session)), None)
    return f"missed: only {shows} shows it" if shows else ""


def _changes(name: str, session: InProcess) -> bool:
    """Return whether a fault changes the results of a case."""
    made = cases.case(name)
    if made is None or made.needs or not made.expected:
        return False
    outcome = session.run(made.text, made.inputs)
    return outcome.failure != "" or not all(map(same_bits, outcome.results, map(np.asarray, made.expected)))


def measure(count: int, seed: int) -> float:
    """Draw faults until `count` have an effect; print those that are missed; return the share that is found."""
    found: Counter[str] = Counter()
    for fault in drawn(seed):
        if found.total() - found["without effect"] >= count:
            break
        result = verdict(fault)
        found[result.partition(":")[0] or "without effect"] += 1
        if result.startswith("missed"):
            print(f"{fault}: {result}", flush=True)
    share = found["found"] / max(1, found.total() - found["without effect"])
    print(f"{found['found']} of {found['found'] + found['missed']} faults found ({share:.1%}); "
          f"{found['without effect']} others change no result; {time.process_time():.0f} CPU seconds")  # fmt: skip
    return share


def main() -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--faults", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    return int(measure(options.faults, options.seed) < LEAST)


if __name__ == "__main__":
    sys.exit(main())
