"""Measure how many faults `spmd-check` locates in partitioned programs, and whether it raises false alarms.

    nice python tools/spmd_faults.py --faults 100 --right 100
    nice python tools/spmd_faults.py --again 17          # print the programs and the report of one seed

Programs with random shardings on meshes of 4 to 8 devices are drawn by the seed and partitioned by
`--convert-global-to-local`. A rule puts a fault into a collective, or into the slice that a device takes: its groups
are along another axis, or regrouped; devices in a group, or pairs, are in another order; it acts on another dimension;
an offset is another device's; two collectives have exchanged their groups; or it is missing. A fault counts if outputs
differ. It is located if the op is named, or for one that is missing the op before or after it, and the shard is the
first whose value there differs from that of the right program. The exit code is 1 if less than 95 % are located, or
anything is called wrong in a right program.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from faults.partitioned import MARK, RULES, fault_in
from faults.sharded import Drawn

import stablehlo_ref as sr
from stablehlo_ref.debug.diff_passes import drawn
from stablehlo_ref.debug.spmd_check import SpmdCheck, SpmdPrograms
from stablehlo_ref.ir.core import Value
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.types import FunctionType

LEAST = 0.95


class Trial(NamedTuple):
    """A fault: "located", "op only" with another shard, "another op", "not located" or "not noticed"."""

    outcome: str
    whole: sr.Program
    faulty: sr.Program
    found: SpmdCheck


def run(program: sr.Program, shards: Sequence[Sequence[Any]], value: Value | None = None) -> list[tuple[Any, ...]]:
    """Return the results of all devices, or a value of each."""
    if value is not None:
        mapping: dict[Value, Value] = {}
        module = clone(program.module, mapping)
        function = module.regions[0].block.symbol("main")
        assert function is not None
        block = function.regions[0].block
        block.operations[-1].operands = [mapping[value]]
        inputs = tuple(argument.type for argument in block.arguments)
        function.properties |= {"function_type": FunctionType(inputs, (value.type,)), "res_attrs": ()}
        program = sr.Program(module)
    return program.run_parallel(shards, num_replicas=1, num_partitions=len(shards))


def differs(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return whether arrays differ by more than rounding."""
    pairs = ((np.asarray(x, np.float64), np.asarray(y, np.float64)) for x, y in zip(some, others))
    return any(not np.allclose(x, y, rtol=1e-3, atol=1e-3 * float(np.abs(y).max(initial=0))) for x, y in pairs)


def trial(seed: int, rule: str) -> Trial | None:
    """Return how a fault is located, with the report; None if no fault of the rule has an effect in the program."""
    draw = random.Random(seed)
    whole = sr.parse(Drawn(seed).text, filename="global.mlir").verify()
    local = sr.parse(str(whole.transform("convert-global-to-local"))).verify()
    fault = fault_in(local, rule, draw)
    if fault is None:
        return None
    try:
        faulty = sr.parse(str(sr.Program(fault.module)), filename="local.mlir").verify()
    except sr.StablehloError:
        return None
    inputs = drawn(seed, whole)
    shards = SpmdPrograms(whole, local, sr.debug.contract_of("xla-cpu"), None, (None, None)).split(inputs)
    right = run(local, shards)
    wrong = run(faulty, shards)
    if not any(map(differs, wrong, right)):
        return None
    pairs = zip(run(sr.Program(fault.module), shards, fault.wrong), run(local, shards, fault.right))
    first = next((device for device, pair in enumerate(pairs) if differs(*pair)), None)
    found = sr.debug.spmd_check(whole, faulty, inputs)
    marked = {str(op.location) for op in faulty.module.walk() if MARK in op.attributes}
    if not found.is_wrong or found.fault is None:
        return Trial("not located" if found.is_wrong else "not noticed", whole, faulty, found)
    is_named = bool(marked & {found.fault.place, found.fault.before})
    outcome = "located" if is_named and found.fault.device == first else "op only" if is_named else "another op"
    return Trial(outcome, whole, faulty, found)


def main() -> int:
    """Run the trials and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--right", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", type=int)
    options = parser.parse_args()
    if options.again is not None:
        found = trial(options.again, list(RULES)[options.again % len(RULES)])
        print(*(map(str, found) if found else ["no effect"]), sep="\n")
        return 0
    outcomes: Counter[tuple[str, str]] = Counter()
    seed = options.seed
    while outcomes.total() < options.faults:
        rule = list(RULES)[seed % len(RULES)]
        if found := trial(seed, rule):
            outcomes[rule, found.outcome] += 1
            if found.outcome != "located":
                print(f"seed {seed}: {rule}: {found.outcome}", flush=True)
        seed += 1
    alarms = 0
    for number in range(options.seed, options.seed + options.right):
        whole = sr.parse(Drawn(number).text)
        if (check := sr.debug.spmd_check(whole)).is_wrong:
            print(f"seed {number}: alarm\n{check}", flush=True)
            alarms += 1
    for rule in RULES:
        print(f"{rule:16} { ({outcome: n for (name, outcome), n in outcomes.items() if name == rule}) }")
    located = sum(n for (_, outcome), n in outcomes.items() if outcome == "located")
    print(f"{located} of {options.faults} faults located")
    print(f"{alarms} alarms on {options.right} right programs")
    return int(located < LEAST * options.faults or alarms > 0)


if __name__ == "__main__":
    sys.exit(main())
