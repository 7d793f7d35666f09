"""Convert a program on whole tensors, with shardings, to what each device computes on its shards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import count
from types import MappingProxyType
from typing import TypeAlias

from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.dialects.sdy_shardings import ReductionOp, mesh_of, sharding_of
from stablehlo_ref.distribution.layouts import Layout, layout_of
from stablehlo_ref.distribution.meshes import Span, spans
from stablehlo_ref.distribution.sdy_attributes import Mesh
from stablehlo_ref.ir.core import Block, Operation, Region, Value, symbol_name
from stablehlo_ref.ir.graph import postorder
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.passes.emit import Emitter
from stablehlo_ref.passes.registry import PassOption, transformation
from stablehlo_ref.passes.registry import count as whole_number
from stablehlo_ref.passes.sdy.sharding_rules import Assignment
from stablehlo_ref.passes.sdy.shards import SHARDING, Shard, Shards, Signature, layout_at
from stablehlo_ref.passes.symbols import callees, functions, unused_name

ANNOTATIONS = (SHARDING, "sdy.sharding_rule")
REDUCING = ("sdy.all_reduce", "sdy.reduce_scatter")
SIZES = ("limit_indices", "slice_sizes")  # members with a size for each dimension of the operand or result


@transformation(
    "sdy-convert-global-to-local",
    "compute on the shards of tensors that each device holds",
    PassOption("replica-count", whole_number, "the number of replicas of the grid (default 1)"),
    PassOption(
        "partition-count", whole_number, "the number of partitions of the grid (default: as the mesh has devices)"
    ),
)
def convert_global_to_local(module: Operation, replica_count: int = 1, partition_count: int = 1) -> None:
    """Let functions compute on the shards of tensors that each device of the mesh holds.

    Arguments and results get the types of the shards that their shardings describe, collectives of sdy become those of
    StableHLO, and bodies of manual computations take the place of the ops. An op is computed on shards where its
    sharding rule allows that. Otherwise its operands are gathered, and the result is sliced. A tensor without sharding
    is whole on all devices. A dimension that does not split into equal shards has shards of the next larger size, with
    undefined elements at the end of the tensor.

    Devices are numbered as the processes of a grid of `replica-count` x `partition-count`; without these, as its
    partitions. UnsupportedError for a tensor of unknown size that is sharded.
    """
    _convert(module, functions(module), replica_count, partition_count)


def on_shards(module: Operation, entry: str | None, grid: Grid, whole: Collection[int] = ()) -> Operation:
    """See `execute.grid.on_shards`."""
    run = {name: f for name, f in functions(module).items() if any(map(_has_shards, f.walk()))}
    if not run or (entry is not None and not run.keys() & _reachable(functions(module), [entry]).keys()):
        return module
    made = clone(module, {})
    table = functions(made)
    if entry is not None:
        _convert(made, _reachable(table, [entry]), grid.num_replicas, grid.num_partitions, {entry: whole})
        return made
    is_changed = False
    for op in [op for op in made.walk() if op.name == "interpreter.run_parallel"]:
        programs = op.properties["programs"]
        used = _reachable(table, [name for row in programs for name in row])
        if sum(map(len, programs)) > 1 and run.keys() & used.keys():
            copies = {name: _copy(made, function) for name, function in used.items()}
            names = {name: copy.properties["sym_name"] for name, copy in copies.items()}
            for call in (x for copy in copies.values() for x in copy.walk() if x.name == "func.call"):
                call.properties["callee"] = names[call.properties["callee"]]
            _convert(made, {names[name]: copy for name, copy in copies.items()}, len(programs), len(programs[0]))
            op.properties["programs"] = tuple(tuple(names[name] for name in row) for row in programs)
            is_changed = True
    return made if is_changed else module


def _has_shards(op: Operation) -> bool:
    """Return whether an op has shardings, or changes them."""
    parameters = [each for name in ("arg_attrs", "res_attrs") for each in op.properties.get(name) or ()]
    is_of_dialect = op.name.startswith("sdy.") and op.name not in ("sdy.mesh", "sdy.return")
    return is_of_dialect or SHARDING in op.attributes or any(SHARDING in each for each in parameters)


def _reachable(table: Mapping[str, Operation], roots: Sequence[str]) -> dict[str, Operation]:
    """Return functions and all that they call."""
    seen: set[str] = set()
    for root in table.keys() & set(roots):
        postorder(root, lambda name: table.keys() & callees(table[name].walk()), seen)
    return {name: function for name, function in table.items() if name in seen}


def _copy(module: Operation, function: Operation) -> Operation:
    """Add a copy of a function to a module, under another name."""
    block, made = module.regions[0].block, clone(function, {})
    taken = {str(symbol_name(op)) for op in block.operations}
    made.properties["sym_name"] = unused_name(f"{function.properties['sym_name']}.shards", taken)
    made.parent = block
    block.operations = [*block.operations, made]
    return made


def _convert(
    module: Operation, table: Mapping[str, Operation], replica_count: int, partition_count: int,
    whole: Mapping[str, Collection[int]] = MappingProxyType({}),
) -> None:  # fmt: skip
    """Convert those of some functions, which call no others, that have shardings or call one that has.

    Arguments whose numbers are in `whole` are whole tensors in spite of their shardings.
    """
    handles = [op.properties.get("channel_id") for op in module.walk()]
    channels = count(max((n for n in handles if isinstance(n, int)), default=0) + 1)
    table = {
        name: function for name, function in table.items()
        if any(map(_has_shards, (op for f in _reachable(table, [name]).values() for op in f.walk())))
    }  # fmt: skip
    signatures = {name: Signature(function, whole.get(name, ())) for name, function in table.items()}
    with Rewriter(module) as rewriter:
        for name, function in table.items():
            if function.regions[0].blocks:
                partitions = partition_count if partition_count * replica_count > 1 else _device_count(function)
                shards = Shards(Emitter(rewriter, function), replica_count, partitions, channels)
                for layout in (layout for layouts in signatures[name].layouts for layout in layouts):
                    shards.check(layout)
                _Converter(function, signatures, shards).run(signatures[name])
    for name, function in table.items():
        signatures[name].apply(function)


def _device_count(function: Operation) -> int:
    """Return the number of devices of the mesh that a function is for."""
    of_results = (layout_at(sharding_of(result), op, result.type) for op in function.walk() for result in op.results)
    in_signature = (layout for layouts in Signature(function).layouts for layout in layouts)
    return max((layout.mesh.count for layout in (*in_signature, *of_results)), default=1)


class _Converter:
    """Emits a block on shards for a block on whole tensors."""

    def __init__(self, function: Operation, signatures: Mapping[str, Signature], shards: Shards) -> None:
        self.signatures = signatures
        self.shards = shards
        self.held: dict[Value, Shard] = {}
        self.users: dict[Value, list[Operation]] = defaultdict(list)
        for op in function.walk():
            for operand in op.operands:
                self.users[operand].append(op)

    @property
    def emit(self) -> Emitter:
        return self.shards.emit

    def run(self, signature: Signature) -> None:
        """Replace the body of a function."""
        function = self.emit.anchor
        if len(function.regions[0].blocks) > 1:
            raise UnsupportedError("a function of several blocks cannot be converted to shards", function.location)
        inputs, outputs = signature.layouts
        made = self._block(function.regions[0].block, inputs, outputs, "func.return", signature.arguments)
        function.regions = [made]
        made.parent = function

    def _block(
        self, block: Block, inputs: Sequence[Layout], outputs: Sequence[Layout], end: str,
        inside: Sequence[Layout] | None = None,
    ) -> Region:  # fmt: skip
        """Return a region that computes a block; its terminator returns values in the layouts `outputs`.

        Arguments are in the layouts `inputs`, and in the layouts `inside` for the ops.
        """
        types = [layout.shard_type(argument.type) for layout, argument in zip(inputs, block.arguments)]
        outer = self.shards

        def body(emit: Emitter, arguments: Sequence[Value]) -> Sequence[Value]:
            self.shards = outer.at(emit)
            for old, new, layout, goal in zip(block.arguments, arguments, inputs, inside or inputs):
                new.name, new.origin, new.location = old.name, old.origin, old.location
                self.held[old] = self.shards.reshard(Shard(new, old.type, layout), goal)
            returned = self._operations(block)
            return [self.shards.reshard(x, layout).value for x, layout in zip(returned, outputs)]

        region = self.emit.region(types, body, end)
        self.shards = outer
        return region

    def _operations(self, block: Block) -> list[Shard]:
        """Emit all ops of a block but its terminator; return the operands of that."""
        *operations, terminator = block.operations
        for op in operations:
            self.emit.anchor = op
            operands = [self.held[operand] for operand in op.operands]
            if op.name.startswith("sdy.") and op.name not in HANDLERS:
                raise UnsupportedError(f"'{op.name}' op cannot be converted to shards", op.location)
            shards = HANDLERS[op.name](self, op, operands) if op.name in HANDLERS else self.computed(op, operands)
            for result, shard in zip(op.results, shards):
                if not shard.value.name:
                    shard.value.name = result.name
                self.held[result] = shard
        self.emit.anchor = terminator
        return [self.held[operand] for operand in terminator.operands]

    def declared(self, op: Operation) -> list[Layout]:
        """Return the layouts of the results of an op, by its shardings."""
        return [layout_at(sharding_of(result), op, result.type) for result in op.results]

    # --- ops that compute ---------------------------------------------------------------------------------------

    def computed(self, op: Operation, operands: Sequence[Shard]) -> Sequence[Shard]:
        """Emit an op that has no handler: on shards where its sharding rule allows that, else on whole tensors."""
        declared = self.declared(op)
        factors = Assignment(op, declared, [x.layout for x in operands])
        needed = [self.shards.reshard(x, layout).value for x, layout in zip(operands, factors.operand_layouts)]
        layouts = factors.result_layouts
        results = self.emitted(op, needed, layouts)
        summed = frozenset().union(*(x.summed.union(x.layout.parts) for x in operands))
        shards = []
        for result, value, layout, goal in zip(op.results, results, layouts, declared):
            shard = Shard(value, result.type, layout)
            if terms := factors.terms:
                shard = replace(shard, layout=replace(layout, unreduced=terms, reduction=factors.reduction))
                users = self.users[result]
                if users and all(op.name in REDUCING and set(_reduced_parts(op)) == set(terms) for op in users):
                    goal = replace(goal, unreduced=terms)
            if goal.single is not None:
                shard = self.shards.broadcast(shard, goal.single)
            shard = self.shards.reshard(shard, goal)
            shards.append(replace(shard, summed=summed.difference(shard.layout.parts, shard.layout.unreduced)))
        return shards

    def emitted(self, op: Operation, operands: Sequence[Value], layouts: Sequence[Layout]) -> list[Value]:
        """Emit an op with other operands and results in some layouts."""
        mapping = {value: self._whole(value) for value in _captured(op)}
        if op.name in ("stablehlo.while", "stablehlo.if", "stablehlo.case"):
            return self._control_flow(op, operands, layouts)
        made = clone(op, mapping)
        made.operands = list(operands)
        for result, layout in zip(made.results, layouts):
            result.type = layout.shard_type(result.type)
        for name in SIZES:
            if name in made.properties and layouts[0].parts:
                made.properties[name] = _local_sizes(op, op.properties[name], operands[0].type)
        made.attributes = {name: value for name, value in made.attributes.items() if name not in ANNOTATIONS}
        self.emit.insert(made)
        return made.results

    def _whole(self, value: Value) -> Value:
        held = self.held[value]
        return self.shards.reshard(held, layout_of(None, held.layout.mesh, held.whole)).value

    def _control_flow(self, op: Operation, operands: Sequence[Value], layouts: Sequence[Layout]) -> list[Value]:
        is_loop = op.name == "stablehlo.while"
        regions = []
        for index, region in enumerate(op.regions):
            is_condition = is_loop and index == 0
            whole = [layout_of(None, Mesh(()), x.type) for x in region.block.operations[-1].operands]
            outputs = whole if is_condition else layouts
            regions.append(self._block(region.block, layouts if is_loop else (), outputs, "stablehlo.return"))
        types = [layout.shard_type(result.type) for layout, result in zip(layouts, op.results)]
        return self.emit.operation(op.name, operands, types, regions).results

    # --- ops that change shardings ------------------------------------------------------------------------------

    def inlined(self, op: Operation, inputs: Sequence[Shard], inner: Sequence[Layout]) -> list[Shard]:
        """Emit the body of an op in place of it, with layouts of the arguments in the body."""
        for argument, shard, layout in zip(op.regions[0].block.arguments, inputs, inner):
            self.held[argument] = Shard(shard.value, argument.type, layout, shard.summed)
        return self._operations(op.regions[0].block)


def _local_sizes(op: Operation, sizes: Sequence[int], operand: Type) -> tuple[int, ...]:
    """Return sizes with those of shards where they are those of a whole dimension."""
    whole = op.operands[0].type
    assert isinstance(whole, TensorType) and isinstance(operand, TensorType)
    return tuple(
        local or 0 if size == n else size for size, n, local in zip(sizes, whole.shape, operand.shape, strict=True)
    )


def _captured(op: Operation) -> list[Value]:
    """Return the values from outside that the regions of an op use."""
    inside = {a for o in op.walk() for r in o.regions for b in r.blocks for a in b.arguments}
    inside |= {result for o in op.walk() if o is not op for result in o.results}
    used = (operand for o in op.walk() if o is not op for operand in o.operands)
    return list(dict.fromkeys(value for value in used if value not in inside))


# --- handlers -------------------------------------------------------------------------------------------------------

Handler: TypeAlias = Callable[[_Converter, Operation, Sequence[Shard]], Sequence[Shard]]


def _lists(op: Operation, name: str, mesh: Mesh) -> list[list[Span]]:
    return [spans(axes.axes, mesh) for axes in op.properties[name].lists]


def _reduced_parts(op: Operation) -> list[Span]:
    """Return the parts of axes along which a collective op reduces."""
    mesh = mesh_of(op.properties["out_sharding"], op)
    if op.name == "sdy.all_reduce":
        return spans(op.properties["reduction_axes"].axes, mesh)
    return [part for parts in _lists(op, "reduce_scatter_axes", mesh) for part in parts]


def _probe(c: _Converter, op: Operation, operands: Sequence[Shard]) -> Sequence[Shard]:
    (shard,) = operands
    (value,) = c.emitted(op, [shard.value], [shard.layout])
    return [replace(shard, value=value)]


def _reduced(c: _Converter, op: Operation, operands: Sequence[Shard]) -> Sequence[Shard]:
    """Combine terms, but for those that another op has added."""
    (layout,), (shard,) = c.declared(op), operands
    if not shard.layout.mesh.axes:  # all devices hold the tensor
        shard = replace(shard, layout=replace(shard.layout, mesh=layout.mesh))
    reduction = str(op.properties.get("reduction_op", ReductionOp.SUM).value)
    if op.name == "sdy.all_reduce":
        if parts := [part for part in _reduced_parts(op) if part not in shard.summed]:
            shard = c.shards.all_reduce(shard, parts, reduction)
    else:
        for number, parts in enumerate(_lists(op, "reduce_scatter_axes", layout.mesh)):
            if parts and not shard.summed.issuperset(parts):
                shard = c.shards.reduce_scatter(shard, number, parts, reduction)
    return [replace(c.shards.reshard(shard, layout), summed=shard.summed - {*_reduced_parts(op)})]


def _all_to_all(c: _Converter, op: Operation, operands: Sequence[Shard]) -> Sequence[Shard]:
    (layout,) = c.declared(op)
    shard = operands[0]
    for exchange in op.properties["params"].exchanges:
        shard = c.shards.all_to_all(shard, exchange.source, exchange.target, spans(exchange.axes, layout.mesh))
    return [c.shards.reshard(shard, layout)]


def _resharded(c: _Converter, op: Operation, operands: Sequence[Shard]) -> Sequence[Shard]:
    (layout,) = c.declared(op)
    return [c.shards.reshard(operands[0], layout)]


def _constant(c: _Converter, op: Operation, operands: Sequence[Shard]) -> Sequence[Shard]:
    (layout,) = c.declared(op)
    value = c.emit.value("stablehlo.constant", type=op.results[0].type, value=op.properties["value"])
    return [c.shards.reshard(Shard(value, value.type, layout_of(None, Mesh(()), value.type)), layout)]


def _manual_computation(c: _Converter, op: Operation, operands: Sequence[Shard]) -> Sequence[Shard]:
    manual = op.properties["manual_axes"].names
    sides = [
        [layout_at(s, op, t) for s, t in zip(op.properties[name].shardings, types)]
        for name, types in (("in_shardings", op.operand_types), ("out_shardings", op.result_types))
    ]
    taken = [c.shards.reshard(x, layout) for x, layout in zip(operands, sides[0])]
    returned = c.inlined(op, taken, [_free(layout, manual) for layout in sides[0]])
    given = [c.shards.reshard(x, _free(layout, manual)) for x, layout in zip(returned, sides[1])]
    return [Shard(x.value, t, layout) for x, t, layout in zip(given, op.result_types, sides[1])]


def _free(layout: Layout, manual: Sequence[str]) -> Layout:
    """Return a layout without the parts of manual axes."""
    dimensions = tuple(tuple(p for p in parts if p.name not in manual) for parts in layout.dimensions)
    return replace(layout, dimensions=dimensions, unreduced=tuple(p for p in layout.unreduced if p.name not in manual))


def _named_computation(c: _Converter, op: Operation, operands: Sequence[Shard]) -> Sequence[Shard]:
    arguments = op.regions[0].block.arguments
    layouts = [
        layout_at(sharding, op, argument.type) if (sharding := sharding_of(argument)) else shard.layout
        for argument, shard in zip(arguments, operands)
    ]
    taken = [c.shards.reshard(x, layout) for x, layout in zip(operands, layouts)]
    returned = c.inlined(op, taken, layouts)
    if op.properties.get("out_shardings") is None:
        return returned
    return [c.shards.reshard(x, layout) for x, layout in zip(returned, c.declared(op))]


def _call(c: _Converter, op: Operation, operands: Sequence[Shard]) -> Sequence[Shard]:
    signature = c.signatures.get(str(op.properties["callee"]))
    if signature is None:
        return c.computed(op, operands)
    taken = [c.shards.reshard(x, layout).value for x, layout in zip(operands, signature.layouts[0])]
    made = c.emit.operation("func.call", taken, signature.shard_types[1], callee=op.properties["callee"])
    declared = [layout if sharding_of(r) else None for r, layout in zip(op.results, c.declared(op))]
    results = map(Shard, made.results, op.result_types, signature.layouts[1])
    return [c.shards.reshard(x, layout) if layout else x for x, layout in zip(results, declared)]


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "func.call": _call,
        "interpreter.probe": _probe,
        "sdy.all_gather": _resharded,
        "sdy.all_reduce": _reduced,
        "sdy.all_slice": _resharded,
        "sdy.all_to_all": _all_to_all,
        "sdy.collective_permute": lambda c, op, x: [c.shards.permute(x[0], c.declared(op)[0])],
        "sdy.constant": _constant,
        "sdy.data_flow_edge": lambda c, op, x: _resharded(c, op, x) if sharding_of(op.results[0]) else x,
        "sdy.func_data_flow_edge": lambda c, op, x: x,
        "sdy.manual_computation": _manual_computation,
        "sdy.named_computation": _named_computation,
        "sdy.propagation_barrier": lambda c, op, x: x,
        "sdy.reduce_scatter": _reduced,
        "sdy.replicated_to_unreduced": _resharded,
        "sdy.reshard": _resharded,
        "sdy.sharded_to_unreduced": _resharded,
        "sdy.sharding_constraint": _resharded,
        "sdy.sharding_group": lambda c, op, x: (),
    }
)
