"""Ops of VHLO, of any revision, as ops of StableHLO: attributes become members by name, defaults are left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from stablehlo_ref.bytecode.vhlo.ops import (
    DEFAULTS,
    WINDOWS,
    attribute_names,
    definition_of,
    split_name,
    stablehlo_name,
)
from stablehlo_ref.bytecode.vhlo.versions import CURRENT
from stablehlo_ref.define.attribute_codecs import ListCodec, SymbolCodec
from stablehlo_ref.define.definition import OpDefinition
from stablehlo_ref.define.members import REQUIRED, Attr, Undecodable
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.attributes import Attribute, DenseElements, SymbolReference

WINDOW_OPS = frozenset(("convolution", "dynamic_conv", "reduce_window", "select_and_scatter"))
LAYOUTS = ("operand_layouts", "result_layouts")


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
