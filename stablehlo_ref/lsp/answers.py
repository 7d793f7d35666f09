"""What an editor asks for: completion of what is typed, information on ops and names, and formatting."""

from __future__ import annotations

import inspect
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from stablehlo_ref.define.bound import bind_types
from stablehlo_ref.define.definition import REGISTRY, OpDefinition, definition_of
from stablehlo_ref.define.formulas import labelled_formulas
from stablehlo_ref.diagnostics import SPLIT_LINE, Location, MalformedError, Source, StablehloError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.lsp.document import Chunk, Name
from stablehlo_ref.passes.analysis import evaluate, known_array
from stablehlo_ref.syntax.parser import BARE_NAMES, parse
from stablehlo_ref.syntax.printer import print_operation
from stablehlo_ref.text.tokens import Tokens

# --- completion: names of ops, attributes, values, symbols, aliases and labels ----------------------------------------

SIGILS = "%@#!^"
_starts_op = re.compile(r"^[ \t]*(?:%[^=\n]*=[ \t]*)?\"?([\w.$]*)$", re.ASCII | re.M)
_match_word = re.compile(rf"[{SIGILS}]?[\w.$\-]*$|$", re.ASCII)
_find_ops = re.compile(r"(?<![\w.$%@#!^])([a-z_]\w*\.[\w.\-]+)", re.ASCII)
_braces = re.compile(r"[{}]")


@dataclass(frozen=True)
class Item:
    """A proposal. `kind` is "op", "attribute" or "name"; `start` is the offset of what it replaces."""

    text: str
    kind: str
    start: int
    detail: str = ""


def complete(part: Chunk, offset: int) -> list[Item]:
    """Return the proposals for an offset that fit what has been typed, the closest first.

    Others are left out, as not every editor filters.
    """
    fits = ((_distance(part.text[item.start : offset].lower(), item.text.lower()), item) for item in _all(part, offset))
    found = [(distance, item) for distance, item in fits if distance is not None]
    return [item for _, item in sorted(found, key=lambda pair: (pair[0], not pair[1].text.startswith("stablehlo.")))]


def _distance(typed: str, text: str) -> int | None:
    """Return how far what was typed is from a text: 0 for its beginning, up to 3; None if letters are missing in it."""
    _, dot, mnemonic = text.partition(".")
    letters = iter(text)
    if text.startswith(typed):
        return 0
    if dot and mnemonic.startswith(typed):
        return 1
    if typed in text:
        return 2
    return 3 if all(letter in letters for letter in typed) else None


def _all(part: Chunk, offset: int) -> Iterable[Item]:
    """Return what can be written at an offset, whatever has been typed."""
    before = part.text[max(0, offset - 4000) : offset]
    line = before[before.rfind("\n") + 1 :]
    word = _match_word.search(line)
    start = offset - (len(line) - word.start() if word else 0)
    if word and word[0][:1] in tuple(SIGILS):
        return _names(part, word[0][0], start)
    if (head := _starts_op.search(line)) and not _is_in_attributes(before):
        return _ops(offset - len(head[1]))
    return _attributes(before, start)


def _ops(start: int) -> Iterator[Item]:
    for name, definition in sorted(REGISTRY.items()):
        if definition.mnemonic:
            yield Item(name, "op", start, summary(definition))
    for name in BARE_NAMES:
        yield Item(name, "op", start, BARE_NAMES[name])


def summary(definition: OpDefinition) -> str:
    """Return the first line of what is said about an op."""
    return (inspect.getdoc(definition.op_class) or "").partition("\n")[0]


def _names(part: Chunk, sigil: str, start: int) -> Iterator[Item]:
    """Yield the names that are defined: values and labels of the same function, before the offset if values."""
    function = part.function_around(start)
    seen = set()
    for name in part.names.definitions():
        text = part.text[name.start : name.end]
        is_local = sigil in "%^"
        if text[:1] != sigil or text in seen or (is_local and not function <= name.start):
            continue
        if (sigil == "%" and name.start >= start) or (sigil == "^" and part.function_around(name.start) != function):
            continue
        seen.add(text)
        yield Item(text, "name", start, str(name.value.type) if name.value is not None else "")


def _attributes(before: str, start: int) -> Iterator[Item]:
    """Yield the attributes of the last op before the offset."""
    names = [match[1] for match in _find_ops.finditer(before) if match[1] in REGISTRY]
    if not names:
        return
    definition = REGISTRY[names[-1]]
    members = {member.spelling: member.codec.name for member in definition.attributes.values()}
    for name in definition.property_names:
        yield Item(name, "attribute", start, members.get(name, ""))


def _is_in_attributes(before: str) -> bool:
    """Return whether the last open brace, if any, is that of attributes: it does not end its line."""
    depth = 0
    for match in reversed(list(_braces.finditer(before))):
        depth += 1 if match[0] == "}" else -1
        if depth < 0:
            line_start = before.rfind("\n", 0, match.start()) + 1
            rest = before[match.end() :].partition("\n")[0].strip()
            is_region = not rest or rest.startswith(("//", "^"))
            return not is_region or before[line_start : match.start()].rstrip().endswith(("<", ") "))
    return False


# --- hover: what is shown about an op or a name, as Markdown ----------------------------------------------------------


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


# --- constant expressions ---------------------------------------------------------------------------------------------


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


# --- formatting; comments stay with the ops that they are about -------------------------------------------------------


_is_module = re.compile(r'"?(?:builtin\.)?module\b').match


def formatted(text: str, filename: str = "<string>") -> str:
    """Return a text as the printer writes it, with its comments.

    The programs between lines `// -----` stay separate. MalformedError if the text has errors, or a comment where its
    place would be lost: after the last op of a region, or in the middle of an op.
    """
    separators = [match[0].strip() for match in SPLIT_LINE.finditer(text)]
    parts = [_formatted(part, filename) for part in SPLIT_LINE.split(text)]
    lines = [f"\n{separator}\n\n" for separator in separators]
    return "".join(part + line for part, line in zip(parts, [*lines, ""]))


def _formatted(text: str, filename: str) -> str:
    source = Source(text, filename)
    module = parse(source)
    printed = _printed(module, source)
    comments = _comments(source)
    return _with_comments(source, module, printed, comments) if comments else printed


def _printed(module: Operation, source: Source) -> str:
    """Return the printed program, without a module that the text does not have."""
    has_locations = re.search(r"\bloc\(", source.text) is not None
    if _is_module(source.text, module.location.offset):
        return print_operation(module, locations=has_locations, local_scope=True)
    operations = module.regions[0].block.operations
    return "".join(print_operation(op, locations=has_locations, local_scope=True) for op in operations)


def _comments(source: Source) -> list[int]:
    """Return the offsets of comments."""
    tokens, found = Tokens(source), []
    for end, start in zip([0, *tokens.ends], tokens.starts):
        gap = source.text[end:start]
        found += [end + match.start() for match in re.finditer(r"//[^\n]*", gap)]
    return found


def _with_comments(source: Source, module: Operation, printed: str, comments: list[int]) -> str:
    """Return the printed text with comments: on lines of their own in front of an op, or at the end of its line."""
    text = source.text
    before, after = _offsets(module), _offsets(parse(Source(printed)))
    if len(before) != len(after):
        raise MalformedError("cannot format: the printed program differs", Location(source, 0))
    lines = printed.splitlines()
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    line_of_op = [bisect_right(starts, offset) - 1 for offset in after]
    depths = _Depths(Tokens(source))
    above: dict[int, list[str]] = {}  # comments by the line that they stand in front of
    for offset in comments:
        comment = text[offset:].partition("\n")[0].rstrip()
        following = bisect_left(before, offset)
        if text[text.rfind("\n", 0, offset) + 1 : offset].strip():
            if not following or depths.closes_between(before[following - 1], offset):
                raise _misplaced(source, offset)
            lines[line_of_op[following - 1]] += f"  {comment}"
        elif following == len(before):
            above.setdefault(len(lines), []).append(comment)
        elif depths.closes_between(offset, before[following]):
            raise _misplaced(source, offset)
        else:
            above.setdefault(line_of_op[following], []).append(comment)
    return _joined(lines, above)


def _joined(lines: list[str], above: dict[int, list[str]]) -> str:
    """Return lines as a text, with the comments `above` them indented as they are."""
    written = []
    for number, line in enumerate(lines):
        indent = line[: len(line) - len(line.lstrip())]
        written += [f"{indent}{comment}" for comment in above.get(number, ())] + [line]
    return "".join(f"{line}\n" for line in [*written, *above.get(len(lines), ())])


def _misplaced(source: Source, offset: int) -> MalformedError:
    return MalformedError(
        "cannot format: this comment would lose its place; move it above an op", Location(source, offset)
    )


def _offsets(module: Operation) -> list[int]:
    """Return the offsets of ops, each once, in order."""
    return sorted({op.location.offset for op in module.walk() if op.name != "builtin.module"})


class _Depths:
    """How many braces are open at an offset."""

    def __init__(self, tokens: Tokens) -> None:
        braces = [(s, 1 if k == "{" else -1) for s, k in zip(tokens.starts, tokens.kinds) if k in ("{", "}")]
        self.starts = [start for start, _ in braces]
        self.depths = list(accumulate((step for _, step in braces), initial=0))

    def closes_between(self, start: int, end: int) -> bool:
        """Return whether a brace that is open at `start` is closed before `end`."""
        first, last = bisect_right(self.starts, start), bisect_left(self.starts, end)
        return min(self.depths[first : last + 1]) < self.depths[first]
