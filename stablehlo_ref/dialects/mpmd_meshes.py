"""The attributes of mpmd ops, the meshes of a topology, and which tensors are on them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Annotated, TypeAlias

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft, SpelledCodec, WordCodec, member_value
from stablehlo_ref.define.attribute_codecs import ListCodec
from stablehlo_ref.define.type_constraints import TypeConstraint
from stablehlo_ref.dialects.sdy_shardings import SdyCodec, rejecting
from stablehlo_ref.distribution.meshes import check_sharding, sharded_size
from stablehlo_ref.distribution.sdy_attributes import Mesh, Sharding, Shardings, read_attribute
from stablehlo_ref.ir.attributes import Attribute, OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.lexer import quoted
from stablehlo_ref.ir.types import MeshTensorType, Type

mesh_tensor = TypeConstraint("mesh tensor", lambda t: isinstance(t, MeshTensorType), MeshTensorType)

# --- attributes -----------------------------------------------------------------------------------------------------


class OriginCodec(SpelledCodec[str]):
    """`"name"`, or `"name"(2)` for what two transpositions in JAX made of a computation; kept in that form."""

    name = "#mpmd.user_origin"

    def read(self, attribute: Attribute) -> str | None:
        text = attribute.text if isinstance(attribute, OpaqueAttribute) else ""
        found = re.fullmatch(r'#mpmd\.user_origin<\s*("(?:[^"\\]|\\.)*")\s*(?:\(\s*(\d+)\s*\))?\s*>', text)
        if not found:
            return None
        return found[1] if not int(found[2] or 0) else f"{found[1]}({int(found[2])})"

    def encode(self, value: str) -> Attribute:
        return OpaqueAttribute(f"#mpmd.user_origin<{value}>")

    def parse(self, parser: AsmParser) -> str:
        text = quoted(parser.string())
        if parser.accept("("):
            count = parser.integer()
            text += f"({count})" if count else ""
            parser.expect(")")
        return text

    def text(self, value: str) -> str:
        return value


class ReductionType(Enum):
    """How a `reduce` combines tensors of several meshes; the only operand of `none` is the result."""

    NONE = "none"
    ADD = "add"
    MAX = "max"
    MIN = "min"
    MUL = "mul"
    OR = "or"
    AND = "and"


class ReductionCodec(WordCodec[ReductionType]):
    """`#mpmd.reduction<add>`."""

    name = "#mpmd.reduction"

    def read(self, attribute: Attribute) -> ReductionType | None:
        text = attribute.text if isinstance(attribute, OpaqueAttribute) else ""
        found = re.fullmatch(r"#mpmd\.reduction<\s*(\w+)\s*>", text)
        return self.words.get(found[1]) if found else None

    def encode(self, value: ReductionType) -> Attribute:
        return OpaqueAttribute(f"#mpmd.reduction<{value.value}>")


ORIGIN, SHARDINGS = OriginCodec(), SdyCodec(Shardings, "shardings")
Origin: TypeAlias = Annotated[str, ORIGIN]
Origins: TypeAlias = Annotated[tuple[str, ...], ListCodec(ORIGIN)]
Reduction: TypeAlias = Annotated[ReductionType, ReductionCodec(ReductionType)]


class FragmentForm(Directive):
    """`<mesh="mesh", origin=["name"(1), ...], stage=1, in_shardings=[...], out_shardings=[...]>`."""

    def __init__(self, *optional: str, also: Sequence[str] = ()) -> None:
        self.optional = optional
        self.exclusive = ("mesh_name", "origin", *optional, *also)
        self.members = ("mesh_name", "origin", *optional)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        for word in ("<", "mesh", "="):
            parser.expect(word)
        draft.members["mesh_name"] = parser.string()
        for word in (",", "origin", "="):
            parser.expect(word)
        draft.members["origin"] = tuple(parser.items(lambda: ORIGIN.parse(parser), "[", "]"))
        names = iter(self.optional)
        while parser.accept(","):
            word = parser.peek()
            name = next((name for name in names if name.removesuffix("_id") == word), None)
            if name is None:
                raise parser.expected(" or ".join(f"'{name.removesuffix('_id')}'" for name in self.optional) or "'>'")
            parser.advance()
            parser.expect("=")
            draft.members[name] = parser.integer() if name == "stage_id" else SHARDINGS.parse(parser)
        parser.expect(">")
        draft.exclusive = self.exclusive

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        parts = [f"mesh={quoted(member_value(op, 'mesh_name'))}", f"origin=[{', '.join(member_value(op, 'origin'))}]"]
        for name in self.optional:
            if name in op.properties:
                value = member_value(op, name)
                text = value if isinstance(value, int) else SHARDINGS.text(value)
                parts.append(f"{name.removesuffix('_id')}={text}")
        printer.literal("<")
        printer.value(", ".join(parts))
        printer.literal(">")


# --- meshes ---------------------------------------------------------------------------------------------------------

_MESHES = re.compile(r'<\s*"((?:[^"\\]|\\.)*)"\s*:\s*(<[^<>]*>)\s*>')


def meshes_of(op: Operation) -> Mapping[str, Mesh]:
    """Return the meshes of the topology that the function around an op has; ValueError if it has none."""
    function = op.parent_op
    while function is not None and function.name != "func.func":
        function = function.parent_op
    topology = function.attributes.get("topology") if function is not None else None
    if not isinstance(topology, OpaqueAttribute):
        raise ValueError("is not in a function with a topology")
    return {name: read_attribute(f"#sdy.mesh{mesh}") for name, mesh in _MESHES.findall(topology.text)}


def check_mesh_tensors(op: Operation, types: Sequence[Type]) -> None:
    """Check that mesh tensors are on meshes of the topology, and divide evenly; InvalidError otherwise."""
    with rejecting(op, ""):
        meshes = meshes_of(op)
        for type in types:
            if isinstance(type, MeshTensorType):
                check_mesh_tensor(type, meshes)


def check_mesh_tensor(type: MeshTensorType, meshes: Mapping[str, Mesh]) -> None:
    """Check a mesh tensor in a topology; ValueError if it is not valid."""
    mesh = meshes.get(type.mesh)
    if mesh is None:
        raise ValueError(f"no mesh of the topology has the name {quoted(type.mesh)}")
    if not type.sharding:
        return
    sharding = read_attribute(f"#sdy.sharding{type.sharding}")
    check_sharding(sharding, type.tensor, mesh, {})
    for axis, dimension in enumerate(sharding.dimensions):
        size, count = type.shape[axis], sharded_size(dimension, mesh)
        if size is not None and size % count:
            raise ValueError(f"dim {axis} with size {size} is not divisible by its sharded size {count}")


def is_replicated(type: MeshTensorType) -> bool:
    """Return whether each device of the mesh has the whole tensor."""
    sharding: Sharding | None = read_attribute(f"#sdy.sharding{type.sharding}") if type.sharding else None
    return sharding is None or not sharding.sharding_axes


def are_on_mesh(outer: Sequence[Type], inner: Sequence[Type], mesh: str) -> bool:
    """Return whether `outer` are tensors on a mesh that are those of types `inner`, or tokens."""
    return len(outer) == len(inner) and all(
        x.mesh == mesh and x.tensor == y if isinstance(x, MeshTensorType) else x == y for x, y in zip(outer, inner)
    )


def is_in(op: Operation, *names: str) -> bool:
    """Return whether an op is directly in an op of one of these names."""
    return op.parent_op is None or op.parent_op.name in names
