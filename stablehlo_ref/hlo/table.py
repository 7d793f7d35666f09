"""The HLO ops that are ops of StableHLO or CHLO, and how the members of these are read.

Most members have the names of HLO's attributes, whose form follows from the codec of the member; `READERS` has the
others. Ops that are more than that are in `ops`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from math import prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.define.attribute_codecs import BooleanCodec, DimsCodec, EnumCodec, IntegerCodec, RealCodec
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.members import Attr
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.distribution.layouts import DeviceMesh
from stablehlo_ref.distribution.meshes import check_axes, check_sub_axes, spans
from stablehlo_ref.distribution.sdy_attributes import AxisRef, Mesh, SubAxis
from stablehlo_ref.hlo.text import Instruction, Shape
from stablehlo_ref.ir.types import FLOATS
from stablehlo_ref.ops.dot_general import Precision
from stablehlo_ref.ops.linear_algebra import Transpose
from stablehlo_ref.ops.random import RngAlgorithm

Read: TypeAlias = Callable[[Instruction], Any]  # the value of a member
Rows: TypeAlias = tuple[tuple[int, ...], ...]

MAX_IDS = 1 << 20  # processes in groups that are written as `[2,4]<=[8]`


# --- forms of attributes ----------------------------------------------------------------------------------------------


def _integers(name: str, default: str | None = None) -> Read:
    return lambda i: i.attributes.integers(name, default)


def enum_of(name: str, kind: type[Enum], default: str | None = None) -> Read:
    """Return how to read the name of a member of an enumeration, which may be in lower case and start with `rng_`."""

    def read(i: Instruction) -> Enum:
        member = i.attributes.text(name, default).upper().removeprefix("RNG_")
        if member not in kind.__members__:
            raise i.attributes.error(name, " or ".join(kind.__members__))
        return kind[member]

    return read


def only_dimension(i: Instruction) -> int:
    """Return the only dimension in `dimensions={1}`."""
    dimensions = i.attributes.integers("dimensions")
    if len(dimensions) != 1:
        raise i.attributes.error("dimensions", "one dimension")
    return dimensions[0]


def _exchanged_dimension(i: Instruction) -> int:
    """Return the dimension that `all-to-all` splits; of a tuple, the one along which its parts are put together."""
    return only_dimension(i) if isinstance(i.shape, Shape) else 0


def _rows(i: Instruction, name: str, defaults: tuple[int | None, ...], separator: str, between: str) -> Rows:
    """Return the numbers for each dimension, such as of `1_0_2x0_0`, with defaults for the last ones."""
    rows = []
    for part in filter(None, i.attributes.text(name).strip("{}").split(between)):
        numbers = part.strip(" []").split(separator)
        missing = defaults[len(numbers) :]
        if len(numbers) > len(defaults) or None in missing or not all(re.fullmatch(r"-?\d{1,18}", n) for n in numbers):
            raise i.attributes.error(name, f"numbers with '{separator}' between them for each dimension")
        rows.append((*map(int, numbers), *(n for n in missing if n is not None)))
    return tuple(rows)


def _slice(column: int) -> Read:
    """Return how to read a column of `{[0:1], [0:3:2]}`: the starts, the limits or the strides."""
    return lambda i: tuple(row[column] for row in _rows(i, "slice", (None, None, 1), ":", ","))


def _padding(column: int) -> Read:
    """Return how to read a column of `0_1x2_0_1`: low, high and interior padding."""
    return lambda i: tuple(row[column] for row in _rows(i, "padding", (None, None, 0), "_", "x"))


def _window(name: str, default: str) -> Read:
    """Return how to read a field of `{size=2x2 pad=0_1x0_1}`: a number per dimension, or two of padding."""

    def read(i: Instruction) -> object:
        text = i.attributes.text("window", "{}")
        fields = dict(re.findall(r"(\w+)=([\d_x\-]+)", text))
        rank = len(fields["size"].split("x")) if "size" in fields else 0
        parts = fields[name].split("x") if name in fields else [default] * rank
        form = r"-?\d{1,18}_-?\d{1,18}" if name == "pad" else r"\d{1,18}"
        good = len(parts) == rank and all(re.fullmatch(form, part) for part in parts)
        known = {"size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"}
        if not good or not fields.keys() <= known or not re.fullmatch(r"\{[\w=\-\s]*\}", text):
            raise i.attributes.error("window", f"a window with {name}")
        if name == "pad":
            return tuple(tuple(map(int, part.split("_"))) for part in parts)
        return tuple(part == "1" for part in parts) if name == "rhs_reversal" else tuple(map(int, parts))

    return read


def _label(part: int, label: str) -> Read:
    """Return how to read a dimension of `bf01_oi01->bf01` by its letter, or all that have digits."""

    def read(i: Instruction) -> object:
        match = re.fullmatch(r"([\dbf]+)_([\dio]+)->([\dbf]+)", i.attributes.text("dim_labels"))
        spatial = "".join(map(str, range(len(match[1]) - 2))) if match else ""
        wanted = [sorted(spatial + letters) for letters in ("bf", "io", "bf")]
        if not match or len(spatial) > 10 or wanted != [sorted(labels) for labels in match.groups()]:
            raise i.attributes.error("dim_labels", "labels such as bf01_oi01->bf01")
        labels = match.groups()[part]
        return labels.index(label) if label else tuple(map(labels.index, spatial))

    return read


def _precision(i: Instruction) -> tuple[Precision, ...]:
    words = i.attributes.text("operand_precision", "{default,default}").strip("{}").split(",")
    try:
        return tuple(Precision[word.strip().upper()] for word in words)
    except KeyError:
        raise i.attributes.error("operand_precision", "precisions in braces") from None


def _algorithm(part: int) -> Read:
    """Return how to read a part of the algorithm that `dot_bf16_bf16_f32_x3` names; None without one."""

    def read(i: Instruction) -> object:
        name = i.attributes.text("algorithm", "")
        match = re.fullmatch(r"dot_(f16|bf16|tf32|f32|f64)_(\1)_(f16|bf16|f32|f64)(?:_x([369]))?", name)
        if name and match is None:
            message = f"the algorithm '{name[:60]}' of 'dot' is not supported"
            raise UnsupportedError(message, i.attributes.location("algorithm"))
        return match and (int(match[4] or 1) if part == 4 else FLOATS[match[part]])

    return read


def replica_groups(i: Instruction) -> Rows:
    """Return groups of ids.

    They are listed, `{{0,1},{2,3}}`; or counted along the last dimensions first, `[2,2]<=[4]`; or along axes of a mesh,
    `mesh['a'=2,'b'=2] {'b'}`, of which parts are written as `'b':(1)2`.
    """
    text = i.attributes.text("replica_groups", "{}")
    if on_mesh := re.fullmatch(r"mesh\[((?:'[^']+'=[1-9]\d{0,8},?)+)\]\s*\{([^{}]*)\}", text):
        axes = tuple((name, int(size)) for name, size in re.findall(r"'([^']+)'=(\d+)", on_mesh[1]))
        return _groups_on_mesh(i, Mesh(axes), on_mesh[2])
    match = re.fullmatch(r"\[(\d{1,9}),(\d{1,9})\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", text)
    if match is None:
        groups = i.attributes.matrix("replica_groups", "{}")
        longest = max(map(len, groups), default=0)
        return tuple((*group, *[-1] * (longest - len(group))) for group in groups)
    sizes = tuple(int(n) for n in match[3].split(",") if n)
    order = tuple(int(n) for n in match[4].split(",") if n) if match[4] else tuple(range(len(sizes)))
    shape = int(match[1]), int(match[2])
    if prod(sizes) > MAX_IDS or prod(shape) != prod(sizes) or sorted(order) != list(range(len(sizes))):
        raise i.attributes.error("replica_groups", f"groups of at most {MAX_IDS} processes")
    ids = np.arange(prod(sizes)).reshape(sizes).transpose(order).reshape(shape)
    return tuple(map(tuple, ids.tolist()))


def _groups_on_mesh(i: Instruction, mesh: Mesh, text: str) -> Rows:
    """Return the groups along axes of a mesh."""
    found = re.findall(r"'([^']+)'(?::\((\d{1,9})\)(\d{1,9}))?", text)
    axes = [AxisRef(name, SubAxis(int(before), int(size)) if size else None) for name, before, size in found]
    try:
        if mesh.count > MAX_IDS or len(mesh.sizes) < len(mesh.axes):
            raise ValueError
        check_axes(axes, mesh, set())
        check_sub_axes(axes, mesh)
    except ValueError:
        expected = f"axes of a mesh of at most {MAX_IDS} processes, that do not overlap"
        raise i.attributes.error("replica_groups", expected) from None
    return DeviceMesh(mesh).groups(spans(axes, mesh))


# --- members ----------------------------------------------------------------------------------------------------------

READERS: Mapping[str, Read] = {
    "permutation": _integers("dimensions"),
    "broadcast_dimensions": _integers("dimensions", "{}"),
    **dict.fromkeys(("dimension", "scatter_dimension", "all_gather_dim"), only_dimension),
    "start_indices": _slice(0),
    "limit_indices": _slice(1),
    "strides": _slice(2),
    "slice_sizes": lambda i: i.attributes.integers(f"{'dynamic_' * (i.opcode == 'dynamic-slice')}slice_sizes"),
    "edge_padding_low": _padding(0),
    "edge_padding_high": _padding(1),
    "interior_padding": _padding(2),
    # gather and scatter
    "operand_batching_dims": _integers("operand_batching_dims", "{}"),
    "start_indices_batching_dims": _integers("start_indices_batching_dims", "{}"),
    "input_batching_dims": _integers("input_batching_dims", "{}"),
    "scatter_indices_batching_dims": _integers("scatter_indices_batching_dims", "{}"),
    # windows
    "window_dimensions": _window("size", "1"),
    "window_strides": _window("stride", "1"),
    "base_dilations": _window("lhs_dilate", "1"),
    "lhs_dilation": _window("lhs_dilate", "1"),
    "window_dilations": _window("rhs_dilate", "1"),
    "rhs_dilation": _window("rhs_dilate", "1"),
    "window_reversal": _window("rhs_reversal", "0"),
    "padding": _window("pad", "0_0"),
    # products
    "lhs_batching_dimensions": _integers("lhs_batch_dims", "{}"),
    "rhs_batching_dimensions": _integers("rhs_batch_dims", "{}"),
    "lhs_contracting_dimensions": _integers("lhs_contracting_dims", "{}"),
    "rhs_contracting_dimensions": _integers("rhs_contracting_dims", "{}"),
    "precision_config": _precision,
    "lhs_precision_type": _algorithm(1),
    "rhs_precision_type": _algorithm(2),
    "accumulation_type": _algorithm(3),
    "lhs_component_count": lambda i: 1 if "algorithm" in i.attributes else None,
    "rhs_component_count": lambda i: 1 if "algorithm" in i.attributes else None,
    "num_primitive_operations": _algorithm(4),
    "allow_imprecise_accumulation": lambda i: False if "algorithm" in i.attributes else None,
    "input_batch_dimension": _label(0, "b"),
    "input_feature_dimension": _label(0, "f"),
    "input_spatial_dimensions": _label(0, ""),
    "kernel_input_feature_dimension": _label(1, "i"),
    "kernel_output_feature_dimension": _label(1, "o"),
    "kernel_spatial_dimensions": _label(1, ""),
    "output_batch_dimension": _label(2, "b"),
    "output_feature_dimension": _label(2, "f"),
    "output_spatial_dimensions": _label(2, ""),
    "feature_group_count": lambda i: i.attributes.integer("feature_group_count", 1),
    "batch_group_count": lambda i: i.attributes.integer("batch_group_count", 1),
    # others
    "transpose_a": enum_of("transpose_a", Transpose, "NO_TRANSPOSE"),
    "rng_algorithm": enum_of("algorithm", RngAlgorithm),
    "replica_groups": replica_groups,
    "channel_id": lambda i: i.attributes.integer("channel_id") if "channel_id" in i.attributes else None,
    "channel_type": lambda i: 1 if "channel_id" in i.attributes else None,
    "use_global_device_ids": lambda i: i.attributes.flag("use_global_device_ids") or None,
    "source_target_pairs": lambda i: i.attributes.matrix("source_target_pairs"),
    "split_dimension": _exchanged_dimension,
    "concat_dimension": _exchanged_dimension,
    "split_count": lambda i: len((*replica_groups(i), (0,))[0]),
    "infeed_config": lambda i: i.attributes.string("infeed_config", ""),
    "outfeed_config": lambda i: i.attributes.string("outfeed_config", ""),
}


def members_of(i: Instruction) -> dict[str, object]:
    """Return the members of the op that an instruction stands for, except those that HLO does not state."""
    attributes = REGISTRY[OPS[i.opcode]].attributes
    found = {name: READERS[name](i) if name in READERS else _read(i, member) for name, member in attributes.items()}
    return {name: value for name, value in found.items() if value is not None}


def _read(i: Instruction, member: Attr) -> object:
    """Return the value of a member that has the name of the attribute; None if HLO has no such attribute."""
    match member.codec:
        case DimsCodec():
            return i.attributes.integers(member.name)
        case IntegerCodec():
            return i.attributes.integer(member.name)
        case BooleanCodec():
            return i.attributes.flag(member.name)
        case RealCodec():
            return i.attributes.real(member.name)
        case EnumCodec(enum=enum):
            return enum_of(member.name, enum)(i)
    return None


# --- ops --------------------------------------------------------------------------------------------------------------

_SAME = (
    "abs", "add", "all-gather", "all-reduce", "all-to-all", "and", "atan2", "batch-norm-grad", "batch-norm-inference",
    "batch-norm-training", "bitcast-convert", "cbrt", "ceil", "cholesky", "clamp", "collective-broadcast",
    "collective-permute", "complex", "concatenate", "convert", "convolution", "cosine", "count-leading-zeros", "divide",
    "dynamic-slice", "dynamic-update-slice", "exponential", "exponential-minus-one", "fft", "floor", "gather",
    "get-dimension-size", "imag", "infeed", "iota", "is-finite", "log", "log-plus-one", "logistic", "map", "maximum",
    "minimum", "multiply", "negate", "not", "or", "outfeed", "pad", "partition-id", "popcnt", "power", "real", "reduce",
    "reduce-precision", "reduce-scatter", "reduce-window", "remainder", "replica-id", "reshape", "reverse",
    "rng-bit-generator", "round-nearest-afz", "round-nearest-even", "rsqrt", "scatter", "select", "select-and-scatter",
    "set-dimension-size", "shift-left", "shift-right-arithmetic", "shift-right-logical", "sign", "sine", "slice",
    "sort", "sqrt", "subtract", "tan", "tanh", "transpose", "triangular-solve", "while", "xor",
)  # fmt: skip
_SAME_IN_CHLO = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "sinh")

OPS: Mapping[str, str] = {
    **{name: f"stablehlo.{name.replace('-', '_')}" for name in _SAME},
    **{name: f"chlo.{name}" for name in _SAME_IN_CHLO},
    "broadcast": "stablehlo.broadcast_in_dim",
    "dot": "stablehlo.dot_general",
    "opt-barrier": "stablehlo.optimization_barrier",
}
_REGIONS = {"while": ("condition", "body"), "select-and-scatter": ("select", "scatter")}


def regions_of(i: Instruction) -> Sequence[str]:
    """Return the attributes that name the computations of the op's regions."""
    return _REGIONS.get(i.opcode, ("to_apply",) * len(REGISTRY[OPS[i.opcode]].regions))
