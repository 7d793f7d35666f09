"""The errors of ops as custom node data of Google's Model Explorer, by the node ids of its MLIR adapter.

The adapter makes a graph of each function, with the function's name as its id, and numbers the ops of a function in the
order of the text. An op in a region is a node too, but not one in a region of such an op, unless that is Shardy's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

from stablehlo_ref.debug.diff import Diff
from stablehlo_ref.debug.report.document import Document, document
from stablehlo_ref.ir.core import Operation

LARGEST = 1e6  # an error relative to the bound: larger ones, and those of ops that are wrong by any error, are this
COLOURS = {
    "wrong": "#b42318", "suspicious": "#f79009", "permitted": "#f5c04c", "legal": "#b7dfc0", "same": "#e3f3e6",
}  # fmt: skip
RANKS = list(COLOURS)

_Key: TypeAlias = tuple[str, int, int]  # name, line, column
_Judged: TypeAlias = dict[_Key, tuple[str, float]]  # verdict and error


def node_data(found: Diff) -> dict[str, Any]:
    """Return node data by graph and node id: the largest error of each op relative to its bound, coloured by verdict.

    Of an op that several calls or turns of loops run, it is the worst. Ops that were not judged have no data.
    """
    judged: _Judged = {}
    _collect(document(found), judged)
    graphs: dict[str, Any] = {}
    for function in found.setup.program.module.walk():
        if function.name == "func.func" and function.regions[0].blocks:
            keyed = ((identifier, judged.get(_key(op))) for identifier, op in _nodes(function))
            results = {identifier: _node(*known) for identifier, known in keyed if known}
            graphs[str(function.properties["sym_name"])] = _graph(found, results)
    return graphs


def node_data_text(found: Diff) -> str:
    """Return the node data as JSON."""
    return json.dumps(node_data(found), indent=1, allow_nan=False)


def _graph(found: Diff, results: dict[str, Any]) -> dict[str, Any]:
    name = f"error / bound of {found.setup.backend} under {found.setup.contract.name}"
    return {"name": name, "results": results, "hideAggregatedStats": ["sum", "avg"]}


def _node(verdict: str, error: float) -> dict[str, Any]:
    return {"value": error, "bgColor": COLOURS[verdict]}


def _nodes(function: Operation) -> Iterator[tuple[str, Operation]]:
    """Yield the ops of a function that are nodes, with their ids."""
    numbered = enumerate(op for outer in function.regions[0].blocks[0].operations for op in (outer, *_inside(outer)))
    yield from ((str(number), op) for number, op in numbered)


def _inside(op: Operation) -> Iterator[Operation]:
    for inner in (inner for region in op.regions for block in region.blocks for inner in block.operations):
        yield inner
        if inner.name.startswith("sdy."):
            yield from _inside(inner)


def _collect(data: Document, judged: _Judged) -> None:
    """Add the worst verdict and error of each op of a document."""
    ops = data["ops"]
    for op in ops:
        if op["verdict"] in COLOURS:
            _add(judged, op, op["verdict"], float(op["error"] or 0))
    if data["group"]:
        for index in data["group"]["ops"]:
            verdict = "wrong" if data["group"]["certain"] else "suspicious"
            _add(judged, ops[index], verdict, LARGEST if data["group"]["certain"] else 0.0)
    for loop in data["loops"]:
        _add(judged, ops[loop["op"]], "wrong", LARGEST)
        _collect(loop["found"], judged)


def _add(judged: _Judged, op: Document, verdict: str, error: float) -> None:
    key = op["name"], op["line"], op["column"]
    known, largest = judged.get(key, (verdict, 0.0))
    judged[key] = min(verdict, known, key=RANKS.index), min(max(error, largest), LARGEST)


def _key(op: Operation) -> _Key:
    return op.name, op.location.line, op.location.column
