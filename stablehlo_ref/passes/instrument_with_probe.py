"""Insert an `interpreter.probe` after each op."""

from __future__ import annotations

from collections.abc import Iterator

from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.define.spec import is_boolean, is_complex, is_float, is_integer
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.locations import name_of
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import Type
from stablehlo_ref.passes.analysis import is_plain
from stablehlo_ref.passes.registry import PassOption, flag, transformation


@transformation(
    "interpreter-instrument-with-probe",
    "insert a probe after each op",
    PassOption("useDebugInfo", flag, "whether probes have the names of the locations of ops (default false)"),
)
def instrument_with_probe(module: Operation, useDebugInfo: bool = False) -> None:
    """Insert an `interpreter.probe` after each op, also inside regions, for each result that is a static tensor.

    Constants, tokens, tuples, and quantized tensors have no probes, nor has the op that `async_start` holds. Probes are
    called `probe1`, `probe2`, ... in the order of the ops, those in regions before the op that they are in; with
    `useDebugInfo`, ops with a location `loc("name")` have probes `name.1`, and so on. A run writes what passes through
    a probe to a file of that name.
    """
    number = 0
    with Rewriter(module) as rewriter:
        for op in list(_inside_out(module)):
            if op.name == "stablehlo.constant":
                continue
            for result in op.results:
                if _can_be_probed(result.type):
                    number += 1
                    _probe(rewriter, op, result, f"{_prefix(op, useDebugInfo)}{number}")


def _inside_out(op: Operation) -> Iterator[Operation]:
    """Yield all ops inside `op` and then `op`."""
    for region in op.regions if op.name != "stablehlo.async_start" else ():
        for block in region.blocks:
            for inner in block.operations:
                yield from _inside_out(inner)
    yield op


def _prefix(op: Operation, use_debug_info: bool) -> str:
    name = name_of(op.debug_location) if use_debug_info else None
    return "probe" if name is None else f"{name.partition('@')[0]}."


def _can_be_probed(type: Type) -> bool:
    return is_plain(type) and any(holds(type) for holds in (is_boolean, is_integer, is_float, is_complex))


def _probe(rewriter: Rewriter, op: Operation, result: Value, probe_id: str) -> None:
    members, location = {"probe_id": probe_id}, op.debug_location
    probe = build_operation(
        "interpreter.probe", [result], [result.type], op.location, members=members, debug_location=location
    )
    rewriter.replace_uses(result, probe.results[0])
    rewriter.insert_after(op, probe)
