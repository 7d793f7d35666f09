"""Runs the examples in StableHLO's spec and compares with the results that stand beside them.

    python tools/spec_examples.py docs/spec.md [--only REGEX]

An example is MLIR text with values of operands in comments above it, and of results in comments below. One without
values is verified only. Prints every example that is refused, or gives something else.
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
from stablehlo_ref.numerics.narrow import widen
from stablehlo_ref.syntax.parser import Parser

Place = tuple[int, int]  # (replica id, partition id)
VALUE = re.compile(r"// ?% ?([\w#]+)(?:@\((\d+), (\d+)\))?\s*[:=] (.*)")
CHAPTER = re.compile(r"^### (\S+)\n(.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)
EXAMPLES = re.compile(r"```mlir\n(.*?)```", re.DOTALL)
DIGITS = 1e-5  # examples print six significant digits or more


@dataclass
class Example:
    """A piece of MLIR text, and the values of names at places of the grid."""

    text: str = ""
    operands: dict[tuple[str, Place], str] = field(default_factory=dict)
    results: dict[tuple[str, Place], str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)  # num_replicas, num_partitions

    @property
    def places(self) -> list[Place]:
        grid = [range(self.sizes.get(name, 1)) for name in ("num_replicas", "num_partitions")]
        return [(replica, partition) for replica in grid[0] for partition in grid[1]]


def examples(block: str) -> Iterator[Example]:
    """The examples of a block: after results, an empty line or a new value of an operand starts the next."""
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
    """The example as a function of the values that it uses but does not define, these values, and its results."""
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
    """A value as it is written in a comment: numbers, or their bits in hexadecimal, `(re, im)`, true and false."""
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
    return isinstance(value.type, TensorType) and (value.name, example.places[-1]) in example.operands


def differences(example: Example, names: list[Any], by_process: list[tuple[Any, ...]]) -> Iterator[str]:
    compared: set[Any] = set()
    for place, values in zip(example.places, by_process):
        for value, result in zip(names, values):
            key = (value.name.replace("#", ""), place)  # of several results the comments say %result#0 or %result0
            if key in example.results and isinstance(value.type, TensorType):
                compared.add(key)
                expected = array_of(example.results[key], value.type)
                if not _agree(np.asarray(result), expected, value.type.element_type):
                    yield f"%{value.name} is {np.asarray(result).tolist()}, not {expected.tolist()}"
    yield from (f"there is no %{name} to compare" for name, _ in example.results.keys() - compared)


def _agree(result: np.ndarray, expected: np.ndarray, element: Any) -> bool:
    if not isinstance(element, FloatType | ComplexType):
        return bool(np.array_equal(result, expected))
    x, y = (widen(a) if a.dtype.kind == "V" else a for a in (result, expected))
    return bool(np.allclose(x, y, rtol=DIGITS, atol=DIGITS, equal_nan=True))


def run(example: Example) -> str:
    """What is wrong with an example; "verified" if it has no values, nothing if it does as it says."""
    try:
        text, free, results = program_of(example)
        program = sr.load(text + "\n")
        if not example.results or not all(_is_given(example, value) for value in free):
            return "verified"
        inputs = [[array_of(example.operands[v.name, place], v.type) for v in free] for place in example.places]
        outputs = program.run_parallel(inputs, num_replicas=example.sizes.get("num_replicas", 1))
    except (sr.StablehloError, ValueError, SyntaxError, AttributeError) as error:
        return str(error)
    return "; ".join(differences(example, results, outputs))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("spec", type=Path)
    parser.add_argument("--only", default="", metavar="REGEX", help="chapters whose name matches")
    options = parser.parse_args()
    outcomes: list[str] = []
    for name, chapter in CHAPTER.findall(options.spec.read_text("utf-8")):
        for block in EXAMPLES.findall(chapter) if re.search(options.only, name) else ():
            for example in examples(block):
                outcomes.append(run(example))
                if outcomes[-1] not in ("", "verified"):
                    print(f"{name}: {outcomes[-1]}")
    print(f"{outcomes.count('')} examples run as they say, {outcomes.count('verified')} without values are verified, "
          f"{len(outcomes) - outcomes.count('') - outcomes.count('verified')} do not")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
