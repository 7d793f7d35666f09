"""The mhlo dialect in text, whose ops are read as those of StableHLO or CHLO that they are, and printed as written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.ir.attributes import Attribute, DenseArray, DenseElements, EnumAttribute, StructAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import BOOLEAN, integer_type, tensor_type

# Ops that CHLO has instead of StableHLO, and their names there.
OF_CHLO = {
    name: f"chlo.{name}"
    for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erf_inv", "ragged_dot", "sinh")
} | {"topk": "chlo.top_k", "scan": "chlo.scan"}
# Ops that StableHLO has under the same name for something else.
UNRELATED = frozenset(("async_done", "async_start"))
STRUCTS = frozenset((
    "axis_ref", "bounds", "channel_handle", "conv", "dot", "dot_algorithm", "gather", "mesh", "mesh_axis",
    "output_operand_alias", "replica_group_mesh_axes", "result_accuracy", "scatter", "type_extensions",
))  # fmt: skip
ENUMERATIONS = frozenset((
    "comparison_direction", "comparison_type", "fft_type", "precision", "result_accuracy_mode", "rng_algorithm",
    "rng_distribution", "transpose",
))  # fmt: skip
# Ops whose pretty form in mhlo is that of StableHLO or CHLO, as it is printed; others are printed in generic form.
WITH_SAME_FORM = frozenset((
    "abs", "add", "after_all", "and", "atan2", "bitcast_convert", "cbrt", "ceil", "clamp", "compare", "complex",
    "constant", "convert", "convolution", "cosine", "count_leading_zeros", "create_token", "custom_call", "divide",
    "dynamic_pad", "dynamic_reshape", "dynamic_update_slice", "exponential", "exponential_minus_one", "floor",
    "get_tuple_element", "imag", "is_finite", "log", "log_plus_one", "logistic", "maximum", "minimum", "multiply",
    "negate", "not", "optimization_barrier", "or", "partition_id", "popcnt", "power", "real", "reduce",
    "reduce_precision", "remainder", "replica_id", "reshape", "return", "round_nearest_afz", "round_nearest_even",
    "rsqrt", "scan", "select", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sine", "sqrt",
    "subtract", "tan", "tanh", "trace", "tuple", "uniform_dequantize", "uniform_quantize", "while", "xor",
))  # fmt: skip
OF_MHLO_ALONE = ("custom_call_schedule", "largest")  # properties of ops that equal ones do not have, nor need
LISTS = (BOOLEAN, integer_type(64))  # element types of the lists that mhlo has as tensors

_match_renamed = re.compile(r'"?([mv]hlo)\.').match
_IN_MHLO = {name: base for base, name in OF_CHLO.items()}


@cache
def equivalent(name: str) -> str:
    """Return the op of StableHLO or CHLO that an op of mhlo is; the name itself of any other op."""
    dialect, _, base = name.partition(".")
    if dialect != "mhlo" or base in UNRELATED:
        return name
    known = OF_CHLO.get(base, f"stablehlo.{base}")
    return known if known in REGISTRY else name


def ops_with_equal() -> list[str]:
    """Return the ops of mhlo that StableHLO or CHLO has, without the dialect."""
    return [base for name in REGISTRY if equivalent(f"mhlo.{(base := _base(name))}") == name]


def name_of(op: Operation) -> str:
    """Return the name of an op in the dialect in which it is printed."""
    return f"mhlo.{_base(op.name)}" if op.spelling == "mhlo" else op.name


def _base(name: str) -> str:
    return _IN_MHLO.get(name) or name.partition(".")[2]


def has_same_form(name: str) -> bool:
    """Return whether the pretty form of an op of StableHLO or CHLO is also that of the op of mhlo."""
    return _base(name) in WITH_SAME_FORM


def struct_name(name: str) -> str | None:
    """Return the name in StableHLO or CHLO of a struct attribute `mhlo.name`; None if there is no counterpart."""
    base = name.removeprefix("mhlo.")
    if base == "ragged_dot":
        return "chlo.ragged_dot"
    return f"stablehlo.{base}" if base in STRUCTS | ENUMERATIONS else None


def encoded(name: str, members: Mapping[str, object], spelling: str = "mhlo") -> dict[str, Attribute]:
    """Return values of members of an op as attributes of mhlo, or of StableHLO or CHLO without the spelling."""
    written = REGISTRY[name].encode(members)
    return {name: in_mhlo(value) for name, value in written.items()} if spelling else written


def in_mhlo(attribute: Any) -> Any:
    """Return an attribute of StableHLO as mhlo has it."""
    match attribute:
        case tuple():
            return tuple(map(in_mhlo, attribute))
        case EnumAttribute():
            return replace(attribute, spelling="mhlo")
        case StructAttribute(fields=fields):
            inner = {name: value if isinstance(value, DenseArray) else in_mhlo(value) for name, value in fields.items()}
            return replace(attribute, fields=inner, spelling="mhlo")
        case DenseArray(element_type=element_type, values=values) if element_type in LISTS:
            array = np.array(values, np.bool_ if element_type == BOOLEAN else np.int64)
            array.flags.writeable = False
            return DenseElements(tensor_type(array.shape, element_type), array)
    return attribute


def renamed(module: Operation) -> Iterator[str]:
    """Yield the dialect of each op that the text of a program has as one of mhlo or vhlo."""
    for op in module.walk():
        match = _match_renamed(op.location.source.text, op.location.offset)
        if match and not op.name.startswith(match[0].lstrip('"')):
            yield match[1]
