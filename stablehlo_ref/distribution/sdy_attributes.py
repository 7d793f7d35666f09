"""The attributes of Shardy's sdy dialect as Python values; `str(value)` is their text without dialect and mnemonic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias

from stablehlo_ref.ir.lexer import quoted

LETTERS = "ijklmnopqrstuvwxyz"  # of factors of a sharding rule


def _list(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))


# --- meshes and axes ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mesh:
    """`<["x"=2, "y"=4], device_ids=[...]>`; without axes and with one device, all is on that device."""

    axes: tuple[tuple[str, int], ...]
    device_ids: tuple[int, ...] = ()

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

    def __str__(self) -> str:
        axes = _list(f"{quoted(name)}={size}" for name, size in self.axes)
        in_order = self.axes and all(number == device for number, device in enumerate(self.device_ids))
        devices = f", device_ids=[{_list(self.device_ids)}]" if self.device_ids and not in_order else ""
        return f"<[{axes}]{devices}>"


@dataclass(frozen=True)
class SubAxis:
    """`(pre_size)size`: an axis split into (pre-size, size, rest) has this middle part."""

    pre_size: int
    size: int

    def __str__(self) -> str:
        return f"({self.pre_size}){self.size}"


@dataclass(frozen=True)
class AxisRef:
    """`"x"`, or a part of it: `"x":(2)4`."""

    name: str
    part: SubAxis | None = None

    def __str__(self) -> str:
        return quoted(self.name) + (f":{self.part}" if self.part else "")


@dataclass(frozen=True)
class AxisList:
    """`{"x", "y":(1)2}`."""

    axes: tuple[AxisRef, ...]

    def __str__(self) -> str:
        return f"{{{_list(self.axes)}}}"


@dataclass(frozen=True)
class AxisLists:
    """`[{"x"}, {}]`: axes for each dimension of a tensor."""

    lists: tuple[AxisList, ...]

    def __str__(self) -> str:
        return f"[{_list(self.lists)}]"


@dataclass(frozen=True)
class ManualAxes:
    """`{"x", "y"}`: the axes that a manual computation is manual on."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{{{_list(map(quoted, self.names))}}}"


@dataclass(frozen=True)
class Exchange:
    """`{"x"}: 0->1`: axes that move from one dimension to another."""

    axes: tuple[AxisRef, ...]
    source: int
    target: int

    def __str__(self) -> str:
        return f"{{{_list(self.axes)}}}: {self.source}->{self.target}"


@dataclass(frozen=True)
class Exchanges:
    """`[{"x"}: 0->1, {"y"}: 2->3]`."""

    exchanges: tuple[Exchange, ...]

    def __str__(self) -> str:
        return f"[{_list(self.exchanges)}]"


# --- shardings ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DimensionSharding:
    """`{"x", "y", ?}p1`: the axes that shard a dimension, from major to minor; `?` if more may do."""

    axes: tuple[AxisRef, ...]
    is_closed: bool = True
    priority: int | None = None

    def __str__(self) -> str:
        items = [*map(str, self.axes), *(() if self.is_closed else "?")]
        return f"{{{', '.join(items)}}}" + ("" if self.priority is None else f"p{self.priority}")


MeshOrName: TypeAlias = Mesh | str  # the name is that of a symbol, without `@`


@dataclass(frozen=True)
class Sharding:
    """`<@mesh, [{"x"}, {?}], replicated={"y"}, unreduced=max{"z"}>`: how a tensor is sharded on a mesh."""

    mesh: MeshOrName
    dimensions: tuple[DimensionSharding, ...]
    replicated: tuple[AxisRef, ...] = ()
    unreduced: tuple[AxisRef, ...] = ()
    reduction: str = "sum"
    mesh_text: str = ""  # of a symbol, as written

    @property
    def axes(self) -> tuple[AxisRef, ...]:
        """All axes, in the order of the text."""
        return (*self.sharding_axes, *self.replicated, *self.unreduced)

    @property
    def sharding_axes(self) -> tuple[AxisRef, ...]:
        """The axes that shard dimensions."""
        return tuple(axis for dimension in self.dimensions for axis in dimension.axes)

    def __str__(self) -> str:
        parts = [f"mesh{self.mesh}" if isinstance(self.mesh, Mesh) else self.mesh_text or f"@{self.mesh}"]
        parts.append(f"[{_list(self.dimensions)}]")
        if self.replicated:
            parts.append(f"replicated={{{_list(self.replicated)}}}")
        if self.unreduced:
            parts.append(f"unreduced={'' if self.reduction == 'sum' else self.reduction}{{{_list(self.unreduced)}}}")
        return f"<{', '.join(parts)}>"


@dataclass(frozen=True)
class Shardings:
    """`<[<@mesh, [{"x"}]>, ...]>`: one sharding for each of several values."""

    shardings: tuple[Sharding, ...]

    def __str__(self) -> str:
        return f"<[{_list(self.shardings)}]>"


# --- sharding rules -------------------------------------------------------------------------------------------------

Factors: TypeAlias = tuple[int, ...]
TensorMapping: TypeAlias = tuple[Factors, ...]  # the factors of each dimension


def factor_name(index: int) -> str:
    """Return the name of a factor: `i` to `z`, then `z_1`, `z_2`, ..."""
    return LETTERS[index] if index < len(LETTERS) else f"z_{index - len(LETTERS) + 1}"


@dataclass(frozen=True)
class ShardingRule:
    """`<([i, k], [k, j])->([i, j]) {i=2, j=4, k=8} reduction={k}, custom>`: which dimensions are sharded together."""

    factor_sizes: tuple[int, ...]
    operands: tuple[TensorMapping, ...]
    results: tuple[TensorMapping, ...]
    reduction: Factors = ()
    need_replication: Factors = ()
    permutation: Factors = ()
    blocked_propagation: Factors = ()
    is_custom: bool = False

    @property
    def special_factors(self) -> dict[str, Factors]:
        """The lists of factors of a kind, by keyword."""
        kinds = ("reduction", "need_replication", "permutation", "blocked_propagation")
        return {kind: getattr(self, kind) for kind in kinds}

    def __str__(self) -> str:
        text = f"({_mappings(self.operands)})->({_mappings(self.results)})"
        if self.factor_sizes:
            text += f" {{{_list(f'{factor_name(index)}={size}' for index, size in enumerate(self.factor_sizes))}}}"
        for kind, factors in self.special_factors.items():
            if factors:
                text += f" {kind}={{{_list(map(factor_name, factors))}}}"
        return f"<{text}{', custom' if self.is_custom else ''}>"


def _mappings(mappings: Sequence[TensorMapping]) -> str:
    return _list(f"[{_list(''.join(map(factor_name, factors)) for factors in mapping)}]" for mapping in mappings)


# --- propagation edges ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ValueRef:
    """`operand-0` or `result-1` of the op that has the attribute."""

    kind: str
    index: int

    def __str__(self) -> str:
        return f"{self.kind}-{self.index}"


@dataclass(frozen=True)
class Edge:
    """`{"x" = operand-0 -> [result-0]}`: the axis went from the source to the targets."""

    axis: AxisRef
    source: ValueRef
    targets: tuple[ValueRef, ...]

    def __str__(self) -> str:
        return f"{{{self.axis} = {self.source} -> [{_list(self.targets)}]}}"


@dataclass(frozen=True)
class PropagationStep:
    """`{step-0 = [...]}`: the edges of one step of propagation."""

    index: int
    edges: tuple[Edge, ...]

    def __str__(self) -> str:
        return f"{{step-{self.index} = [{_list(self.edges)}]}}"


@dataclass(frozen=True)
class PropagationEdges:
    """`<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>`."""

    steps: tuple[PropagationStep, ...]

    def __str__(self) -> str:
        return f"<[{_list(self.steps)}]>"
