"""The attributes of Shardy's sdy dialect as Python values, such as that of `#sdy.sharding<@mesh, [{"x"}, {?}]>`.

`str(value)` is their text without dialect and mnemonic.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import prod
from typing import Annotated, Any, Self, TypeAlias

from stablehlo_ref.diagnostics import MalformedError, Source
from stablehlo_ref.distribution.sdy_forms import ATTRIBUTES, INTEGER, NAME, Form, Reader, SdyAttribute, joined, listed
from stablehlo_ref.ir.lexer import quoted, symbol

LETTERS = "ijklmnopqrstuvwxyz"  # of factors of a sharding rule
REDUCTIONS = ("sum", "max", "min")
NODES = ("operand", "result")
MEMOIZED_LENGTH = 1000  # characters of the longest attribute that is memoized

_match_factor = re.compile(r"z_([1-9]\d{0,8})(?!\d)|(?!z_)([i-z])").match
_match_priority = re.compile(r"p(0|[1-9]\d{0,17})").fullmatch
_match_head = re.compile(r"#sdy(?:\.([a-z_]+)|<\s*([a-z_]+))").match

# --- meshes and axes ------------------------------------------------------------------------------------------------


def _mesh_axis(reader: Reader) -> tuple[str, int]:
    name = reader.name()
    reader.expect("=")
    return name, reader.integer()


MESH_AXIS = ATTRIBUTES["mesh_axis"] = Form(_mesh_axis, lambda a: f"{quoted(a[0])}={a[1]}", mnemonic="mesh_axis")


@dataclass(frozen=True)
class Mesh(SdyAttribute, mnemonic="mesh", text="<$axes?(, device_ids=$device_ids)>"):
    """`<["x"=2, "y"=4], device_ids=[...]>`; without axes and with one device, all is on that device.

    Ids in the order of a mesh with axes are left out.
    """

    axes: Annotated[tuple[tuple[str, int], ...], listed(MESH_AXIS)]
    device_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.axes and len(self.device_ids) == self.count and all(n == id for n, id in enumerate(self.device_ids)):
            object.__setattr__(self, "device_ids", ())

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of axes by name, in order."""
        return dict(self.axes)

    @property
    def is_maximal(self) -> bool:
        """Whether all is on one device."""
        return not self.axes and len(self.device_ids) == 1

    @property
    def count(self) -> int:
        """The number of devices."""
        return prod(self.sizes.values())

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.skip_name("mesh")
        offset, mesh = reader.start, super().read(reader)
        if reason := invalid_mesh(mesh):
            raise reader.error(reason, offset)
        return mesh


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


@dataclass(frozen=True)
class SubAxis(SdyAttribute, mnemonic="sub_axis_info", text="($pre_size)$size"):
    """`(pre_size)size`: an axis split into (pre-size, size, rest) has this middle part."""

    pre_size: int
    size: int


@dataclass(frozen=True)
class AxisRef(SdyAttribute, mnemonic="axis_ref", text="$name?(:$part)"):
    """`"x"`, or a part of it: `"x":(2)4`."""

    name: str
    part: SubAxis | None = None


Axes: TypeAlias = Annotated[tuple[AxisRef, ...], listed(AxisRef.form, "{}")]
SomeAxes: TypeAlias = Annotated[tuple[AxisRef, ...], listed(AxisRef.form, "{}", required=True)]


@dataclass(frozen=True)
class AxisList(SdyAttribute, mnemonic="axis_ref_list", text="$axes"):
    """`{"x", "y":(1)2}`."""

    axes: Axes


@dataclass(frozen=True)
class AxisLists(SdyAttribute, mnemonic="list_of_axis_ref_lists", text="$lists"):
    """`[{"x"}, {}]`: axes for each dimension of a tensor."""

    lists: tuple[AxisList, ...]


@dataclass(frozen=True)
class ManualAxes(SdyAttribute, mnemonic="manual_axes", text="$names"):
    """`{"x", "y"}`: the axes that a manual computation is manual on."""

    names: Annotated[tuple[str, ...], listed(NAME, "{}")]


@dataclass(frozen=True)
class Exchange(SdyAttribute, mnemonic="all_to_all_param", text="$axes: $source->$target"):
    """`{"x"}: 0->1`: axes that move from one dimension to another."""

    axes: SomeAxes
    source: int
    target: int


@dataclass(frozen=True)
class Exchanges(SdyAttribute, mnemonic="all_to_all_param_list", text="$exchanges"):
    """`[{"x"}: 0->1, {"y"}: 2->3]`."""

    exchanges: tuple[Exchange, ...]


# --- shardings ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DimensionSharding(SdyAttribute, mnemonic="dimension_sharding"):
    """`{"x", "y", ?}p1`: the axes that shard a dimension, from major to minor; `?` if more may do."""

    axes: Axes
    is_closed: bool = True
    priority: int | None = None

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("{")
        axes: list[AxisRef] = []
        is_closed = True
        while not reader.accept("}"):
            if axes:
                reader.expect(",")
            if reader.accept("?"):
                is_closed = False
                reader.expect("}")
                break
            axes.append(AxisRef.read(reader))
        return cls(tuple(axes), is_closed, _priority(reader))

    def __str__(self) -> str:
        items = [*self.axes, *(() if self.is_closed else "?")]
        return f"{{{joined(items)}}}" + ("" if self.priority is None else f"p{self.priority}")


def _priority(reader: Reader) -> int | None:
    if not reader.is_word():
        return None
    match = _match_priority(reader.peek())
    if not match:
        raise reader.expected("a priority such as 'p1', without leading zeros")
    reader.advance()
    return int(match[1])


def _mesh_or_name(reader: Reader) -> Mesh | str:
    if reader.accept("mesh"):
        return Mesh.read(reader)
    offset, text = reader.start + 1, reader.peek()
    if text[:1] != "@" or len(text) < 2:
        raise reader.expected("a mesh: '@name' or 'mesh<...>'")
    name = reader.unescape(text[1:], offset) if text[1] == '"' else text[1:]
    reader.advance()
    return name


MeshOrName: TypeAlias = Mesh | str  # the name is that of a symbol, without `@`
MESH = Form(_mesh_or_name, lambda mesh: f"mesh{mesh}" if isinstance(mesh, Mesh) else symbol(mesh))
REDUCTION = Form(
    lambda reader: reader.advance() if reader.peek() in REDUCTIONS else "sum",
    lambda reduction: "" if reduction == "sum" else reduction,
)


@dataclass(frozen=True)
class Sharding(
    SdyAttribute,
    mnemonic="sharding",
    text="<$mesh, $dimensions?(, replicated=$replicated)?(, unreduced=$reduction$unreduced)>",
):
    """`<@mesh, [{"x"}, {?}], replicated={"y"}, unreduced=max{"z"}>`: how a tensor is sharded on a mesh."""

    mesh: Annotated[MeshOrName, MESH]
    dimensions: tuple[DimensionSharding, ...]
    replicated: SomeAxes = ()
    unreduced: SomeAxes = ()
    reduction: Annotated[str, REDUCTION] = "sum"

    @property
    def axes(self) -> tuple[AxisRef, ...]:
        """All axes, in the order of the text."""
        return (*self.sharding_axes, *self.replicated, *self.unreduced)

    @property
    def sharding_axes(self) -> tuple[AxisRef, ...]:
        """The axes that shard dimensions."""
        return tuple(axis for dimension in self.dimensions for axis in dimension.axes)

    def filtered(self, keeps: Callable[[AxisRef], bool]) -> Sharding:
        """Return the sharding with some of its axes."""
        dimensions = tuple(replace(d, axes=tuple(filter(keeps, d.axes))) for d in self.dimensions)
        replicated, unreduced = (tuple(filter(keeps, axes)) for axes in (self.replicated, self.unreduced))
        return replace(self, dimensions=dimensions, replicated=replicated, unreduced=unreduced)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        forms = cls.fields()
        reader.skip_name("sharding")
        reader.expect("<")
        values = {"mesh": forms["mesh"].read(reader)}
        reader.expect(",")
        values["dimensions"] = forms["dimensions"].read(reader)
        while reader.accept(","):
            keyword = reader.peek()
            if keyword not in ("replicated", "unreduced") or keyword in values:
                raise reader.expected("'replicated' or 'unreduced', each at most once")
            reader.advance()
            reader.expect("=")
            if keyword == "unreduced":
                values["reduction"] = REDUCTION.read(reader)
            values[keyword] = forms[keyword].read(reader)
        reader.expect(">")
        return cls(**values)


@dataclass(frozen=True)
class Shardings(SdyAttribute, mnemonic="sharding_per_value", text="<$shardings>"):
    """`<[<@mesh, [{"x"}]>, ...]>`: one sharding for each of several values."""

    shardings: tuple[Sharding, ...]


# --- sharding rules -------------------------------------------------------------------------------------------------

Factors: TypeAlias = tuple[int, ...]
TensorMapping: TypeAlias = tuple[Factors, ...]  # the factors of each dimension


def factor_name(index: int) -> str:
    """Return the name of a factor: `i` to `z`, then `z_1`, `z_2`, ..."""
    return LETTERS[index] if index < len(LETTERS) else f"z_{index - len(LETTERS) + 1}"


def _factors(reader: Reader) -> Factors:
    offset, text = reader.start, reader.word("a factor such as 'i'")
    factors: list[int] = []
    position = 0
    while position < len(text):
        match = _match_factor(text, position)
        if not match:
            reason = f"expected factors 'i' to 'z', 'z_1', 'z_2', ..., got '{text[position:][:40]}'"
            raise reader.error(reason, offset + position)
        factors.append(int(match[1]) + len(LETTERS) - 1 if match[1] else LETTERS.index(match[2]))
        position = match.end()
    return tuple(factors)


def _factor(reader: Reader) -> int:
    offset, factors = reader.start, _factors(reader)
    if len(factors) != 1:
        raise reader.error("expected a single factor", offset)
    return factors[0]


def _factor_sizes(reader: Reader) -> tuple[int, ...]:
    sizes: list[int] = []

    def entry() -> None:
        offset, factor = reader.start, _factor(reader)
        if factor != len(sizes):
            reason = f"expected factors in order: {factor_name(len(sizes))!r}, got {factor_name(factor)!r}"
            raise reader.error(reason, offset)
        reader.expect("=")
        sizes.append(reader.integer())

    reader.tuple_of(entry, "{", "}")
    return tuple(sizes)


def _factor_sizes_text(sizes: tuple[int, ...]) -> str:
    return f"{{{joined(f'{factor_name(index)}={size}' for index, size in enumerate(sizes))}}}"


FACTOR = Form(_factor, factor_name)
DIM_MAPPING = ATTRIBUTES["dim_mapping"] = Form[Factors](
    lambda reader: _factors(reader) if reader.is_word() else (),  # none are an error of the verifier
    lambda factors: "".join(map(factor_name, factors)),
    item=FACTOR,
    mnemonic="dim_mapping",
)
TENSOR_MAPPING = ATTRIBUTES["tensor_mapping"] = listed(DIM_MAPPING, mnemonic="tensor_mapping")
FACTOR_SIZES = Form(_factor_sizes, _factor_sizes_text, "{", INTEGER)
Mappings: TypeAlias = Annotated[tuple[TensorMapping, ...], listed(TENSOR_MAPPING, "()")]
Special: TypeAlias = Annotated[Factors, listed(FACTOR, "{}")]  # factors of one kind


@dataclass(frozen=True)
class ShardingRule(
    SdyAttribute,
    mnemonic="op_sharding_rule",
    text="<$operands->$results?( $factor_sizes)?( reduction=$reduction)?( need_replication=$need_replication)"
    "?( permutation=$permutation)?( blocked_propagation=$blocked_propagation)?(, custom$is_custom)>",
):
    """`<([i, k], [k, j])->([i, j]) {i=2, j=4, k=8} reduction={k}, custom>`: which dimensions are sharded together."""

    factor_sizes: Annotated[tuple[int, ...], FACTOR_SIZES] = ()
    operands: Mappings = ()
    results: Mappings = ()
    reduction: Special = ()
    need_replication: Special = ()
    permutation: Special = ()
    blocked_propagation: Special = ()
    is_custom: bool = False

    @property
    def special_factors(self) -> dict[str, Factors]:
        """The lists of factors of a kind, by keyword."""
        kinds = ("reduction", "need_replication", "permutation", "blocked_propagation")
        return {kind: getattr(self, kind) for kind in kinds}


# --- propagation edges ----------------------------------------------------------------------------------------------


def _node(reader: Reader) -> str:
    if reader.peek() not in NODES:
        raise reader.expected("'operand' or 'result'")
    return reader.advance()


@dataclass(frozen=True)
class ValueRef(SdyAttribute, text="$kind-$index"):
    """`operand-0` or `result-1` of the op that has the attribute."""

    kind: Annotated[str, Form(_node, str)]
    index: int


@dataclass(frozen=True)
class Edge(SdyAttribute, text="{$axis = $source -> $targets}"):
    """`{"x" = operand-0 -> [result-0]}`: the axis went from the source to the targets."""

    axis: AxisRef
    source: ValueRef
    targets: Annotated[tuple[ValueRef, ...], listed(ValueRef.form, required=True)]


@dataclass(frozen=True)
class PropagationStep(SdyAttribute, text="{step-$index = $edges}"):
    """`{step-0 = [...]}`: the edges of one step of propagation."""

    index: int
    edges: Annotated[tuple[Edge, ...], listed(Edge.form, required=True)]


@dataclass(frozen=True)
class PropagationEdges(SdyAttribute, mnemonic="propagation_edges", text="<$steps>"):
    """`<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>`."""

    steps: tuple[PropagationStep, ...]

    @classmethod
    def read(cls, reader: Reader) -> Self:
        offset, edges = reader.start, super().read(reader)
        if reason := _invalid_edges(edges):
            raise reader.error(reason, offset)
        return edges


def _invalid_edges(edges: PropagationEdges) -> str | None:
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


# --- attributes as text ---------------------------------------------------------------------------------------------


class SdySyntaxError(ValueError):
    """The text is not an attribute; `offset` is where that shows."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def read_attribute(text: str) -> Any:
    """Return the value of an attribute of the dialect; SdySyntaxError for malformed text.

    An attribute that is not known here is returned as text.
    """
    return _read_short(text) if len(text) <= MEMOIZED_LENGTH else _read(text)


def _read(text: str) -> Any:
    match = _match_head(text)
    form = ATTRIBUTES.get(match[1] or match[2]) if match else None
    if match is None or form is None:
        return text
    reader = Reader(Source(text))
    reader.position = match.end()
    try:
        value = form.read(reader)
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
    body = ATTRIBUTES[mnemonic].text(value)
    blank = " " if body[:1].isalpha() else ""
    return f"#sdy.{mnemonic}{body}" if body.startswith("<") else f"#sdy<{mnemonic}{blank}{body}>"
