"""Ops of VHLO: their names, their attributes in each revision, and the values of those that are left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import numpy as np

from stablehlo_ref.bytecode.vhlo.versions import ALGORITHM, history_of
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.ir.attributes import (
    Attribute,
    DenseElements,
    EnumAttribute,
    IntegerAttribute,
    StructAttribute,
    TypeAttribute,
)
from stablehlo_ref.ir.core import Operation
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
