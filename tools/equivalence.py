"""Measure whether `equivalent` tells right rewrites from wrong ones: programs after passes, and mutants of these.

    nice python tools/equivalence.py [--sample N] [--seed N] [--out FILE] [FILE.mlir ...]

Each function of the files is compared with what passes make of it, which must not be refuted, and with mutants of that.
A mutant that is not refuted is printed with the programs: it may compute the same. Exit with 1 if a right rewrite is
refuted, or if fewer than 95 of 100 mutants are; those of which all inputs show that they are right are not counted.
Without files these are tests of StableHLO's passes.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import stablehlo_ref as sr  # noqa: E402
from stablehlo_ref.conform.equivalent import CONTRACT, Equivalence, equivalent  # noqa: E402
from stablehlo_ref.diagnostics import split_text  # noqa: E402
from stablehlo_ref.ir.attributes import DenseElements  # noqa: E402
from stablehlo_ref.ir.core import Operation  # noqa: E402
from stablehlo_ref.ir.rewrite import clone  # noqa: E402
from stablehlo_ref.passes.catalog import PASSES  # noqa: E402
from stablehlo_ref.program import Program  # noqa: E402

UPSTREAM = Path(os.environ.get("STABLEHLO_REF_SHARED", ROOT.parent / "shared")) / "upstream"
FILES = (
    "transforms/stablehlo_aggressive_simplification.mlir",
    "transforms/stablehlo_aggressive_folder.mlir",
    "transforms/stablehlo_target_independent_optimization.mlir",
    "transforms/stablehlo_canonicalize_dynamism.mlir",
    "transforms/stablehlo_legalize_deprecated_ops.mlir",
    "transforms/stablehlo_compatibility_expander.mlir",
    "verify/canonicalize.mlir",
    "chlo/chlo_legalize_to_stablehlo.mlir",
)
REWRITES = (
    "canonicalize", "cse", "sccp", "stablehlo-aggressive-folder", "stablehlo-aggressive-simplification",
    "stablehlo-target-independent-optimization", "chlo-legalize-to-stablehlo", "stablehlo-complex-math-expander",
    "stablehlo-canonicalize-dynamism", "stablehlo-legalize-deprecated-ops",
)  # fmt: skip
# What these passes make of a function is an approximation of it.
APPROXIMATE = {"chlo-legalize-to-stablehlo": "strict,signed_zeros=false,elementary_ulps=64"}
# Rewrites that are right for some inputs only.
CONDITIONAL = {
    "dynamic_broadcast_in_dim_all_dims_non_expanding": "the op promises that the size does not change",
    "dynamic_broadcast_in_dim_noop_convert_sharding": "the op promises that the size does not change",
    "ragged_dot": "sizes of groups are not negative, and their sum is at most the dimension",
    "digamma_f": "the approximation is NaN at the pole at -0",
    "erfc_f64": "the approximation has no subnormal results",
    "polygamma_f": "the approximation is NaN at poles, and loses high orders",
    "zeta_f": "the approximation has poles for orders below 1",
}
MUTANTS = 2  # of each pair
REFUTED = 0.95  # of the mutants at least whose search came to an end; among them are some that compute the same
PLAIN = ("stablehlo-aggressive-simplification", "stablehlo-aggressive-folder", "cse", "canonicalize")


@dataclass(frozen=True)
class Pair:
    """A program before and after a rewrite; `mutation` says what was changed after it, "" for a right one."""

    name: str
    rewrite: str
    before: Program
    after: Program
    mutation: str = ""

    @property
    def is_conditional(self) -> bool:
        return any(part in self.name for part in CONDITIONAL)

    def compare(self) -> Equivalence:
        contract = APPROXIMATE.get(self.rewrite, CONTRACT)
        return equivalent(self.before, self.after, seconds=20, contract=contract)


def functions(path: Path) -> Iterator[tuple[str, Program]]:
    """Yield the functions of a file as programs of one function."""
    for line, text in split_text(path.read_text("utf-8")):
        try:
            module = sr.parse(text, allow_unregistered_dialect=True).module
        except sr.StablehloError:
            continue
        for function in module.regions[0].block.operations:
            if function.name != "func.func" or "call" in str({op.name for op in function.walk()}):
                continue
            made = clone(module, {})
            block = made.regions[0].block
            name = function.properties["sym_name"]
            block.operations = [op for op in block.operations if op.properties.get("sym_name") == name]
            block.operations[0].properties = {**block.operations[0].properties, "sym_name": "main"}
            try:
                yield f"{path.stem}:{line}:{name}", Program(made).verify()
            except sr.StablehloError:
                continue


def pairs(files: Sequence[Path]) -> Iterator[Pair]:
    """Yield programs before and after passes that change them, each result once."""
    for path in files:
        for name, before in functions(path):
            seen = {str(before)}
            for rewrite in (r for r in REWRITES if r in PASSES):
                try:
                    after = before.transform(rewrite)
                except sr.StablehloError:
                    continue
                if str(after) not in seen:
                    seen.add(str(after))
                    yield Pair(name, rewrite, before, after)


# --- mutants ----------------------------------------------------------------------------------------------------------

SWAPS = {
    "add": "subtract", "subtract": "add", "multiply": "add", "divide": "multiply", "maximum": "minimum",
    "minimum": "maximum", "and": "or", "or": "and", "xor": "or", "floor": "ceil", "ceil": "floor", "sine": "cosine",
    "cosine": "sine", "exponential": "exponential_minus_one", "log": "log_plus_one", "sqrt": "cbrt", "abs": "negate",
    "negate": "abs", "shift_left": "shift_right_logical", "round_nearest_even": "round_nearest_afz",
}  # fmt: skip
ORDERED = ("subtract", "divide", "remainder", "power", "atan2", "shift_left", "complex", "compare", "concatenate")


def swap_operands(op: Operation, rng: random.Random) -> str:
    name = op.name.partition(".")[2]
    neighbours = [i for i, (x, y) in enumerate(zip(op.operands, op.operands[1:])) if x.type == y.type and x is not y]
    if not neighbours or not (name in ORDERED or len(op.operands) > 2):
        return ""
    if name == "compare" and op.properties["comparison_direction"].name in ("EQ", "NE"):
        return ""
    at = rng.choice(neighbours)
    operands = list(op.operands)
    operands[at], operands[at + 1] = operands[at + 1], operands[at]
    op.operands = operands
    return f"swap operands {at} and {at + 1} of {op.name}"


def change_op(op: Operation, rng: random.Random) -> str:
    dialect, _, name = op.name.partition(".")
    if dialect != "stablehlo" or name not in SWAPS:
        return ""
    op.name = f"stablehlo.{SWAPS[name]}"
    return f"{name} becomes {SWAPS[name]}"


def change_direction(op: Operation, rng: random.Random) -> str:
    if op.name != "stablehlo.compare":
        return ""
    old = op.properties["comparison_direction"]
    new = rng.choice([d for d in type(old) if d is not old])
    op.properties = {**op.properties, "comparison_direction": new}
    return f"{old.name} becomes {new.name}"


def change_constant(op: Operation, rng: random.Random) -> str:
    value = op.properties.get("value")
    if op.name != "stablehlo.constant" or not isinstance(value, DenseElements) or not value.array.size:
        return ""
    array = np.array(value.array)
    index = np.unravel_index(rng.randrange(array.size), array.shape)
    array[index] = not array[index] if array.dtype == bool else array[index] + np.ones((), array.dtype)
    if array[index] == value.array[index] or array[index] != array[index]:
        return ""
    array.setflags(write=False)
    op.properties = {**op.properties, "value": replace(value, array=array)}
    return f"element {tuple(map(int, index))} of a constant becomes {array[index]}"


def drop_op(op: Operation, rng: random.Random) -> str:
    same = [v for v in op.operands if len(op.results) == 1 and v.type == op.results[0].type]
    if not same or op.name == "stablehlo.optimization_barrier" or op.parent is None:
        return ""
    value = rng.choice(same)
    for user in op.parent.operations:
        for inner in user.walk():
            inner.operands = [value if v is op.results[0] else v for v in inner.operands]
    return f"drop {op.name}"


def move_by_one(op: Operation, rng: random.Random) -> str:
    """Change numbers of slices, pads, iotas, transposes and the like by one."""
    name = op.name.partition(".")[2]
    properties: dict[str, Any] = dict(op.properties)
    if name == "slice" and properties["start_indices"]:
        axis = rng.randrange(len(properties["start_indices"]))
        step = rng.choice((1, -1))
        for key in ("start_indices", "limit_indices"):
            numbers = list(properties[key])
            numbers[axis] += step
            properties[key] = tuple(numbers)
    elif name == "pad" and properties["edge_padding_low"]:
        axis = rng.randrange(len(properties["edge_padding_low"]))
        for key, step in (("edge_padding_low", 1), ("edge_padding_high", -1)):
            numbers = list(properties[key])
            numbers[axis] += step
            properties[key] = tuple(numbers)
    elif name in ("transpose", "reverse", "broadcast_in_dim", "iota"):
        key = {"transpose": "permutation", "reverse": "dimensions", "iota": "iota_dimension"}.get(
            name, "broadcast_dimensions"
        )
        value = properties[key]
        if isinstance(value, int):
            properties[key] = value + 1 if value == 0 else value - 1
        elif len(value) > 1 and name != "reverse":
            properties[key] = (value[1], value[0], *value[2:])
        elif value:
            properties[key] = (value[0] + 1 if value[0] == 0 else value[0] - 1, *value[1:])
        else:
            return ""
    else:
        return ""
    op.properties = properties
    return f"numbers of {op.name} are off by one"


MUTATIONS: tuple[Callable[[Operation, random.Random], str], ...] = (
    swap_operands, change_op, change_direction, change_constant, drop_op, move_by_one,
)  # fmt: skip


def mutants(pair: Pair, rng: random.Random, count: int) -> Iterator[Pair]:
    """Yield mutants of a program after a rewrite that the verifier accepts and that are not the same if simplified."""
    made = {str(program.transform(*PLAIN)) for program in (pair.before, pair.after)}
    for _ in range(20 * count):
        module = clone(pair.after.module, {})
        ops = [op for op in module.walk() if op.name.startswith("stablehlo.") and op.name != "stablehlo.return"]
        mutation = rng.choice(MUTATIONS)(rng.choice(ops), rng) if ops else ""
        if not mutation:
            continue
        try:
            mutant = Program(module).verify()
            plain = mutant.transform(*PLAIN)
        except (sr.StablehloError, AttributeError, TypeError, ValueError):
            continue
        text = str(plain)
        if text not in made:
            made.add(text)
            yield replace(pair, after=mutant, mutation=mutation)
            count -= 1
        if not count:
            return


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE.mlir", type=Path, nargs="*")
    parser.add_argument("--sample", metavar="N", type=int, default=0, help="only N pairs")
    parser.add_argument("--seed", metavar="N", type=int, default=0)
    options = parser.parse_args(arguments)
    files = options.files or [path for name in FILES if (path := UPSTREAM / name).exists()]
    rng = random.Random(options.seed)
    right = [pair for pair in pairs(files) if not pair.is_conditional]
    if options.sample:
        right = rng.sample(right, min(options.sample, len(right)))
    verdicts: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    slowest = 0.0
    for pair in right:
        for trial in (pair, *mutants(pair, rng, MUTANTS)):
            started = monotonic()
            try:
                found = trial.compare()
            except sr.StablehloError as error:
                verdicts[bool(trial.mutation)]["refused"] += 1
                print(f"refused: {trial.name}: {str(error).splitlines()[0]}")
                continue
            slowest = max(slowest, monotonic() - started)
            verdicts[bool(trial.mutation)][found.verdict] += 1
            show(trial, found)
    print(f"right rewrites: {dict(verdicts[False])}")
    print(f"mutants: {dict(verdicts[True])}")
    searched = sum(verdicts[True][verdict] for verdict in ("different", "no difference found"))
    fraction = verdicts[True]["different"] / max(searched, 1)
    print(f"{fraction:.1%} of {searched} mutants are refuted; the slowest search took {slowest:.1f} s")
    return int(bool(verdicts[False]["different"]) or fraction < REFUTED or not right)


def show(trial: Pair, found: Equivalence) -> None:
    """Print what is not as it should be."""
    is_expected = found.verdict == "different" if trial.mutation else bool(found)
    if not (is_expected or found.verdict == "same on all inputs"):
        print(f"== {trial.name} {trial.rewrite} {trial.mutation or 'right'}: {found}")
        print(f"-- before\n{trial.before}-- after\n{trial.after}")


if __name__ == "__main__":
    sys.exit(main())
