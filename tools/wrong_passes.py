"""Measure whether `diff-passes` names the pass that is wrong: pipelines with a wrong rewrite, and without.

    nice python tools/wrong_passes.py [--faults N] [--seed N] [FILE.mlir ...]

Functions of the files go through 3 to 40 passes in random order. After one of them the program is changed so that it
means something else, as a search for counterexamples confirms, and the passes that follow run on what was changed. The
pass must be named, with the function. The same passes without the change must be found right. Exit with 1 if one of
these is not, or if fewer than 95 of 100 wrong passes are named. Without files these are tests of StableHLO's passes.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from equivalence import FILES, MUTATIONS, REWRITES, UPSTREAM, functions

import stablehlo_ref as sr
from stablehlo_ref.conform.equivalent import equivalent
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.program import Program

PASSES = tuple(name for name in REWRITES if name != "chlo-legalize-to-stablehlo")  # what it makes is an approximation
LENGTHS = 3, 40  # of pipelines
NAMED = 0.95  # of the wrong passes at least
CONTRACT = "xla-cpu"


def mutated(program: Program, rng: random.Random) -> tuple[Program, str] | None:
    """Return a valid program that means something else, and what was changed; None if none is found."""
    for _ in range(20):
        module = clone(program.module, {})
        ops = [op for op in module.walk() if op.name.startswith("stablehlo.") and op.name != "stablehlo.return"]
        change = rng.choice(MUTATIONS)(rng.choice(ops), rng) if ops else ""
        if not change:
            continue
        try:
            found = Program(module).verify()
            if equivalent(program, found, seconds=5, contract=CONTRACT).verdict == "different":
                return found, change
        except (sr.StablehloError, AttributeError, TypeError, ValueError):
            continue
    return None


def stages(program: Program, passes: Sequence[str]) -> list[Program]:
    """Return the program after each pass; a pass that refuses it changes nothing."""
    found = []
    for name in passes:
        with suppress(sr.StablehloError):
            program = program.transform(name)
        found.append(program)
    return found


def named(programs: Sequence[Program], passes: Sequence[str], folder: Path) -> tuple[str, str]:
    """Return which pass `diff_passes` finds wrong, as its number and name, and why; or what prevents it."""
    text = "".join(
        f"// -----// IR Dump After P{number} ({number}-{name}) //----- //\n{program}\n"
        for number, (name, program) in enumerate(zip(("input", *passes), programs))
    )
    path = folder / "dumps.mlir"
    path.write_text(text, "utf-8")
    try:
        wrong = sr.debug.diff_passes(path, contract=CONTRACT).first_wrong
    except sr.StablehloError as error:
        return "not compared", str(error)
    return (wrong.name, "\n".join(wrong.reasons)) if wrong else ("", "")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE.mlir", type=Path, nargs="*")
    parser.add_argument("--faults", metavar="N", type=int, default=200)
    parser.add_argument("--seed", metavar="N", type=int, default=0)
    options = parser.parse_args(arguments)
    files = options.files or [path for name in FILES if (path := UPSTREAM / name).exists()]
    rng = random.Random(options.seed)
    programs = [pair for path in files for pair in functions(path)]
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, program in rng.choices(programs, k=20 * options.faults):
            passes = rng.choices(PASSES, k=rng.randint(*LENGTHS))
            right = stages(program, passes)
            at = rng.randrange(len(passes))
            found = mutated(right[at], rng)
            if found is None:
                continue
            alarm, why = named([program, *right], passes, Path(folder))
            if alarm == "not compared":
                continue
            counts["right pipelines"] += 1
            if alarm:
                counts["alarms"] += 1
                print(f"alarm: {name}: {alarm}: {why}")
            wrong, change = found
            after = [program, *right[:at], wrong, *stages(wrong, passes[at + 1 :])]
            answer, why = named(after, passes, Path(folder))
            expected = f"{at + 1}-{passes[at]}"
            counts["named"] += answer == expected
            counts["with the function"] += answer == expected and "in @" in why
            counts["wrong passes"] += 1
            if answer != expected:
                print(f"{name}: {expected}: {change}: found {answer or 'nothing'}\n{right[at]}\n{wrong}")
            if counts["wrong passes"] == options.faults:
                break
    print(dict(counts))
    return int(bool(counts["alarms"]) or counts["named"] < NAMED * counts["wrong passes"] or not counts["named"])


if __name__ == "__main__":
    sys.exit(main())
