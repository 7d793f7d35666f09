"""A small partitioner: the program that each device of a mesh runs, with the collectives of StableHLO.

It is written to be read and to be compared with. Shardings are given: those of arguments and results of the function,
and of ops (`sdy.sharding`, `sdy.sharding_constraint`). An op without one has the axes that its operands bring along.
For each op a rule names the dimensions that are split together, its *factors*. Operands are resharded until the axes of
each factor agree, the op runs on blocks, and sums over a factor that is split become all_reduce or reduce_scatter. An
op without a rule runs on whole tensors, on each device.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.dialects.sdy_shardings import common_mesh, mesh_of, read, sharding_of
from stablehlo_ref.distribution.axes import Span, overlap
from stablehlo_ref.distribution.layouts import (
    DeviceMesh,
    Layout,
    Parts,
    counts,
    layout_of,
    replicated,
    sharding_of_layout,
    used,
)
from stablehlo_ref.distribution.sdy_attributes import Sharding
from stablehlo_ref.distribution.sdy_reader import text_of
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import Attribute, IntegerAttribute, OpaqueAttribute
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import FunctionType, TensorType, integer_type
from stablehlo_ref.passes.call_graph import functions
from stablehlo_ref.passes.emit import Emitter, static_shape
from stablehlo_ref.passes.evaluate import known_array
from stablehlo_ref.passes.registry import Pass

Factors: TypeAlias = tuple[int | None, ...]  # of the dimensions of a tensor; None for one that is not split
I32 = integer_type(32)
SCALAR = TensorType((), I32)
IDEMPOTENT = ("maximum", "minimum", "and", "or")  # an init value may count more than once


class Rule(NamedTuple):
    """The factors of operands and of the result. Results are combined by `body` along factors that it does not have."""

    operands: Sequence[Factors]
    result: Factors
    body: str = ""


# --- rules ------------------------------------------------------------------------------------------------------------


def _shape(value: Value) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return static_shape(value.type)


def _elementwise(op: Operation) -> Rule:
    """All dimensions are split together; operands may be scalars."""
    return Rule(
        [tuple(range(len(_shape(operand)))) for operand in op.operands], tuple(range(len(_shape(op.results[0]))))
    )


def _dot_general(op: Operation) -> Rule:
    ranks = [len(_shape(operand)) for operand in op.operands]
    lhs: list[int | None] = [*range(ranks[0])]
    rhs: list[int | None] = [*range(ranks[0], sum(ranks))]
    batching, contracting = (
        [op.properties[f"{side}_{kind}_dimensions"] for side in ("lhs", "rhs")] for kind in ("batching", "contracting")
    )
    for left, right in (*zip(*batching), *zip(*contracting)):
        rhs[right] = lhs[left]
    fixed = [(*b, *c) for b, c in zip(batching, contracting)]
    free = [f for factors, dims in zip((lhs, rhs), fixed) for d, f in enumerate(factors) if d not in dims]
    return Rule((tuple(lhs), tuple(rhs)), (*(lhs[d] for d in batching[0]), *free), "add")


def _reduce(op: Operation) -> Rule | None:
    """The dimensions that are reduced are split if partial results can be combined by the one op of the body."""
    if len(op.results) != 1:
        return None
    block = op.regions[0].block
    is_one = len(block.operations) == 2 and block.operations[0].operands in (block.arguments, block.arguments[::-1])
    name, init = block.operations[0].mnemonic, known_array(op.operands[1])
    counts_once = name in IDEMPOTENT or (name == "add" and init is not None and not init.any())
    reduced = op.properties["dimensions"]
    kept = tuple(d for d in range(len(_shape(op.operands[0]))) if d not in reduced)
    split = range(len(kept) + len(reduced)) if is_one and counts_once else kept
    return Rule((tuple(d if d in split else None for d in range(len(kept) + len(reduced))), ()), kept, name)


def _broadcast_in_dim(op: Operation) -> Rule:
    operand, result = _shape(op.operands[0]), _shape(op.results[0])
    pairs = zip(operand, op.properties["broadcast_dimensions"])
    return Rule([tuple(d if n == result[d] else None for n, d in pairs)], tuple(range(len(result))))


def _transpose(op: Operation) -> Rule:
    permutation = op.properties["permutation"]
    return Rule([tuple(range(len(permutation)))], tuple(permutation))


def _reshape(op: Operation) -> Rule:
    """Of dimensions that are merged, or that one is split into, the first may be split over devices."""
    operand, result = _shape(op.operands[0]), _shape(op.results[0])
    starts = {prod(operand[:d]): d for d, n in enumerate(operand) if n > 1}
    of_result = [starts.get(prod(result[:d])) if n > 1 else None for d, n in enumerate(result)]
    return Rule([tuple(d if d in of_result else None for d in range(len(operand)))], tuple(of_result))


def _without(dimensions: Callable[[Operation], Sequence[int]]) -> Callable[[Operation], Rule]:
    """Return the rule of ops on tensors of one rank that do not split some dimensions."""

    def rule(op: Operation) -> Rule:
        fixed = dimensions(op)
        factors = tuple(None if d in fixed else d for d in range(len(_shape(op.results[0]))))
        return Rule([factors[: len(_shape(operand))] for operand in op.operands], factors)

    return rule


def _changed(op: Operation) -> list[int]:
    """Return the dimensions along which a slice or padding is not the operand itself."""
    pairs = zip(_shape(op.operands[0]), _shape(op.results[0]))
    starts = op.properties.get("start_indices") or op.properties.get("edge_padding_low") or (0,) * 64
    return [d for d, (n, m) in enumerate(pairs) if n != m or starts[d]]


RULES: Mapping[str, Callable[[Operation], Rule | None]] = {
    "stablehlo.dot_general": _dot_general,
    "stablehlo.reduce": _reduce,
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.transpose": _transpose,
    "stablehlo.reshape": _reshape,
    "stablehlo.concatenate": _without(lambda op: [op.properties["dimension"]]),
    "stablehlo.reverse": _without(lambda op: op.properties["dimensions"]),
    "stablehlo.slice": _without(_changed),
    "stablehlo.pad": _without(_changed),
    "stablehlo.iota": _without(lambda op: [op.properties["iota_dimension"]]),
}


def rule_of(op: Operation) -> Rule | None:
    """Return the rule of an op; None if it has none, and runs on whole tensors."""
    if op.name in RULES:
        return RULES[op.name](op)
    definition = definition_of(op)
    is_elementwise = definition is not None and definition.traits.elementwise and len(op.results) == 1
    return _elementwise(op) if is_elementwise and not op.regions else None


# --- the program ------------------------------------------------------------------------------------------------------


def convert_global_to_local(module: Operation) -> None:
    """Replace the entry by what each device computes on its blocks, unless nothing in it has a sharding.

    UnsupportedError, with the place, for shardings that split a dimension into unequal parts, and ops with effects.
    """
    found = functions(module)
    function = found.get("main") or (next(iter(found.values())) if len(found) == 1 else None)
    if function is None or not function.regions[0].blocks or not (shardings := shardings_in(function)):
        return
    with Rewriter(module) as rewriter:
        partitioner = _Partitioner(function, shardings, Emitter(rewriter, function))
        partitioner.run()
    sizes = {"mhlo.num_partitions": partitioner.mesh.count, "mhlo.num_replicas": 1}
    module.attributes |= {name: IntegerAttribute(size, I32) for name, size in sizes.items()}


def shardings_in(function: Operation) -> list[Sharding]:
    """Return the shardings of a function's arguments and results, and of its ops."""
    blocks = function.regions[0].blocks
    values = [argument for block in blocks for argument in block.arguments]
    values += [result for block in blocks for op in block.operations for result in op.results]
    given = [read(attributes.get("sdy.sharding")) for attributes in function.properties.get("res_attrs") or ()]
    return [sharding for sharding in (*map(sharding_of, values), *given) if isinstance(sharding, Sharding)]


class _Partitioner:
    def __init__(self, function: Operation, shardings: Sequence[Sharding], emit: Emitter) -> None:
        self.function, self.emit = function, emit
        self.block = function.regions[0].blocks[0]
        try:
            mesh = common_mesh(shardings, function)
        except ValueError as error:
            raise UnsupportedError(str(error), function.location) from None
        if len(function.regions[0].blocks) > 1 or not mesh.axes:
            raise UnsupportedError("expected a function of one block, and a mesh with axes", function.location)
        self.mesh = DeviceMesh(mesh)
        self.name = next(sharding.mesh for sharding in shardings if mesh_of(sharding, function) == mesh)
        self.local: dict[Value, tuple[Value, Layout]] = {}  # of values of the program: the block, and how it is split
        self.channels = 0
        self.positions: dict[tuple[int, ...], Value] = {}  # numbers that depend on the device, by their tables

    def run(self) -> None:
        """Replace the body of the function."""
        members = self.function.properties
        arguments, returned = self.block.arguments, self.block.operations[-1].operands
        self.check_static((*arguments, *returned), self.function)
        given = [self.layout(sharding_of(argument), argument) for argument in arguments]
        inputs = [layout or replicated(len(_shape(argument))) for layout, argument in zip(given, arguments)]
        attributes: Sequence[Mapping[str, Attribute]] = members.get("res_attrs") or ({},) * len(returned)
        wanted = [self.layout(read(a.get("sdy.sharding")), value) for a, value in zip(attributes, returned)]
        self.wanted = {value: layout for value, layout in zip(returned, wanted) if layout is not None}
        types = [self.block_type(argument, layout) for argument, layout in zip(arguments, inputs)]
        region = self.emit.region(types, lambda emit, blocks: self.body(emit, blocks, inputs, wanted), "func.return")
        for new, old in zip(region.block.arguments, arguments):
            new.name, new.location, new.origin = old.name, old.location, old.origin
        outputs = [layout or self.local[value][1] for layout, value in zip(wanted, returned)]
        result_types = [self.block_type(value, layout) for value, layout in zip(returned, outputs)]
        self.function.regions, region.parent = [region], self.function
        members["function_type"] = FunctionType(tuple(types), tuple(result_types))
        members["arg_attrs"] = self.with_shardings(members.get("arg_attrs"), inputs)
        members["res_attrs"] = self.with_shardings(members.get("res_attrs"), outputs)

    def with_shardings(
        self, attributes: Sequence[Mapping[str, object]] | None, layouts: Sequence[Layout]
    ) -> tuple[Mapping[str, object], ...]:
        """Return the attributes of arguments or results with their shardings."""
        shardings = (sharding_of_layout(layout, self.mesh.mesh, str(self.name)) for layout in layouts)
        texts = [OpaqueAttribute(text_of("sharding", sharding)) for sharding in shardings]
        return tuple({**old, "sdy.sharding": text} for old, text in zip(attributes or ({},) * len(texts), texts))

    def body(
        self, emit: Emitter, blocks: Sequence[Value], inputs: Sequence[Layout], wanted: Sequence[Layout | None]
    ) -> list[Value]:
        """Emit the body on blocks of the arguments, and return those of the results."""
        self.emit = emit
        self.local.update(zip(self.block.arguments, zip(blocks, inputs)))
        *ops, emit.anchor = self.block.operations
        for op in ops:
            emit.anchor = op
            self.convert(op)
        emit.anchor = self.block.operations[-1]
        pairs = zip(emit.anchor.operands, wanted)
        return [self.resharded(value, layout or self.local[value][1]) for value, layout in pairs]

    # --- layouts ----------------------------------------------------------------------------------------------------

    def layout(self, sharding: object, value: Value) -> Layout | None:
        """Return the layout of a value with a sharding, None without one."""
        if not isinstance(sharding, Sharding):
            return None
        found = layout_of(sharding, self.mesh.mesh)
        self.block_type(value, found)
        return found

    def target(self, value: Value) -> Layout | None:
        """Return the layout that a result is to have: by its own sharding, or that of the function's result."""
        return self.layout(sharding_of(value), value) or self.wanted.get(value)

    def block_type(self, value: Value, layout: Layout) -> TensorType:
        """Return the type of a device's block of a value; UnsupportedError if blocks would differ in size."""
        type = value.type
        assert isinstance(type, TensorType)
        shape, parts = static_shape(type), counts(layout)
        if any(n % count for n, count in zip(shape, parts, strict=True)):
            written = self.mesh.describe_layout(layout)
            raise UnsupportedError(f"{type} cannot be split into equal parts by {written}", self.emit.anchor.location)
        return replace(type, shape=tuple(n // count for n, count in zip(shape, parts)))

    def check_static(self, values: Sequence[Value], op: Operation) -> None:
        """Raise UnsupportedError for a value that is not a static tensor."""
        for value in values:
            if not isinstance(value.type, TensorType) or not value.type.is_static:
                raise UnsupportedError(f"expected static tensors to partition, got {value.type}", op.location)

    # --- ops --------------------------------------------------------------------------------------------------------

    def convert(self, op: Operation) -> None:
        """Emit what a device computes of an op."""
        if op.name in ("sdy.sharding_constraint", "sdy.reshard"):
            layout = self.target(op.results[0]) or self.local[op.operands[0]][1]
            self.local[op.results[0]] = self.resharded(op.operands[0], layout), layout
            return
        definition = definition_of(op)
        if definition is None or definition.traits.effects or op.name == "func.call":
            hint = "; run --inline first" if op.name == "func.call" else ""
            raise UnsupportedError(f"'{op.name}' cannot be partitioned{hint}", op.location)
        self.check_static((*op.operands, *op.results), op)
        rule = rule_of(op) or Rule(list(map(_whole, op.operands)), ())
        axes = self.axes_of(op, rule)
        inner = (v for other in op.walk() if other is not op for v in other.operands if v in self.local)
        mapping = {value: self.resharded(value, replicated(len(_shape(value)))) for value in inner}
        operands = [self.resharded(v, _with(axes, factors)) for v, factors in zip(op.operands, rule.operands)]
        made = clone(op, mapping)
        made.operands = operands  # a value may be used twice, in two layouts
        made.attributes.pop("sdy.sharding", None)
        for old, new in zip(op.results, made.results):
            layout = _with(axes, rule.result or _whole(old))
            new.type = self.block_type(old, layout)
            self.local[old] = new, layout
        if op.name == "stablehlo.slice":
            limits, cut = zip(_shape(made.results[0]), op.properties["limit_indices"]), _changed(op)
            made.properties["limit_indices"] = tuple(old if d in cut else new for d, (new, old) in enumerate(limits))
        self.emit.insert(made)
        if summed := tuple(part for factor, parts in axes.items() if factor not in rule.result for part in parts):
            self.combine(op.results[0], rule.body, summed)
        for value in op.results:
            if (target := self.target(value)) is not None:
                self.local[value] = self.resharded(value, target), target

    def axes_of(self, op: Operation, rule: Rule) -> dict[int, Parts]:
        """Return the axes of each factor: those of the result's sharding, then those of the operands."""
        found: dict[int, Parts] = {}
        operands = [(value, factors, self.local[value][1]) for value, factors in zip(op.operands, rule.operands)]
        pairs = [pair for _, factors, layout in operands for pair in zip(factors, layout)]
        summed = [part for factor, parts in pairs if factor is not None and factor not in rule.result for part in parts]
        target = self.target(op.results[0]) if op.results else None
        wanted = [() if _overlap(parts, summed) else parts for parts in target or ()]  # sums are scattered later
        sizes: dict[int | None, list[int]] = defaultdict(list)
        for value, factors in [*zip(op.operands, rule.operands), *zip(op.results, [rule.result])]:
            for factor, n in zip(factors, _shape(value)):
                sizes[factor].append(n)
        for factor, parts in (*zip(rule.result, wanted), *pairs):
            if factor is None or factor in found or any(_overlap(parts, other) for other in found.values()):
                continue
            if parts and not any(n % prod(part.size for part in parts) for n in sizes[factor]):
                found[factor] = parts
        return found

    def combine(self, value: Value, body: str, parts: Parts) -> None:
        """Combine partial results of the devices along axes; each keeps a part if the value's sharding wants it so."""
        local, layout = self.local[value]
        scattered = self.target(value) or layout
        assert isinstance(local.type, TensorType)
        scalar = replace(local.type, shape=())
        region = self.emit.region([scalar, scalar], lambda emit, pair: [emit.value(f"stablehlo.{body}", *pair)])
        members: dict[str, Any] = {
            "replica_groups": self.mesh.groups(parts),
            "use_global_device_ids": True,
            **self.channel(),
        }
        name, type = "all_reduce", local.type
        for d, want in enumerate(scattered):
            if want == (*layout[d], *parts):
                layout = (*layout[:d], want, *layout[d + 1 :])
                name, type = "reduce_scatter", self.block_type(value, layout)
                members["scatter_dimension"] = d
                break
        made = self.emit.operation(f"stablehlo.{name}", [local], [type], [region], **members)
        self.local[value] = made.results[0], layout

    # --- resharding -------------------------------------------------------------------------------------------------

    def channel(self) -> dict[str, int]:
        """Return the members of a new channel; its ids are those of partitions."""
        self.channels += 1
        return {"channel_id": self.channels, "channel_type": 1}

    def resharded(self, value: Value, target: Layout) -> Value:
        """Return the blocks of a value in another layout.

        Axes are taken from the end of dimensions: by an all_to_all if another dimension wants them, or an all_gather.
        Then each device takes its part along the axes that are new.
        """
        local, layout = self.local[value]
        array = known_array(local)
        if array is not None and layout != target and array.size and np.all(array == array.flat[0]):
            return self.emit.constant(self.block_type(value, target), array.flat[0])
        if layout != target and counts(layout) == counts(target):
            return self.permuted(local, layout, target)
        for d, parts in enumerate(layout):
            while parts != target[d][: len(parts)]:
                last, parts = parts[-1], parts[:-1]
                wanted = [e for e, have in enumerate(layout) if e != d and target[e][: len(have) + 1] == (*have, last)]
                layout = (*layout[:d], parts, *layout[d + 1 :])
                name = "all_gather"
                members: dict[str, Any] = {"all_gather_dim": d, "use_global_device_ids": True}
                if wanted:
                    e = wanted[0]
                    layout = (*layout[:e], (*layout[e], last), *layout[e + 1 :])
                    name, members = (
                        "all_to_all",
                        {"split_dimension": e, "concat_dimension": d, "split_count": last.size},
                    )
                members |= {"replica_groups": self.mesh.groups((last,)), **self.channel()}
                type = self.block_type(value, layout)
                local = self.emit.operation(f"stablehlo.{name}", [local], [type], **members).results[0]
        return local if layout == target else self.sliced(value, local, layout, target)

    def permuted(self, local: Value, layout: Layout, target: Layout) -> Value:
        """Send each block to a device that needs it."""
        have, want = (self.mesh.numbers(used(each)) for each in (layout, target))
        if np.array_equal(have, want):
            return local
        sources, targets = (np.argsort(numbers, kind="stable").tolist() for numbers in (have, want))
        members: dict[str, Any] = {"source_target_pairs": tuple(sorted(zip(sources, targets))), **self.channel()}
        return self.emit.value("stablehlo.collective_permute", local, **members)

    def sliced(self, value: Value, local: Value, layout: Layout, target: Layout) -> Value:
        """Take the part of a block that belongs to the device."""
        type = self.block_type(value, target)
        numbers = [self.mesh.numbers(want[len(have) :]) for have, want in zip(layout, target)]
        starts = [self.by_device(number * size) for number, size in zip(numbers, static_shape(type))]
        return self.emit.value("stablehlo.dynamic_slice", local, *starts, slice_sizes=static_shape(type))

    def by_device(self, table: Array) -> Value:
        """Return a number that depends on the device."""
        key = tuple(table.tolist())
        if key not in self.positions:
            self.positions[key] = self.looked_up(table) if table.any() else self.emit.constant(SCALAR, 0)
        return self.positions[key]

    def looked_up(self, table: Array) -> Value:
        """Emit a look-up by the number of the device."""
        numbers = self.emit.constant(TensorType(table.shape, I32), table)
        device = self.emit.value("stablehlo.convert", self.emit.value("stablehlo.partition_id"), type=SCALAR)
        number = self.emit.value("stablehlo.dynamic_slice", numbers, device, slice_sizes=(1,))
        return self.emit.value("stablehlo.reshape", number, type=SCALAR)


def _overlap(some: Sequence[Span], others: Sequence[Span]) -> bool:
    return any(overlap(x, y) for x in some for y in others)


def _whole(value: Value) -> Factors:
    return (None,) * len(_shape(value))


def _with(axes: Mapping[int, Parts], factors: Factors) -> Layout:
    return tuple(() if factor is None else axes.get(factor, ()) for factor in factors)


PASS = Pass(
    "convert-global-to-local",
    "partition a program by its shardings into what each device runs, with collectives",
    convert_global_to_local,
)
