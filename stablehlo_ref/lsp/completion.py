"""What can be written at an offset: names of ops, attributes, values, symbols, aliases and labels.

Those that fit what has been typed come first, and others are left out: not every editor filters.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.lsp.document import Chunk
from stablehlo_ref.syntax.parser import BARE_NAMES

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
    """Return the proposals for an offset that fit what has been typed, the closest first."""
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
    for name, definition in REGISTRY.items():
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
    """Yield the attributes of the op in front of the offset."""
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
