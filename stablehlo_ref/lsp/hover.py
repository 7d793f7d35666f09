"""What is shown about an op or a name, as Markdown."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator

import numpy as np

from stablehlo_ref.define.bound import bind_types
from stablehlo_ref.define.definition import OpDefinition, definition_of
from stablehlo_ref.define.formulas import labelled_formulas
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.lsp.document import Chunk
from stablehlo_ref.lsp.names import Name
from stablehlo_ref.passes.analysis import evaluate, known_array

MAX_ELEMENTS = 1 << 12  # of a value in a constant expression
MAX_OPS = 100  # in a constant expression
SHOWN_ELEMENTS = 16


def hover(part: Chunk, offset: int) -> tuple[str, int, int] | None:
    """Return what to show about an offset, and the offsets between which it applies; None if there is nothing."""
    if (name := part.names.at(offset)) is not None:
        return "\n\n".join(_about_name(part, name)), name.start, name.end
    op = part.op_at(offset)
    if op is None:
        return None
    start = op.location.offset
    return "\n\n".join(_about_op(part, op)), start, start + len(op.name)


def _about_name(part: Chunk, name: Name) -> Iterator[str]:
    text = part.text[name.start : name.end]
    if name.value is not None:
        yield _code(f"{text}: {name.value.type}")
        if (array := constant_value(part, name.value)) is not None:
            yield f"is always {_elements(array)}"
        if isinstance(name.value.owner, Operation):
            yield f"result of `{name.value.owner.name}`"
    elif name.definition is None:
        yield f"`{text}` has no definition in this program"
    else:
        line = part.source.line_at(name.definition).strip()
        yield _code(line if len(line) <= 200 else f"{line[:200]}...")


def _about_op(part: Chunk, op: Operation) -> Iterator[str]:
    definition = definition_of(op)
    yield f"**{op.name}**"
    if definition is None:
        yield "has no class here: it can be read and printed, and not run"
        return
    yield inspect.getdoc(definition.op_class) or ""
    yield from _types(part, op, definition)
    yield from constraints(definition)


def _types(part: Chunk, op: Operation, definition: OpDefinition) -> Iterator[str]:
    """Yield the types of the results, those that are inferred if they differ, and values that are always the same."""
    if op.results:
        yield _code("\n".join(f"%{value.name or index}: {value.type}" for index, value in enumerate(op.results)))
    inferred = _inferred(op, definition)
    if inferred is not None and inferred != list(map(str, op.result_types)):
        yield f"inferred: `{', '.join(inferred)}`"
    for value in op.results:
        if (array := constant_value(part, value)) is not None:
            yield f"`%{value.name}` is always {_elements(array)}"


def _inferred(op: Operation, definition: OpDefinition) -> list[str] | None:
    if "infer" not in definition.roles:
        return None
    try:
        return list(map(str, bind_types(op, definition).infer()))
    except (StablehloError, ValueError, TypeError, IndexError, ArithmeticError, KeyError, AttributeError):
        return None  # the op is invalid: its error says why


def constraints(definition: OpDefinition) -> Iterator[str]:
    """Yield the list of constraints, with the spec's labels, unless there are none."""
    try:
        found = labelled_formulas(definition.op_class)
    except OSError:  # a package without its sources
        return
    if found:
        yield "\n".join(f"- **{label}** `{formula}`" for label, formula in found)


# --- constant expressions -------------------------------------------------------------------------------------------


def constant_value(part: Chunk, value: Value) -> Array | None:
    """Return what a value always is, if it depends on constants only and is small; None in a program with errors."""
    if part.errors:
        return None
    known: dict[Value, Array] = {}
    pending = [value]
    for _ in range(MAX_OPS):
        last = pending[-1]
        if not _is_small(last) or not isinstance(last.owner, Operation):
            return None
        array, missing = known_array(last), [v for v in last.owner.operands if v not in known]
        if array is not None:
            known[last] = array
        elif missing:
            pending.append(missing[0])
            continue
        elif (arrays := evaluate(last.owner, [known[v] for v in last.owner.operands])) is None:
            return None
        else:
            known |= dict(zip(last.owner.results, arrays))
        pending.pop()
        if not pending:
            return known[value]
    return None


def _is_small(value: Value) -> bool:
    if not isinstance(value.type, TensorType):
        return False
    sizes = [size for size in value.type.shape if size is not None]
    return len(sizes) == len(value.type.shape) and math.prod(sizes) <= MAX_ELEMENTS


def _elements(array: Array) -> str:
    if array.size and (array == array.flat[0]).all():
        return f"`{array.flat[0]}`" + (" in all elements" if array.size > 1 else "")
    text = np.array2string(array, threshold=SHOWN_ELEMENTS, edgeitems=3, separator=", ")
    return f"`{text}`" if "\n" not in text else _code(text)


def _code(text: str) -> str:
    return f"```mlir\n{text}\n```"
