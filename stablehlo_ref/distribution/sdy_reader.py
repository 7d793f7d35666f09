"""The text of sdy attributes, such as `#sdy.sharding<@mesh, [{"x"}, {?}]>`, to Python values."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from stablehlo_ref.diagnostics import MalformedError, Source
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
from stablehlo_ref.ir.lexer import Cursor

T = TypeVar("T")
MEMOIZED_LENGTH = 1000  # characters of the longest attribute that is memoized
BITS = 63  # of numbers, besides the sign
REDUCTIONS = ("sum", "max", "min")
NODES = ("operand", "result")

_match_factor = re.compile(r"z_([1-9]\d{0,8})(?!\d)|(?!z_)([i-z])").match
_match_priority = re.compile(r"p(0|[1-9]\d{0,17})").fullmatch
_match_head = re.compile(r"#sdy(?:\.([a-z_]+)|<\s*([a-z_]+))").match


class SdySyntaxError(ValueError):
    """The text is not an attribute; `offset` is where that shows."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class Reader(Cursor):
    """A position in the text of an attribute, and a method for each construct."""

    # --- tokens ---

    def expected(self, what: str, starts_line: bool = False, hint: str = "") -> MalformedError:
        found = self.peek()
        return self.error(f"expected {what}, got '{found[:40]}'" if found else f"expected {what}, got the end")

    def tuple_of(self, item: Callable[[], T], opening: str, closing: str, required: bool = False) -> tuple[T, ...]:
        """Parse `opening (item (, item)*)? closing`; at least one item if they are `required`."""
        self.expect(opening)
        found: list[T] = [item()] if required else []
        while not self.accept(closing):
            if found:
                self.expect(",")
            found.append(item())
        return tuple(found)

    def integer(self) -> int:
        offset, sign = self.start, -1 if self.accept("-") else 1
        if not (digits := self.peek()).isdecimal():
            raise self.expected("an integer")
        if len(digits) > 20 or int(digits) >= 1 << BITS:
            raise self.error("integer value too large", offset)
        return sign * int(self.advance())

    def _is_word(self) -> bool:
        return self.peek()[:1].isalpha() or self.peek()[:1] == "_"

    def name(self) -> str:
        """Parse a string, the name of an axis."""
        if self.peek()[:1] != '"' or len(self.peek()) < 2:
            raise self.expected('the name of an axis such as "x"')
        return self.string()

    def _skip_name(self, mnemonic: str) -> None:
        """Consume `#sdy.mnemonic`, which an attribute inside another one may start with."""
        if self.peek()[:1] == "#":
            self.expect(f"#sdy.{mnemonic}")

    # --- meshes and axes ---

    def mesh(self) -> Mesh:
        self._skip_name("mesh")
        offset = self.start
        self.expect("<")
        axes = self.tuple_of(self._mesh_axis, "[", "]")
        devices: tuple[int, ...] = ()
        if self.accept(","):
            self.expect("device_ids")
            self.expect("=")
            devices = self.tuple_of(self.integer, "[", "]")
        self.expect(">")
        mesh = Mesh(axes, devices)
        if reason := invalid_mesh(mesh):
            raise self.error(reason, offset)
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
        return self.tuple_of(self.axis, "{", "}", required)

    def exchange(self) -> Exchange:
        axes = self.axes(required=True)
        self.expect(":")
        source = self.integer()
        self.expect("->")
        return Exchange(axes, source, self.integer())

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
        if not self._is_word():
            return None
        match = _match_priority(self.peek())
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
            offset, text = self.start + 1, self.peek()
            if text[:1] != "@" or len(text) < 2:
                raise self.expected("a mesh: '@name' or 'mesh<...>'")
            mesh = self.unescape(text[1:], offset) if text[1] == '"' else text[1:]
            self.advance()
        self.expect(",")
        dimensions = self.tuple_of(self.dimension, "[", "]")
        lists: dict[str, tuple[AxisRef, ...]] = {}
        reduction = "sum"
        while self.accept(","):
            keyword = self.peek()
            if keyword not in ("replicated", "unreduced") or lists.get(keyword):
                raise self.expected("'replicated' or 'unreduced', each at most once")
            self.advance()
            self.expect("=")
            if keyword == "unreduced" and self.peek() in REDUCTIONS:
                reduction = self.advance()
            lists[keyword] = self.axes(required=True)
        self.expect(">")
        return Sharding(mesh, dimensions, lists.get("replicated", ()), lists.get("unreduced", ()), reduction, text)

    def shardings(self) -> Shardings:
        self.expect("<")
        found = self.tuple_of(self.sharding, "[", "]")
        self.expect(">")
        return Shardings(found)

    # --- sharding rules ---

    def rule(self) -> ShardingRule:
        self.expect("<")
        operands = self.tuple_of(self._mapping, "(", ")")
        self.expect("->")
        results = self.tuple_of(self._mapping, "(", ")")
        sizes = self._factor_sizes() if self.peek() == "{" else ()
        kinds = {kind: self._special(kind) for kind in ShardingRule((), (), ()).special_factors}
        is_custom = self.accept(",")
        if is_custom:
            self.expect("custom")
        self.expect(">")
        return ShardingRule(sizes, operands, results, **kinds, is_custom=is_custom)

    def _mapping(self) -> TensorMapping:
        return self.tuple_of(self._factors, "[", "]")

    def _factors(self) -> Factors:
        """Parse the factors of a dimension: `ij`; none are an error of the verifier."""
        return self._split_factors() if self._is_word() else ()

    def _split_factors(self) -> Factors:
        offset, text = self.start, self.word("a factor such as 'i'")
        factors: list[int] = []
        position = 0
        while position < len(text):
            match = _match_factor(text, position)
            if not match:
                reason = f"expected factors 'i' to 'z', 'z_1', 'z_2', ..., got '{text[position:][:40]}'"
                raise self.error(reason, offset + position)
            factors.append(int(match[1]) + len(LETTERS) - 1 if match[1] else LETTERS.index(match[2]))
            position = match.end()
        return tuple(factors)

    def _factor(self) -> int:
        offset, factors = self.start, self._split_factors()
        if len(factors) != 1:
            raise self.error("expected a single factor", offset)
        return factors[0]

    def _factor_sizes(self) -> tuple[int, ...]:
        sizes: list[int] = []

        def entry() -> None:
            offset, factor = self.start, self._factor()
            if factor != len(sizes):
                reason = f"expected factors in order: {factor_name(len(sizes))!r}, got {factor_name(factor)!r}"
                raise self.error(reason, offset)
            self.expect("=")
            sizes.append(self.integer())

        self.tuple_of(entry, "{", "}")
        return tuple(sizes)

    def _special(self, kind: str) -> Factors:
        if not self.accept(kind):
            return ()
        self.expect("=")
        return self.tuple_of(self._factor, "{", "}")

    # --- propagation edges ---

    def edges(self) -> PropagationEdges:
        offset = self.start
        self.expect("<")
        edges = PropagationEdges(self.tuple_of(self._step, "[", "]"))
        self.expect(">")
        if reason := invalid_edges(edges):
            raise self.error(reason, offset)
        return edges

    def _step(self) -> PropagationStep:
        self.expect("{")
        self.expect("step")
        self.expect("-")
        index = self.integer()
        self.expect("=")
        step = PropagationStep(index, self.tuple_of(self._edge, "[", "]", required=True))
        self.expect("}")
        return step

    def _edge(self) -> Edge:
        self.expect("{")
        axis = self.axis()
        self.expect("=")
        source = self._value()
        self.expect("->")
        edge = Edge(axis, source, self.tuple_of(self._value, "[", "]", required=True))
        self.expect("}")
        return edge

    def _value(self) -> ValueRef:
        if self.peek() not in NODES:
            raise self.expected("'operand' or 'result'")
        kind = self.advance()
        self.expect("-")
        return ValueRef(kind, self.integer())


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
    "manual_axes": lambda reader: ManualAxes(reader.tuple_of(reader.name, "{", "}")),
    "mesh": Reader.mesh,
    "mesh_axis": Reader._mesh_axis,
    "sub_axis_info": Reader.sub_axis,
    "axis_ref": Reader.axis,
    "axis_ref_list": lambda reader: AxisList(reader.axes()),
    "list_of_axis_ref_lists": lambda reader: AxisLists(reader.tuple_of(lambda: AxisList(reader.axes()), "[", "]")),
    "dimension_sharding": Reader.dimension,
    "sharding": Reader.sharding,
    "sharding_per_value": Reader.shardings,
    "all_to_all_param": Reader.exchange,
    "all_to_all_param_list": lambda reader: Exchanges(reader.tuple_of(reader.exchange, "[", "]")),
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
    reader = Reader(Source(text))
    reader.position = match.end()
    try:
        value = MNEMONICS[mnemonic](reader)
        if match[2]:
            reader.expect(">")
        if reader.peek():
            raise reader.expected("the end of the attribute")
    except MalformedError as error:
        message, place = error.diagnostics[0].message, error.diagnostics[0].location
        raise SdySyntaxError(message, place.offset if place else 0) from None
    return value


_read_short = lru_cache(maxsize=1 << 12)(_read)


def text_of(mnemonic: str, value: object) -> str:
    """Return the text of an attribute."""
    body = str(value)
    return f"#sdy.{mnemonic}{body}" if body.startswith("<") else f"#sdy<{mnemonic}{body}>"
