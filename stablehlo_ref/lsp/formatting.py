"""Format a text by printing its program; comments stay with the ops that they are about."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate

from stablehlo_ref.diagnostics import SPLIT_LINE, Location, MalformedError, Source
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.syntax.parser import parse
from stablehlo_ref.syntax.printer import print_operation
from stablehlo_ref.text.tokens import Tokens

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
