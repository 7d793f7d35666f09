"""Sharding rules of StableHLO ops: which dimensions are sharded together, and along which of them devices compute.

A factor is a part of a dimension that several dimensions share: in a matrix product `([i, k], [k, j])->([i, j])` each
letter is one. Along a factor that is in a result, each device computes its part of the result from its parts of the
operands. Along a reduction factor, each device computes one term of the result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import gcd, prod
from types import MappingProxyType
from typing import Any, TypeAlias

from stablehlo_ref.define.definition import attributes_of, definition_of
from stablehlo_ref.define.op import Op
from stablehlo_ref.define.spec import is_per_axis_quantized
from stablehlo_ref.distribution.layouts import Layout, Parts, layout_of
from stablehlo_ref.distribution.meshes import overlap
from stablehlo_ref.distribution.sdy_attributes import Mesh, SdySyntaxError, ShardingRule, read_attribute
from stablehlo_ref.ir.attributes import OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.ops import elementwise
from stablehlo_ref.ops.constants import Iota
from stablehlo_ref.ops.control_flow import Case, If, OptimizationBarrier, While
from stablehlo_ref.ops.convolution import Convolution
from stablehlo_ref.ops.data_movement import BroadcastInDim, Concatenate, Pad, Reshape, Reverse, Transpose
from stablehlo_ref.ops.deprecated import Dot
from stablehlo_ref.ops.dot_general import DotGeneral
from stablehlo_ref.ops.fft import Fft
from stablehlo_ref.ops.gather_scatter import Gather, Scatter
from stablehlo_ref.ops.linear_algebra import Cholesky, TriangularSolve
from stablehlo_ref.ops.reduction import Reduce
from stablehlo_ref.ops.slicing import DynamicSlice, DynamicUpdateSlice, Slice
from stablehlo_ref.ops.sort import Sort
from stablehlo_ref.ops.windows import ReduceWindow, SelectAndScatter
from stablehlo_ref.passes.analysis import known_array

Dimension = int | None  # None where an operand or a result does not have a factor
Members: TypeAlias = Mapping[str, Any]
Special: TypeAlias = Callable[[Members, int], Sequence[int]]
Rule: TypeAlias = Callable[["Factors"], None]
REDUCERS: Mapping[str, type[Op]] = MappingProxyType(  # ops that combine terms
    {"sum": elementwise.Add, "max": elementwise.Maximum, "min": elementwise.Minimum}
)


def sharding_rule(op: Operation) -> ShardingRule | None:
    """Return the rule of an op: `sdy.sharding_rule` if it has one, else what follows from what it computes.

    None for an op whose dimensions are all independent of each other, and for one with unknown sizes.
    """
    types = [*op.operand_types, *op.result_types]
    if any(is_per_axis_quantized(type) or not _has_sizes(type) for type in types):
        return None
    if (given := _given_rule(op)) is not None:
        return given
    factors = Factors(op)
    definition = definition_of(op)
    if definition is not None and definition.op_class in RULES:
        RULES[definition.op_class](factors)
    elif definition is not None and definition.traits.elementwise:
        _same()(factors)
    else:
        return None
    return factors.rule()


def reduction_of(op: Operation) -> str | None:
    """Return how the terms along an op's reduction factors are combined; None if that is not a sum, max or min."""
    definition = definition_of(op)
    if definition is None or definition.op_class is not Reduce:
        is_product = definition is not None and definition.op_class in (Dot, DotGeneral, Convolution)
        return "sum" if is_product else None
    first, *others = op.regions[0].block.operations
    arguments = op.regions[0].block.arguments
    is_known = len(others) == 1 and others[0].operands == first.results and set(first.operands) == set(arguments)
    names = {op.definition.name: name for name, op in REDUCERS.items()}
    return names.get(first.name) if is_known and len(arguments) == 2 else None


def _has_sizes(type: Type) -> bool:
    return not isinstance(type, TensorType) or type.is_static


def _given_rule(op: Operation) -> ShardingRule | None:
    attribute = op.attributes.get("sdy.sharding_rule")
    try:
        rule = read_attribute(attribute.text) if isinstance(attribute, OpaqueAttribute) else None
    except SdySyntaxError:
        return None
    return rule if isinstance(rule, ShardingRule) else None


class Factors:
    """The factors of a rule as they are found, the op's attributes, and the shapes of its operands and results."""

    def __init__(self, op: Operation) -> None:
        self.members = attributes_of(op)
        self.operand_shapes, self.result_shapes = (
            [_shape(type) for type in types] for types in (op.operand_types, op.result_types)
        )
        self.sizes: list[int] = []
        self.kinds: dict[str, list[int]] = defaultdict(list)
        self._operands: list[list[tuple[int, ...]]] = [[()] * len(shape) for shape in self.operand_shapes]
        self._results: list[list[tuple[int, ...]]] = [[()] * len(shape) for shape in self.result_shapes]

    def add(self, size: int, operands: Sequence[Dimension], results: Sequence[Dimension], kind: str = "") -> None:
        """Add a factor of the dimensions at which operands and results have it."""
        factor = len(self.sizes)
        self.sizes.append(size)
        for mappings, dimensions in ((self._operands, operands), (self._results, results)):
            for mapping, dimension in zip(mappings, dimensions):
                if dimension is not None:
                    mapping[dimension] += (factor,)
        if kind:
            self.kinds[kind].append(factor)

    def rule(self) -> ShardingRule:
        """Return the rule; a dimension without a factor gets one that cannot be sharded."""
        for shapes, mappings in ((self.operand_shapes, self._operands), (self.result_shapes, self._results)):
            for shape, mapping in zip(shapes, mappings):
                for dimension, size in enumerate(shape):
                    if not mapping[dimension]:
                        mapping[dimension] = (len(self.sizes),)
                        self.kinds["need_replication"].append(len(self.sizes))
                        self.sizes.append(size)
        reduction, whole, permutation = (tuple(self.kinds[k]) for k in ("reduction", "need_replication", "permutation"))
        operands, results = (tuple(map(tuple, mappings)) for mappings in (self._operands, self._results))
        return ShardingRule(tuple(self.sizes), operands, results, reduction, whole, permutation)


def _shape(type: Type) -> tuple[int, ...]:
    return tuple(n or 0 for n in type.shape) if isinstance(type, TensorType) else ()


# --- rules ----------------------------------------------------------------------------------------------------------


def _same(special: Special = lambda members, rank: (), kind: str = "need_replication") -> Rule:
    """Return the rule of an op whose operands and results have the same dimensions, unless they are scalars.

    Those that are `special`, given the op's attributes and their number, are of a kind. Those that are larger in one
    tensor than in another are not shared.
    """

    def add(factors: Factors) -> None:
        shapes = (*factors.operand_shapes, *factors.result_shapes)
        rank = max(map(len, shapes), default=0)
        for d in range(rank):
            sizes = {shape[d] for shape in shapes if len(shape) == rank}
            if len(sizes) == 1:
                operands, results = (
                    [d if len(shape) == rank else None for shape in each]
                    for each in (factors.operand_shapes, factors.result_shapes)
                )
                is_special = d in special(factors.members, rank)
                factors.add(sizes.pop(), operands, results, kind if is_special else "")

    return add


def _each(factors: Factors, are_returned: bool = True) -> None:
    """Add the factors of an op that returns each operand, or else of one whose results come from its regions."""
    for number, shape in enumerate(factors.result_shapes):
        for d, size in enumerate(shape):
            place = [d if number == other else None for other in range(len(factors.result_shapes))]
            factors.add(size, place if are_returned else (), place)


def _dot(factors: Factors) -> None:
    lhs, rhs = factors.operand_shapes
    batch = [factors.members.get(f"{side}_batching_dimensions", ()) for side in ("lhs", "rhs")]
    default = ((len(lhs) - 1,), (0,))  # of stablehlo.dot
    contracting = [
        factors.members.get(f"{side}_contracting_dimensions", d)
        for side, d in zip(("lhs", "rhs"), default, strict=True)
    ]
    result = 0
    for left, right in zip(*batch):
        factors.add(lhs[left], (left, right), (result,))
        result += 1
    for number, shape in enumerate((lhs, rhs)):
        for d, size in enumerate(shape):
            if d not in batch[number] and d not in contracting[number]:
                factors.add(size, (d, None) if number == 0 else (None, d), (result,))
                result += 1
    for left, right in zip(*contracting):
        factors.add(lhs[left], (left, right), (None,), "reduction")


def _convolution(factors: Factors) -> None:
    get = factors.members.__getitem__
    lhs, rhs = factors.operand_shapes
    features, outputs = get("kernel_input_feature_dimension"), get("kernel_output_feature_dimension")
    if get("batch_group_count") == 1:
        batch = get("input_batch_dimension")
        factors.add(lhs[batch], (batch, None), (get("output_batch_dimension"),))
    if get("feature_group_count") == 1:
        factors.add(rhs[features], (get("input_feature_dimension"), features), (None,), "reduction")
        if get("batch_group_count") == 1:
            factors.add(rhs[outputs], (None, outputs), (get("output_feature_dimension"),))


def _transpose(factors: Factors) -> None:
    for d, source in enumerate(factors.members["permutation"]):
        factors.add(factors.result_shapes[0][d], (source,), (d,))


def _broadcast_in_dim(factors: Factors) -> None:
    (operand,), (result,) = factors.operand_shapes, factors.result_shapes
    sources = {d: source for source, d in enumerate(factors.members["broadcast_dimensions"])}
    for d, size in enumerate(result):
        source = sources.get(d)
        factors.add(size, (source if source is not None and operand[source] == size else None,), (d,))


def _reshape(factors: Factors) -> None:
    """Add the factors of each smallest group of dimensions that has the same number of elements before and after.

    Along the first dimension of a group, both sides have the parts that their greatest common divisor allows.
    """
    (operand,), (result,) = factors.operand_shapes, factors.result_shapes
    if 0 in operand:
        return
    i = j = 0
    while i < len(operand) and j < len(result):
        first = i, j
        i, j = i + 1, j + 1
        while prod(operand[first[0] : i]) != prod(result[first[1] : j]):
            if prod(operand[first[0] : i]) < prod(result[first[1] : j]):
                i += 1
            else:
                j += 1
        while i < len(operand) and operand[i] == 1 and (j == len(result) or result[j] != 1):
            i += 1
        while j < len(result) and result[j] == 1 and (i == len(operand) or operand[i] != 1):
            j += 1
        _group(factors, range(first[0], i), range(first[1], j))


def _group(factors: Factors, before: range, after: range) -> None:
    (operand,), (result,) = factors.operand_shapes, factors.result_shapes
    sources, targets = [d for d in before if operand[d] > 1], [d for d in after if result[d] > 1]
    if not sources:
        return
    source, target = sources[0], targets[0]
    common = gcd(operand[source], result[target])
    if common > 1:
        factors.add(common, (source,), (target,))
        if operand[source] > common:
            factors.add(operand[source] // common, (source,), (None,), "need_replication")
        if result[target] > common:
            factors.add(result[target] // common, (None,), (target,), "need_replication")


def _reduce(factors: Factors) -> None:
    count = len(factors.result_shapes)
    dimensions = factors.members["dimensions"]
    kept = iter(range(len(factors.result_shapes[0])))
    for d, size in enumerate(factors.operand_shapes[0]):
        is_reduced = d in dimensions
        results = [None if is_reduced else next(kept)] * count
        factors.add(size, [d] * count, results, "reduction" if is_reduced else "")


def _windows(members: Members, rank: int) -> Sequence[int]:
    """Return the dimensions along which windows of a reduction have several elements, or gaps or padding."""
    lists = [members.get(name) or () for name in ("window_dimensions", "window_strides", "base_dilations")]
    changed = [d for d in range(rank) if any(sizes and sizes[d] != 1 for sizes in lists)]
    return [*changed, *(d for d, pair in enumerate(members.get("padding") or ()) if any(pair))]


def _padded(members: Members, rank: int) -> Sequence[int]:
    paddings = zip(members["edge_padding_low"], members["edge_padding_high"], members["interior_padding"])
    return [d for d, sizes in enumerate(paddings) if any(sizes)]


def _last(count: int) -> Special:
    return lambda members, rank: range(rank - count, rank)


def _gather(factors: Factors) -> None:
    get = factors.members.__getitem__
    (operand, indices), (result,) = factors.operand_shapes, factors.result_shapes
    skipped = {*get("collapsed_slice_dims"), *get("operand_batching_dims")}
    offsets = iter(get("offset_dims"))
    for d, size in enumerate(operand):
        target = None if d in skipped else next(offsets)
        if target is not None and get("slice_sizes")[d] == size:
            factors.add(size, (d, None), (target,))
        elif d not in get("operand_batching_dims") and get("slice_sizes")[d] == 1:
            factors.add(size, (d, None), (None,), "reduction")
    batches = iter(d for d in range(len(result)) if d not in get("offset_dims"))
    of_indices = dict(zip(get("start_indices_batching_dims"), get("operand_batching_dims")))
    for d, size in enumerate(indices):
        if d != get("index_vector_dim"):
            factors.add(size, (of_indices.get(d), d), (next(batches),))


def _scatter(factors: Factors) -> None:
    get = factors.members.__getitem__
    count = len(factors.result_shapes)
    inputs, indices, updates = (factors.operand_shapes[i] for i in (0, count, count + 1))
    skipped = {*get("inserted_window_dims"), *get("input_batching_dims")}
    windows = iter(get("update_window_dims"))
    for d, size in enumerate(inputs):
        source = None if d in skipped else next(windows)
        if source is not None and updates[source] == size:
            factors.add(size, [d] * count + [None] + [source] * count, [d] * count)
    batches = iter(d for d in range(len(updates)) if d not in get("update_window_dims"))
    of_indices = dict(zip(get("scatter_indices_batching_dims"), get("input_batching_dims")))
    for d, size in enumerate(indices):
        if d != get("index_vector_dim"):
            target, source = of_indices.get(d), next(batches)
            kind = "reduction" if target is None else ""
            factors.add(size, [target] * count + [d] + [source] * count, [target] * count, kind)


RULES: Mapping[type[Op], Rule] = MappingProxyType(
    {
        BroadcastInDim: _broadcast_in_dim,
        Case: partial(_each, are_returned=False),
        Cholesky: _same(_last(2)),
        Concatenate: _same(lambda members, rank: [members["dimension"]]),
        Convolution: _convolution,
        Dot: _dot,
        DotGeneral: _dot,
        DynamicSlice: _same(),
        DynamicUpdateSlice: _same(),
        Fft: _same(lambda members, rank: range(rank - len(members["fft_length"]), rank)),
        Gather: _gather,
        If: partial(_each, are_returned=False),
        Iota: _same(lambda members, rank: [members["iota_dimension"]]),
        elementwise.Map: _same(),
        OptimizationBarrier: _each,
        Pad: _same(_padded),
        Reduce: _reduce,
        ReduceWindow: _same(_windows),
        Reshape: _reshape,
        Reverse: _same(lambda members, rank: members["dimensions"], "permutation"),
        Scatter: _scatter,
        SelectAndScatter: _same(_windows),
        Slice: _same(lambda members, rank: [d for d, stride in enumerate(members["strides"]) if stride != 1]),
        Sort: _same(lambda members, rank: [members["dimension"] % max(1, rank)]),
        Transpose: _transpose,
        TriangularSolve: _same(_last(2)),
        While: _each,
    }
)


# --- which factors are split ------------------------------------------------------------------------------------------


class Assignment:
    """The parts of axes that split each factor of an op, given the layouts of operands, and those declared of results.

    `operand_layouts` and `result_layouts` are those with which devices compute the op, and `terms` the parts along
    which each of them computes a term of the results.
    """

    def __init__(self, op: Operation, declared: Sequence[Layout], operands: Sequence[Layout]) -> None:
        self.mesh = next((x.mesh for x in (*declared, *operands) if x.mesh.axes), Mesh(()))
        self.parts: dict[int, Parts] = {}
        self.reduction = reduction_of(op) or "sum"
        rule = None if any(x.single is not None for x in declared) else sharding_rule(op)
        if rule is not None:
            self._choose(op, rule, declared, operands)
        self.operand_layouts = self._layouts(rule.operands if rule else [()] * len(operands), op.operand_types)
        self.result_layouts = self._layouts(rule.results if rule else [()] * len(declared), op.result_types)
        self.terms = tuple(p for factor in (rule.reduction if rule else ()) for p in self.parts.get(factor, ()))

    def _choose(
        self, op: Operation, rule: ShardingRule, declared: Sequence[Layout], operands: Sequence[Layout]
    ) -> None:
        has_terms = reduction_of(op) is not None and (self.reduction != "sum" or _starts_at_zero(op))
        pairs = [pair for m, x in zip(rule.operands, operands) for pair in zip(m, x.dimensions)]
        # Along these devices compute terms; results that they are to split are scattered later.
        terms = [part for factors, parts in pairs if has_terms and factors[0] in rule.reduction for part in parts]
        blocked = {*rule.need_replication, *rule.permutation, *rule.reduction}
        kept = [n for n in range(len(rule.factor_sizes)) if n not in blocked]
        dimensions = [factors for mapping in (*rule.operands, *rule.results) for factors in mapping]
        whole = [n for n in kept if all(factors == (n,) for factors in dimensions if n in factors)]
        for mapping, layout in zip(rule.results, declared):
            free = (() if any(overlap(x, y) for x in parts for y in terms) else parts for parts in layout.dimensions)
            self._split(rule, mapping, replace(layout, dimensions=tuple(free)), kept, whole)
        for mapping, layout in zip(rule.operands, operands) if has_terms else ():
            self._split(rule, mapping, layout, rule.reduction)

    def _split(
        self, rule: ShardingRule, mapping: Sequence[Sequence[int]], layout: Layout, allowed: Sequence[int],
        uneven: Sequence[int] = (),
    ) -> None:  # fmt: skip
        """Let the parts that split dimensions split the first factors of these, if allowed; evenly unless `uneven`."""
        if layout.mesh.axes and layout.mesh != self.mesh:
            return
        for (first, *_), parts in zip(mapping, layout.dimensions):
            taken = [part for assigned in self.parts.values() for part in assigned]
            is_free = first not in self.parts and not any(overlap(x, y) for x in parts for y in taken)
            is_even = rule.factor_sizes[first] % prod(part.size for part in parts) == 0
            if parts and is_free and first in allowed and (is_even or first in uneven):
                self.parts[first] = parts

    def _layouts(self, mappings: Sequence[Sequence[Sequence[int]]], types: Sequence[Type]) -> list[Layout]:
        found = [tuple(self.parts.get(factors[0], ()) for factors in mapping) for mapping in mappings]
        whole = [layout_of(None, self.mesh, type) for type in types]
        return [replace(layout, dimensions=d) if d else layout for layout, d in zip(whole, found)]


def _starts_at_zero(op: Operation) -> bool:
    """Return whether an op that sums adds nothing else, such as an initial value."""
    if op.name != "stablehlo.reduce":
        return True
    arrays = [known_array(value) for value in op.operands[len(op.results) :]]
    return all(array is not None and not array.any() for array in arrays)
