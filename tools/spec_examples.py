"""Run the examples in StableHLO's spec and compare with the results in their comments.

    python tools/spec_examples.py docs/spec.md [--only REGEX]

An example is MLIR text, preceded by comments with the values of operands and followed by comments with the values of
results. An example without values is only verified. Print examples that are rejected or have other results.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import Source
from stablehlo_ref.ir.types import ComplexType, FloatType, TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.narrow_floats import widen
from stablehlo_ref.syntax.parser import Parser

ProcessId = tuple[int, int]  # (replica id, partition id)
VALUE = re.compile(r"// ?% ?([\w#]+)(?:@\((\d+), (\d+)\))?\s*[:=] (.*)")
SECTION = re.compile(r"^### (\S+)\n(.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)
EXAMPLES = re.compile(r"```mlir\n(.*?)```", re.DOTALL)
DIGITS = 1e-5  # relative tolerance: examples print at least six significant digits


@dataclass
class Example:
    """MLIR text, and the values of its names by process of the grid."""

    text: str = ""
    operands: dict[tuple[str, ProcessId], str] = field(default_factory=dict)
    results: dict[tuple[str, ProcessId], str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)  # num_replicas, num_partitions

    @property
    def processes(self) -> list[ProcessId]:
        grid = [range(self.sizes.get(name, 1)) for name in ("num_replicas", "num_partitions")]
        return [(replica, partition) for replica in grid[0] for partition in grid[1]]


def examples(block: str) -> Iterator[Example]:
    """Yield the examples of a code block; after results, an empty line starts the next example."""
    found, open_value = Example(), None
    for line in [*block.splitlines(), ""]:
        if not line.startswith("//"):
            if not line.strip() and found.text and found.results:
                yield found
                found = Example()
            found.text += line + "\n"
            open_value = None
        elif size := re.match(r"// (num_\w+): (\d+)", line):
            found.sizes[size[1]] = int(size[2])
        elif value := VALUE.match(line):
            values = found.results if found.text.strip() else found.operands
            open_value = (values, (value[1].replace("#", ""), (int(value[2] or 0), int(value[3] or 0))))
            values[open_value[1]] = value[4]
        elif open_value:
            open_value[0][open_value[1]] += line[2:] + "\n"
    if found.text.strip():
        yield found


# --- programs -------------------------------------------------------------------------------------------------------


def program_of(example: Example) -> tuple[str, list[Any], list[Any]]:
    """Return the example as a function of the values that it uses but does not define, those values, and results."""
    parser = Parser(Source(example.text, "example"))
    operations = []
    while parser.peek():
        operations.append(parser.operation())
    free = [parser.scope.values[name] for name in parser.scope.expected]
    results = [result for op in operations for result in op.results]
    if operations[0].name == "func.func":
        return example.text, [], []
    arguments = ", ".join(f"%{value.name}: {value.type}" for value in free)
    names, types = ", ".join(f"%{r.name}" for r in results), ", ".join(str(r.type) for r in results)
    last = f"return {names} : {types}" if results else "return"
    return f"func.func @main({arguments}) -> ({types}) {{\n{example.text}\n{last}\n}}\n", free, results


def array_of(text: str, type: Any) -> np.ndarray:
    """Parse a value in a comment: numbers, hexadecimal bits, `(re, im)`, true and false."""
    text = re.sub(r"//[^\n]*", "", text).replace("true", "True").replace("false", "False")
    text = re.sub(r"-?\bnan\b", "None", re.sub(r"\binf\b", "1e999", text))
    nested, element, dtype = ast.literal_eval(text.strip()), type.element_type, numpy_dtype(type.element_type)
    if isinstance(element, ComplexType):
        pairs = np.array(nested, np.float64)
        return np.asarray((pairs[..., 0] + 1j * pairs[..., 1]).astype(dtype)).reshape(type.shape)
    flat = np.array(nested, object).reshape(type.shape)
    if isinstance(element, FloatType) and "0x" in text:
        return np.frompyfunc(lambda x: _from_bits(x, dtype), 1, 1)(flat).astype(dtype)
    return np.where(flat == None, np.nan, flat).astype(dtype)  # noqa: E711  (element by element)


def _from_bits(x: Any, dtype: Any) -> Any:
    return np.array(x, f"u{dtype.itemsize}").view(dtype)[()] if isinstance(x, int) else x


def _is_given(example: Example, value: Any) -> bool:
    return isinstance(value.type, TensorType) and (value.name, example.processes[-1]) in example.operands


def differences(example: Example, names: list[Any], by_process: list[tuple[Any, ...]]) -> Iterator[str]:
    """Yield a message for each result that differs or is missing."""
    compared: set[Any] = set()
    for process, values in zip(example.processes, by_process):
        for value, result in zip(names, values):
            key = (value.name.replace("#", ""), process)  # comments write results as %result#0 or %result0
            if key in example.results and isinstance(value.type, TensorType):
                compared.add(key)
                expected = array_of(example.results[key], value.type)
                if not _agree(np.asarray(result), expected, value.type.element_type):
                    yield f"%{value.name}: expected {expected.tolist()}, got {np.asarray(result).tolist()}"
    yield from (f"%{name} is not a result" for name, _ in example.results.keys() - compared)


def _agree(result: np.ndarray, expected: np.ndarray, element: Any) -> bool:
    if not isinstance(element, FloatType | ComplexType):
        return bool(np.array_equal(result, expected))
    x, y = (widen(a) if a.dtype.kind == "V" else a for a in (result, expected))
    return bool(np.allclose(x, y, rtol=DIGITS, atol=DIGITS, equal_nan=True))


def run(example: Example) -> str:
    """Run an example and return "" if it agrees, "verified" if it has no values, or what is wrong."""
    try:
        text, free, results = program_of(example)
        program = sr.load(text + "\n")
        if not example.results or not all(_is_given(example, value) for value in free):
            return "verified"
        inputs = [[array_of(example.operands[v.name, process], v.type) for v in free] for process in example.processes]
        outputs = program.run_parallel(inputs, num_replicas=example.sizes.get("num_replicas", 1))
    except (sr.StablehloError, ValueError, SyntaxError, AttributeError) as error:
        return str(error)
    return "; ".join(differences(example, results, outputs))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("spec", type=Path)
    parser.add_argument("--only", default="", metavar="REGEX", help="only ops whose name matches")
    options = parser.parse_args()
    outcomes: list[str] = []
    for name, section in SECTION.findall(options.spec.read_text("utf-8")):
        for block in EXAMPLES.findall(section) if re.search(options.only, name) else ():
            for example in examples(block):
                outcomes.append(run(example))
                if outcomes[-1] not in ("", "verified"):
                    print(f"{name}: {outcomes[-1]}")
    print(f"{outcomes.count('')} examples agree, {outcomes.count('verified')} without values are verified, "
          f"{len(outcomes) - outcomes.count('') - outcomes.count('verified')} fail")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
