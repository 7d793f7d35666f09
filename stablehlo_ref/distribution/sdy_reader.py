"""The text of sdy attributes, such as `#sdy.sharding<@mesh, [{"x"}, {?}]>`, to Python values."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from stablehlo_ref.distribution.sdy_attributes import (
    LETTERS,
    AxisList,
    AxisLists,
    AxisRef,
    DimensionSharding,
    Edge,
    Exchange,
    Exchanges,
    Factors,
    ManualAxes,
    Mesh,
    PropagationEdges,
    PropagationStep,
    Sharding,
    ShardingRule,
    Shardings,
    SubAxis,
    TensorMapping,
    ValueRef,
    factor_name,
)

T = TypeVar("T")
MEMOIZED_LENGTH = 1000  # characters of the longest attribute that is memoized
BITS = 63  # of numbers, besides the sign
REDUCTIONS = ("sum", "max", "min")
NODES = ("operand", "result")

_match_token = re.compile(
    r"\s*(?:(?P<string>\"(?:[^\"\\\n]|\\.)*\")|(?P<symbol>@(?:[A-Za-z_][\w$.]*|\"(?:[^\"\\\n]|\\.)*\"))"
    r"|(?P<word>[A-Za-z_][\w$.]*)|(?P<number>\d+)|->|(?P<other>[^\s]))"
).match
_match_factor = re.compile(r"z_([1-9]\d{0,8})(?!\d)|(?!z_)([i-z])").match
_match_priority = re.compile(r"p(0|[1-9]\d{0,17})").fullmatch
_match_head = re.compile(r"#sdy(?:\.([a-z_]+)|<\s*([a-z_]+))").match


class SdySyntaxError(ValueError):
    """The text is not an attribute; `offset` is where that shows."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class Token(NamedTuple):
    """A piece of the text with its kind and offset."""

    kind: str
    text: str
    offset: int


class Reader:
    """A position in the text of an attribute, and a method for each construct."""

    def __init__(self, text: str, start: int = 0) -> None:
        self.text = text
        self.end = start  # of the next token
        self.next = self._scan()

    # --- tokens ---

    def _scan(self) -> Token:
        match = _match_token(self.text, self.end)
        if not match:
            return Token("end", "", len(self.text))
        self.end = match.end()
        return Token(match.lastgroup or "other", match[0].lstrip(), match.end() - len(match[0].lstrip()))

    def advance(self) -> str:
        """Consume the next token and return it."""
        token, self.next = self.next, self._scan()
        return token.text

    def accept(self, expected: str) -> bool:
        """Consume the next token if it is `expected`."""
        if self.next.text != expected:
            return False
        self.advance()
        return True

    def expect(self, expected: str) -> None:
        """Consume the next token; SdySyntaxError unless it is `expected`."""
        if not self.accept(expected):
            raise self.expected(f"'{expected}'")

    def expected(self, what: str) -> SdySyntaxError:
        found = f"'{self.next.text[:40]}'" if self.next.text else "the end"
        return SdySyntaxError(f"expected {what}, found {found}", self.next.offset)

    def of_kind(self, kind: str, what: str) -> str:
        if self.next.kind != kind:
            raise self.expected(what)
        return self.advance()

    def items(self, item: Callable[[], T], opening: str, closing: str, required: bool = False) -> tuple[T, ...]:
        """Parse `opening (item (, item)*)? closing`; at least one item if they are `required`."""
        self.expect(opening)
        found: list[T] = [item()] if required else []
        while not self.accept(closing):
            if found:
                self.expect(",")
            found.append(item())
        return tuple(found)

    def integer(self) -> int:
        offset, sign = self.next.offset, -1 if self.accept("-") else 1
        digits = self.of_kind("number", "an integer")
        if len(digits) > 20 or int(digits) >= 1 << BITS:
            raise SdySyntaxError("integer value too large", offset)
        return sign * int(digits)

    def name(self) -> str:
        """Parse a string, the name of an axis."""
        text = self.of_kind("string", 'the name of an axis such as "x"')[1:-1]
        return unescaped(text) if "\\" in text else text

    def _skip_name(self, mnemonic: str) -> None:
        """Consume `#sdy.mnemonic`, which an attribute inside another one may start with."""
        if self.accept("#"):
            self.expect(f"sdy.{mnemonic}")

    # --- meshes and axes ---

    def mesh(self) -> Mesh:
        self._skip_name("mesh")
        offset = self.next.offset
        self.expect("<")
        axes = self.items(self._mesh_axis, "[", "]")
        devices: tuple[int, ...] = ()
        if self.accept(","):
            self.expect("device_ids")
            self.expect("=")
            devices = self.items(self.integer, "[", "]")
        self.expect(">")
        mesh = Mesh(axes, devices)
        if reason := invalid_mesh(mesh):
            raise SdySyntaxError(reason, offset)
        return mesh

    def _mesh_axis(self) -> tuple[str, int]:
        name = self.name()
        self.expect("=")
        return name, self.integer()

    def axis(self) -> AxisRef:
        name = self.name()
        if not self.accept(":"):
            return AxisRef(name)
        return AxisRef(name, self.sub_axis())

    def sub_axis(self) -> SubAxis:
        self.expect("(")
        before = self.integer()
        self.expect(")")
        return SubAxis(before, self.integer())

    def axes(self, required: bool = False) -> tuple[AxisRef, ...]:
        return self.items(self.axis, "{", "}", required)

    def axis_list(self) -> AxisList:
        return AxisList(self.axes())

    def axis_lists(self) -> AxisLists:
        return AxisLists(self.items(self.axis_list, "[", "]"))

    def manual_axes(self) -> ManualAxes:
        return ManualAxes(self.items(self.name, "{", "}"))

    def exchange(self) -> Exchange:
        axes = self.axes(required=True)
        self.expect(":")
        source = self.integer()
        self.expect("->")
        return Exchange(axes, source, self.integer())

    def exchanges(self) -> Exchanges:
        return Exchanges(self.items(self.exchange, "[", "]"))

    # --- shardings ---

    def dimension(self) -> DimensionSharding:
        self.expect("{")
        axes: list[AxisRef] = []
        is_closed = True
        while not self.accept("}"):
            if axes:
                self.expect(",")
            if self.accept("?"):
                is_closed = False
                self.expect("}")
                break
            axes.append(self.axis())
        return DimensionSharding(tuple(axes), is_closed, self._priority())

    def _priority(self) -> int | None:
        if self.next.kind != "word":
            return None
        match = _match_priority(self.next.text)
        if not match:
            raise self.expected("a priority such as 'p1', without leading zeros")
        self.advance()
        return int(match[1])

    def sharding(self) -> Sharding:
        self._skip_name("sharding")
        self.expect("<")
        mesh: Mesh | str
        text = ""
        if self.accept("mesh"):
            mesh = self.mesh()
        else:
            text = self.of_kind("symbol", "a mesh: '@name' or 'mesh<...>'")
            mesh = unescaped(text[2:-1]) if text[1] == '"' else text[1:]
        self.expect(",")
        dimensions = self.items(self.dimension, "[", "]")
        lists: dict[str, tuple[AxisRef, ...]] = {}
        reduction = "sum"
        while self.accept(","):
            keyword = self.next.text
            if keyword not in ("replicated", "unreduced") or lists.get(keyword):
                raise self.expected("'replicated' or 'unreduced', each at most once")
            self.advance()
            self.expect("=")
            if keyword == "unreduced" and self.next.text in REDUCTIONS:
                reduction = self.advance()
            lists[keyword] = self.axes(required=True)
        self.expect(">")
        return Sharding(mesh, dimensions, lists.get("replicated", ()), lists.get("unreduced", ()), reduction, text)

    def shardings(self) -> Shardings:
        self.expect("<")
        found = self.items(self.sharding, "[", "]")
        self.expect(">")
        return Shardings(found)

    # --- sharding rules ---

    def rule(self) -> ShardingRule:
        self.expect("<")
        operands = self.items(self._mapping, "(", ")")
        self.expect("->")
        results = self.items(self._mapping, "(", ")")
        sizes = self._factor_sizes() if self.next.text == "{" else ()
        kinds = {kind: self._special(kind) for kind in ShardingRule((), (), ()).special_factors}
        is_custom = self.accept(",")
        if is_custom:
            self.expect("custom")
        self.expect(">")
        return ShardingRule(sizes, operands, results, **kinds, is_custom=is_custom)

    def _mapping(self) -> TensorMapping:
        return self.items(self._factors, "[", "]")

    def _factors(self) -> Factors:
        """Parse the factors of a dimension: `ij`; none are an error of the verifier."""
        return self._split_factors() if self.next.kind == "word" else ()

    def _split_factors(self) -> Factors:
        offset, text = self.next.offset, self.of_kind("word", "a factor such as 'i'")
        factors: list[int] = []
        position = 0
        while position < len(text):
            match = _match_factor(text, position)
            if not match:
                reason = f"expected factors 'i' to 'z', 'z_1', 'z_2', ..., found '{text[position:][:40]}'"
                raise SdySyntaxError(reason, offset + position)
            factors.append(int(match[1]) + len(LETTERS) - 1 if match[1] else LETTERS.index(match[2]))
            position = match.end()
        return tuple(factors)

    def _factor(self) -> int:
        offset, factors = self.next.offset, self._split_factors()
        if len(factors) != 1:
            raise SdySyntaxError("expected a single factor", offset)
        return factors[0]

    def _factor_sizes(self) -> tuple[int, ...]:
        sizes: list[int] = []

        def entry() -> None:
            offset, factor = self.next.offset, self._factor()
            if factor != len(sizes):
                reason = f"expected factors in order: {factor_name(len(sizes))!r}, found {factor_name(factor)!r}"
                raise SdySyntaxError(reason, offset)
            self.expect("=")
            sizes.append(self.integer())

        self.items(entry, "{", "}")
        return tuple(sizes)

    def _special(self, kind: str) -> Factors:
        if not self.accept(kind):
            return ()
        self.expect("=")
        return self.items(self._factor, "{", "}")

    # --- propagation edges ---

    def edges(self) -> PropagationEdges:
        offset = self.next.offset
        self.expect("<")
        edges = PropagationEdges(self.items(self._step, "[", "]"))
        self.expect(">")
        if reason := invalid_edges(edges):
            raise SdySyntaxError(reason, offset)
        return edges

    def _step(self) -> PropagationStep:
        self.expect("{")
        self.expect("step")
        self.expect("-")
        index = self.integer()
        self.expect("=")
        step = PropagationStep(index, self.items(self._edge, "[", "]", required=True))
        self.expect("}")
        return step

    def _edge(self) -> Edge:
        self.expect("{")
        axis = self.axis()
        self.expect("=")
        source = self._value()
        self.expect("->")
        edge = Edge(axis, source, self.items(self._value, "[", "]", required=True))
        self.expect("}")
        return edge

    def _value(self) -> ValueRef:
        if self.next.text not in NODES:
            raise self.expected("'operand' or 'result'")
        kind = self.advance()
        self.expect("-")
        return ValueRef(kind, self.integer())


def unescaped(text: str) -> str:
    """Return the contents of a string literal without escapes."""
    raw = re.sub(
        rb"\\([0-9A-Fa-f]{2}|.)",
        lambda m: bytes.fromhex(m[1].decode()) if len(m[1]) == 2 else {b"n": b"\n", b"t": b"\t"}.get(m[1], m[1]),
        text.encode("utf-8", "surrogateescape"),
    )
    return raw.decode("utf-8", "surrogateescape")


def invalid_mesh(mesh: Mesh) -> str | None:
    """Return what is wrong with a mesh; None if it is valid."""
    for device in mesh.device_ids:
        if device < 0:
            return f"expected device_ids that are not negative, got {device}"
    for name, size in mesh.axes:
        if size < 1:
            return f"expected a positive size of axis {name!r}, got {size}"
    if not mesh.axes:
        return "expected at most one device of a mesh without axes" if len(mesh.device_ids) > 1 else None
    if len(mesh.sizes) < len(mesh.axes):
        return "duplicate axis name"
    if not mesh.device_ids:
        return None
    if len(mesh.device_ids) != mesh.count:
        return f"expected {mesh.count} device_ids, got {len(mesh.device_ids)}"
    if sorted(mesh.device_ids) != list(range(mesh.count)):
        return f"expected device_ids to be a permutation of the numbers below {mesh.count}"
    return None


def invalid_edges(edges: PropagationEdges) -> str | None:
    """Return what is wrong with propagation edges, whatever op they belong to; None if they are valid."""
    seen = set()
    for step in edges.steps:
        if step.index < 0:
            return f"negative step {step.index}"
        if step.index in seen:
            return f"duplicate step {step.index}"
        seen.add(step.index)
        for edge in step.edges:
            if edge.source in edge.targets:
                return f"the source {edge.source} is also a target"
            if len(set(edge.targets)) < len(edge.targets):
                return f"duplicate target in step {step.index}"
    return None


# --- attributes -----------------------------------------------------------------------------------------------------

# How attributes are parsed after `#sdy.mnemonic`, or after `#sdy<mnemonic` and before `>`.
MNEMONICS: dict[str, Callable[[Reader], object]] = {
    "manual_axes": Reader.manual_axes,
    "mesh": Reader.mesh,
    "mesh_axis": Reader._mesh_axis,
    "sub_axis_info": Reader.sub_axis,
    "axis_ref": Reader.axis,
    "axis_ref_list": Reader.axis_list,
    "list_of_axis_ref_lists": Reader.axis_lists,
    "dimension_sharding": Reader.dimension,
    "sharding": Reader.sharding,
    "sharding_per_value": Reader.shardings,
    "all_to_all_param": Reader.exchange,
    "all_to_all_param_list": Reader.exchanges,
    "op_sharding_rule": Reader.rule,
    "propagation_edges": Reader.edges,
    "tensor_mapping": Reader._mapping,
    "dim_mapping": Reader._factors,
}


def read_attribute(text: str) -> Any:
    """Return the value of an attribute of the dialect; SdySyntaxError for malformed text.

    An attribute that is new to this reader is returned as text.
    """
    return _read_short(text) if len(text) <= MEMOIZED_LENGTH else _read(text)


def _read(text: str) -> Any:
    match = _match_head(text)
    mnemonic = match and (match[1] or match[2])
    if not match or mnemonic not in MNEMONICS:
        return text
    reader = Reader(text, match.end())
    value = MNEMONICS[mnemonic](reader)
    if match[2]:
        reader.expect(">")
    if reader.next.kind != "end":
        raise reader.expected("the end of the attribute")
    return value


_read_short = lru_cache(maxsize=1 << 12)(_read)


def text_of(mnemonic: str, value: object) -> str:
    """Return the text of an attribute."""
    body = str(value)
    return f"#sdy.{mnemonic}{body}" if body.startswith("<") else f"#sdy<{mnemonic}{body}>"
