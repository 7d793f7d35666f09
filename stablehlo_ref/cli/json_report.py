"""`run --json`: what a run did, as one line of JSON; docs/reference/json.md describes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.arrays.statistics import statistics
from stablehlo_ref.arrays.value_text import json_number, type_text
from stablehlo_ref.cli.message_documents import as_dictionary
from stablehlo_ref.diagnostics import Diagnostic
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.ir.types import TensorType

SCHEMA = 1


class Report:
    """What is known of the run of one part of a file."""

    def __init__(self, filename: str, first_line: int) -> None:
        self.fields: dict[str, Any] = {"schema": SCHEMA, "file": filename, "line": first_line, "ok": False}
        self.fields |= {"entry": None, "inputs": [], "results": [], "checks": {"passed": 0, "failed": 0}}
        self.fields |= {"diagnostics": [], "seconds": {}, "ops": []}

    def signature(self, entry: str, inputs: Sequence[Parameter], outputs: Sequence[Parameter]) -> None:
        """Add the names and types of inputs and results."""
        self.fields["entry"] = entry
        self.fields["inputs"] = [_described(parameter) for parameter in inputs]
        self.fields["results"] = [_described(parameter) for parameter in outputs]

    def results(self, parameters: Sequence[Parameter], values: Sequence[RuntimeValue]) -> None:
        """Add the results' sizes and statistics."""
        self.fields["results"] = [{**_described(p), **_statistics(p, value)} for p, value in zip(parameters, values)]

    def checks(self, ran: int, failed: int) -> None:
        """Add the number of checks."""
        self.fields["checks"] = {"passed": ran - failed, "failed": failed}

    def ops(self, counts: Mapping[str, int], seconds: Mapping[str, float]) -> None:
        """Add how often ops ran, and their time."""
        self.fields["ops"] = [{"name": name, "count": counts[name], "seconds": seconds[name]} for name in counts]

    def diagnostics(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add diagnostics."""
        self.fields["diagnostics"] += [as_dictionary(diagnostic) for diagnostic in diagnostics]

    def __str__(self) -> str:
        return json.dumps(self.fields, allow_nan=False)


def _described(parameter: Parameter) -> dict[str, Any]:
    type = parameter.type
    shape = list(type.shape) if isinstance(type, TensorType) else None
    return {"name": parameter.name, "names": list(parameter.names), "type": str(type), "shape": shape}


def _statistics(parameter: Parameter, value: RuntimeValue) -> dict[str, Any]:
    if value is None or isinstance(value, tuple):
        return {}
    found = statistics(np.asarray(value))
    numbers = {"min": found.smallest, "max": found.largest, "mean": found.mean}
    shown = {name: json_number(number) for name, number in numbers.items()}
    shape = list(np.asarray(value).shape)
    return {"type": type_text(parameter.type, value), "shape": shape, **shown, "nans": found.nans}
