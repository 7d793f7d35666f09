"""Ops of VHLO: their names and attributes in each revision, and the ops of StableHLO that they stand for.

Attributes become members by name; those that have their defaults are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from stablehlo_ref.bytecode.vhlo.versions import ALGORITHM, CURRENT, history_of
from stablehlo_ref.define.attribute_codecs import ListCodec, SymbolCodec
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.members import REQUIRED, Attr, Undecodable
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.attributes import (
    Attribute,
    DenseElements,
    EnumAttribute,
    IntegerAttribute,
    StructAttribute,
    SymbolReference,
    TypeAttribute,
)
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import BOOLEAN, NONE, integer_type, tensor_type

# Ops that belong to another dialect than StableHLO outside of artifacts.
FUNC_OPS = frozenset(("func", "call"))
RETURN = "return"  # of both dialects

# Attributes in which VHLO differs from the members of StableHLO's ops.
NOT_IN_VHLO = {
    **dict.fromkeys(
        ("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute", "collective_reduce",
         "reduce_scatter"),
        frozenset(("channel_type",)),
    ),
    "custom_call": frozenset(("mhlo.backend_config",)),
}  # fmt: skip
NOT_MEMBERS = {"custom_call": frozenset(("result_tilings",))}
NOT_IN_ARTIFACTS = frozenset(("trace", "compute_reshape_shape", "cstr_reshapable"))  # ops of StableHLO without VHLO

_match_name = re.compile(r"vhlo\.(.+)_v([1-9]\d?)").fullmatch


class VhloOp(NamedTuple):
    """An op of VHLO: its name without dialect and revision, and the number of the revision."""

    base: str
    revision: int


def split_name(name: str) -> VhloOp | None:
    """Split `vhlo.gather_v2` into `gather` and 2. None for an op or a revision that is not known."""
    match = _match_name(name)
    if not match or match[1] in NOT_IN_ARTIFACTS or definition_of(match[1]) is None:
        return None
    revision = int(match[2])
    return VhloOp(match[1], revision) if revision <= 1 + len(history_of(match[1]).revisions) else None


def stablehlo_name(base: str, in_function: bool) -> str:
    """Return the name of the op that VHLO calls `base`; `in_function` if its parent is a function."""
    if base in FUNC_OPS or (base == RETURN and in_function):
        return f"func.{base}"
    return f"stablehlo.{base}"


def definition_of(base: str) -> OpDefinition | None:
    return REGISTRY.get(stablehlo_name(base, in_function=False))


def vhlo_name(op: Operation) -> str | None:
    """Return the name of an op in VHLO, without dialect and revision; None if it has none."""
    dialect, _, base = op.name.partition(".")
    is_func = dialect == "func" and (base in FUNC_OPS or base == RETURN)
    is_known = is_func or (dialect == "stablehlo" and op.name in REGISTRY)
    return base if is_known and base not in NOT_IN_ARTIFACTS else None


@cache
def attribute_names(base: str, revision: int) -> tuple[str, ...]:
    """Return the attributes of a revision of an op, in the order of their names."""
    definition = definition_of(base)
    assert definition is not None
    names = {member.spelling for member in definition.attributes.values()}
    names = (names | NOT_MEMBERS.get(base, frozenset())) - NOT_IN_VHLO.get(base, frozenset())
    for _, later in history_of(base).later(revision):
        names = names - set(later.adds) | set(later.drops)
    return tuple(sorted(names))


# --- what leaving out an attribute means ----------------------------------------------------------------------------

I64 = integer_type(64)
NO_TYPE = TypeAttribute(NONE)
DEFAULT_MODE = EnumAttribute("stablehlo", "result_accuracy_mode", "DEFAULT")
TYPED_FFI = 4  # a version of the API of custom calls whose backend_config is a dictionary
# Lists of numbers for each dimension of a window, which are all this one.
WINDOWS: Mapping[str, int] = {
    **dict.fromkeys(("window_strides", "lhs_dilation", "rhs_dilation", "base_dilations", "window_dilations"), 1),
    **dict.fromkeys(("padding", "window_reversal"), 0),
}

DEFAULTS: Mapping[str, Attribute] = {
    **dict.fromkeys(ALGORITHM, NO_TYPE),
    **dict.fromkeys(("infeed_config", "outfeed_config", "sym_visibility"), ""),
    **dict.fromkeys(("layout", "operand_layouts", "result_layouts"), ()),
    **dict.fromkeys(
        ("known_expanding_dimensions", "known_nonexpanding_dimensions", "source_target_pairs"),
        DenseElements(tensor_type((0,), I64), np.zeros(0, np.int64)),
    ),
    "api_version": EnumAttribute("vhlo", "api_version", "1"),
    "compare_type": EnumAttribute("stablehlo", "comparison_type", "NOTYPE"),
    "precision_config": (EnumAttribute("stablehlo", "precision", "DEFAULT"),) * 2,
    "result_accuracy": StructAttribute("stablehlo.result_accuracy", {"mode": DEFAULT_MODE}),
    "version": IntegerAttribute(0, I64),  # the one of composite, which is 32-bit where it is written
}


def default_window(name: str, *sizes: int) -> DenseElements:
    """Return an attribute of `WINDOWS` for a number of dimensions."""
    element = BOOLEAN if name == "window_reversal" else I64
    type = tensor_type((*sizes, 2) if name == "padding" else sizes, element)
    return DenseElements(type, np.full(type.shape, WINDOWS.get(name, 0), np.bool_ if element == BOOLEAN else np.int64))


WINDOW_OPS = frozenset(("convolution", "dynamic_conv", "reduce_window", "select_and_scatter"))
LAYOUTS = ("operand_layouts", "result_layouts")


# --- upgrades ---------------------------------------------------------------------------------------------------------


class ErrorSite(Protocol):
    """Where an op is in a file, for errors about it."""

    def error(self, message: str) -> StablehloError:
        """Return an error about malformed contents."""

    def unsupported(self, message: str) -> StablehloError:
        """Return an error about contents that are not known."""


def known_op(name: str, cursor: ErrorSite) -> tuple[str, int]:
    """Return the name without dialect, and the revision, of an op that is known; UnsupportedError for others."""
    op = split_name(name)
    if op is None:
        raise cursor.unsupported(f"unknown op '{name}'; the newest known version of StableHLO is {CURRENT}")
    return op


def to_stablehlo(
    name: str, attributes: Mapping[str, Attribute], in_function: bool, cursor: ErrorSite
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return name, members and discardable attributes of the op of StableHLO that an op of VHLO stands for."""
    base, revision = known_op(name, cursor)
    definition = definition_of(base)
    assert definition is not None
    missing = [attribute for attribute in attribute_names(base, revision) if attribute not in attributes]
    if missing:
        raise cursor.error(f"op '{name}' has no attribute '{missing[0]}'")
    own = {attribute: attributes[attribute] for attribute in attribute_names(base, revision)}
    discardable = {attribute: value for attribute, value in attributes.items() if attribute not in own}
    members = _members(base, definition, own) | _discardable_members(definition, discardable)
    return stablehlo_name(base, in_function), members, discardable | _not_members(definition, own)


def _members(base: str, definition: OpDefinition, own: dict[str, Any]) -> dict[str, Any]:
    """Decode attributes into members, without those that have their defaults."""
    grouped = {member.name for group in definition.groups.values() for member in group.fields.values()}
    members: dict[str, Any] = {}
    for member in definition.attributes.values():
        if member.spelling not in own or _is_implied(base, member, own):
            continue
        value = member.decode(_as_written(member, own[member.spelling]))
        if (member.name in grouped and member.name != "channel_id") or not _is_default(member, value):
            members[member.name] = value
    if "channel_id" in members and "channel_type" not in own:
        members["channel_type"] = 0
    return _added_later(definition, grouped, own) | members


def _discardable_members(definition: OpDefinition, discardable: dict[str, Any]) -> dict[str, Any]:
    """Take out and decode discardable attributes that are members here."""
    found = [member for member in definition.attributes.values() if "." in member.spelling]
    return {m.name: m.decode(discardable.pop(m.spelling)) for m in found if m.spelling in discardable}


def _added_later(definition: OpDefinition, grouped: set[str], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults of fields of structs that the op of VHLO is too old to have."""
    return {
        member.name: member.default
        for member in definition.attributes.values()
        if member.name in grouped and member.spelling not in own and member.default == ()
    }


def _not_members(definition: OpDefinition, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is an attribute of the op of VHLO, but no member here, unless it is empty."""
    spelled = {member.spelling for member in definition.attributes.values()}
    return {name: value for name, value in own.items() if name not in spelled and value != () and name != "padding"}


def _as_written(member: Attr, attribute: object) -> Any:
    """Return symbols, which are strings in VHLO, as such."""
    if isinstance(member.codec, SymbolCodec) and isinstance(attribute, str):
        return SymbolReference((attribute,))
    is_list = isinstance(member.codec, ListCodec) and isinstance(member.codec.element, SymbolCodec)
    if is_list and isinstance(attribute, tuple):
        return tuple(SymbolReference((name,)) if isinstance(name, str) else name for name in attribute)
    return attribute


def _is_default(member: Attr, value: object) -> bool:
    if member.default is REQUIRED or isinstance(value, Undecodable):
        return False
    return bool(value == member.default)


def _is_implied(base: str, member: Attr, own: Mapping[str, Any]) -> bool:
    """Return whether an attribute has the value that it has where it is left out."""
    name, value = member.spelling, own[member.spelling]
    if name in LAYOUTS:
        return not any(own[layout] for layout in LAYOUTS)
    if name in WINDOWS and base in WINDOW_OPS:
        return isinstance(value, DenseElements) and value.array.size > 0 and bool(np.all(value.array == WINDOWS[name]))
    if name == "backend_config":
        return value in ("", {})
    if name == "precision_config":
        return isinstance(value, tuple) and all(getattr(item, "value", "") == "DEFAULT" for item in value)
    return member.default is not REQUIRED and bool(value == DEFAULTS.get(name))


# --- casts to and from types of other dialects ------------------------------------------------------------------------

CAST = "builtin.unrealized_conversion_cast"
TO_VHLO = "vhlo"  # the spelling of a cast whose result has a type of VHLO


def fold_casts(module: Operation) -> None:
    """Erase casts whose results have the types of their operands, as upgrading an artifact makes them."""
    with Rewriter(module) as rewriter:
        for op in module.walk():
            if op.name == CAST and op.operand_types == op.result_types:
                rewriter.replace(op, op.operands)


def insert_casts(module: Operation) -> None:
    """Insert casts between values of ops that VHLO has and those of others; the types of a cast are equal here."""
    with Rewriter(module) as rewriter:
        for op in list(module.walk()):
            for region in op.regions if op.name != "builtin.module" else ():
                for block in region.blocks:
                    for argument in block.arguments:
                        _cast_uses(rewriter, argument, op, block.operations[0] if block.operations else None)
            for result in op.results:
                _cast_uses(rewriter, result, op, None)


def _cast_uses(rewriter: Rewriter, value: Value, owner: Operation, first: Operation | None) -> None:
    """Let ops on the other side use a cast of a value, after its owner or, of an argument, before the first op."""
    is_vhlo = vhlo_name(owner) is not None
    uses = [(user, index) for user, index in rewriter.uses(value) if (vhlo_name(user) is not None) != is_vhlo]
    if not uses:
        return
    cast = Operation(CAST, [value], [value.type], {}, {}, [], owner.location)
    cast.debug_location, cast.spelling = owner.debug_location, "" if is_vhlo else TO_VHLO
    if first is None:
        rewriter.insert_after(owner, cast)
    else:
        rewriter.insert_before(first, cast)
    for user, index in uses:
        rewriter.set_operand(user, index, cast.results[0])
