"""A program as HTML, for notebooks: its signature, how many ops of each kind it has, and its text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import islice
from typing import Protocol

from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.flat import flatten, restore
from stablehlo_ref.ir.signature import Function, Parameters
from stablehlo_ref.passes.inspection import elide_constants
from stablehlo_ref.syntax.printer import print_operation


class Shown(Protocol):
    """What of a program is shown."""

    @property
    def module(self) -> Operation:
        """The module."""

    @property
    def functions(self) -> Mapping[str, Function]:
        """The signatures of all functions."""

    @property
    def entry(self) -> Function:
        """The signature of the entry."""

    @property
    def inputs(self) -> Parameters:
        """The inputs of the entry."""

    @property
    def outputs(self) -> Parameters:
        """The outputs of the entry."""


def summary(program: Shown) -> str:
    """Return a line such as `<Program main(x: tensor<4xf32>) -> (tensor<4xf32>), 3 ops, from model.mlir>`."""
    location = program.module.location
    origin = f", from {location.filename}" if location else ""
    return f"<Program {signature(program)}, {len(ops_of(program))} ops{origin}>"


def signature(program: Shown) -> str:
    """Return the entry with the types of its inputs and outputs; without an entry, the names of the functions."""
    try:
        inputs, outputs = ", ".join(map(repr, program.inputs)), ", ".join(str(p.type) for p in program.outputs)
        return f"{program.entry.name}({inputs}) -> ({outputs})"
    except EvaluationError:
        return f"functions {', '.join(f'@{name}' for name in program.functions) or 'none'}"


def ops_of(program: Shown) -> list[Operation]:
    """Return the ops of all functions, without the module and the functions themselves."""
    return [op for op in program.module.walk() if op.name not in ("builtin.module", "func.func")]


SHOWN_KINDS = 12  # kinds of ops in the histogram
SHOWN_LINES = 300  # of the text
SHOWN_COLUMNS = 400  # of a line
SHOWN_ELEMENTS = 16  # of a constant

# Colours that are readable on white and on black.
_STYLE = (
    ".stablehlo-ref{font-family:monospace}.stablehlo-ref pre{max-height:32em;overflow:auto}"
    ".stablehlo-ref .comment{color:#808080}.stablehlo-ref .string{color:#a05a2c}.stablehlo-ref .value{color:#2f7fd0}"
    ".stablehlo-ref .symbol{color:#9a4fc9}.stablehlo-ref .type{color:#1f9a8a}.stablehlo-ref .op{color:#c04a6a}"
)
_TOKEN = re.compile(
    r'(?P<comment>//.*$)|(?P<string>"[^"\\]*(?:\\.[^"\\]*)*")|(?P<value>%[\w$.\-]+(?:\#\d+)?)'
    r'|(?P<symbol>[@^\#!](?:"[^"]*"|[\w$.\-]+))|(?P<type>\btensor<[\dx?]*(?:[a-z]\w*)?|\btuple\b)'
    r"|(?P<op>\b[a-z_]\w*\.[\w$.\-]+)",
)


def program_html(program: Shown) -> str:
    """Return a program as an HTML fragment: all text is escaped, large constants are left out."""
    return (
        f"<div class='stablehlo-ref'><style>{_STYLE}</style>"
        f"<b>{escape(signature(program))}</b>{_parameters(program)}"
        f"<details><summary>{len(ops_of(program))} ops</summary>{_histogram(program)}</details>"
        f"<details open><summary>text</summary><pre>{''.join(_text(program))}</pre></details></div>"
    )


def _parameters(program: Shown) -> str:
    if not program.functions or "functions " in signature(program)[:10]:
        return ""
    rows = [*(("input", p) for p in program.inputs), *(("output", p) for p in program.outputs)]
    return _table(
        ("", "name", "type"), [(kind, ", ".join(dict.fromkeys((p.name, *p.names))), str(p.type)) for kind, p in rows]
    )


def _histogram(program: Shown) -> str:
    counts = Counter(op.name for op in ops_of(program)).most_common()
    rows = [(name, str(count)) for name, count in counts[:SHOWN_KINDS]]
    others = counts[SHOWN_KINDS:]
    more = [(f"{len(others)} other kinds", str(sum(count for _, count in others)))] if others else []
    return _table(("op", "count"), rows + more)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table; the text of cells is escaped."""
    cells = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
    cells += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def _text(program: Shown) -> Iterator[str]:
    """Yield highlighted lines."""
    module = restore(flatten(program.module))
    elide_constants(module, SHOWN_ELEMENTS)
    lines = print_operation(module).splitlines()
    for line in islice(lines, SHOWN_LINES):
        is_cut = len(line) > SHOWN_COLUMNS
        yield _highlighted(line[:SHOWN_COLUMNS] + ("..." if is_cut else "")) + "\n"
    if len(lines) > SHOWN_LINES:
        yield f"<i>... {len(lines) - SHOWN_LINES} more lines; print(program) shows all</i>\n"


def _highlighted(line: str) -> str:
    parts, end = [], 0
    for match in _TOKEN.finditer(line):
        parts.append(escape(line[end : match.start()]))
        parts.append(f"<span class='{match.lastgroup}'>{escape(match[0])}</span>")
        end = match.end()
    return "".join([*parts, escape(line[end:])])
