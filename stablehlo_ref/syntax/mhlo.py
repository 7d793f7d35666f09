"""The mhlo dialect in text, whose ops are read as those of StableHLO or CHLO that they are, and printed as written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, cast

import numpy as np

from stablehlo_ref.define.assembly import AsmParser, Draft
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.ir.attributes import Attribute, DenseArray, DenseElements, EnumAttribute, StructAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import BOOLEAN, TensorType, Type, integer_type, tensor_type
from stablehlo_ref.syntax.assembly import same_type
from stablehlo_ref.syntax.structs import CONVOLUTION_LISTS

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
OF_MHLO_ALONE = ("custom_call_schedule",)  # properties of ops that equal ones do not have, nor need
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


def in_mhlo(attribute: object) -> Any:
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


def has_form_of_its_own(name: str) -> bool:
    """Return whether mhlo has another pretty form of an op than StableHLO or CHLO."""
    return name.startswith("chlo.") and name != "chlo.scan"


def parse_as_mhlo(parser: AsmParser, draft: Draft, definition: OpDefinition) -> None:
    """Parse what follows the name of an op of mhlo that CHLO has.

    `%x {...} : type`, or `(%x, k = 2, largest = true) {...} : type -> (types)` of top-k.
    """
    if draft.name == "chlo.top_k" and parser.peek() == "(":
        _top_k(parser, draft)
        return
    draft.operands += parser.operand_list()
    if parser.peek() == "{":
        draft.attributes |= parser.dictionary()
    parser.expect(":")
    same_type().parse(parser, draft)


def _top_k(parser: AsmParser, draft: Draft) -> None:
    parser.expect("(")
    draft.operands = [parser.operand()]
    parser.expect(",")
    parser.expect("k")
    parser.expect("=")
    draft.members["k"] = parser.integer()
    if parser.accept(","):
        parser.expect("largest")
        parser.expect("=")
        if (largest := parser.attribute()) is not True:
            draft.attributes["largest"] = largest
    parser.expect(")")
    if parser.peek() == "{":
        draft.attributes |= parser.dictionary()
    parser.expect(":")
    draft.operand_types = (parser.type(),)
    parser.expect("->")
    draft.result_types = tuple(parser.items(parser.type, "(", ")"))


def adopt_meaning(draft: Draft, written: str) -> None:
    """Replace the draft of a generic mhlo op by the draft of the equal op of StableHLO or CHLO.

    Properties that neither op has mean nothing, as in MLIR. An op that means something else stays.
    """
    attributes = cast("dict[str, Attribute]", draft.members | draft.attributes)
    if _has_equal(written, attributes, draft):
        draft.spelling, draft.definition = "mhlo", REGISTRY[draft.name]
        if written == "mhlo.topk":
            draft.attributes.pop("largest", None)  # true, as where it is left out
        names = (*draft.definition.property_names, *OF_MHLO_ALONE, *draft.attributes)
        draft.members, draft.attributes = {}, {k: v for k, v in attributes.items() if k in names}
    else:
        draft.name = written


def keep_unequal(draft: Draft, written: str) -> None:
    """Replace the draft of a pretty-printed mhlo op by that of an op without a class if there is no equal op."""
    attributes = encoded(draft.name, draft.members) | draft.attributes
    if not _has_equal(written, attributes, draft):
        draft.name, draft.spelling, draft.definition = written, "", None
        draft.members, draft.attributes = {**attributes}, {}


def _has_equal(written: str, attributes: Mapping[str, Attribute], draft: Draft) -> bool:
    """Return whether StableHLO or CHLO has an op of mhlo with these attributes, and the types of the draft."""
    match written:
        case "mhlo.all_to_all":
            return "split_dimension" in attributes  # else of tuples
        case "mhlo.topk":
            return attributes.get("largest", True) is True
        case "mhlo.convolution" | "mhlo.dynamic_conv":
            numbers, types = attributes.get("dimension_numbers"), draft.operand_types or ()
            return not isinstance(numbers, StructAttribute) or not _leaves_unused(
                numbers.fields, (*types[:2], *draft.result_types)
            )
    return True


def _leaves_unused(fields: Mapping[str, Any], types: Sequence[Type]) -> bool:
    """Return whether the dimension numbers of a convolution are right, but not all that tensors of these types have."""
    some = False
    for (letters, spatial), type in zip(CONVOLUTION_LISTS, types):
        rank = type.rank if isinstance(type, TensorType) else 0
        numbers = [fields[field].value for field in letters.values()] + [d.value for d in fields[spatial]]
        if len({*numbers}) < len(numbers) or min(numbers) < 0 or max(numbers) >= rank:
            return False
        some |= len(numbers) < rank
    return some
