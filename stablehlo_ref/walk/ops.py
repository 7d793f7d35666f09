"""How the function in `semantics/` of an op is called: with what its parameters name.

These are members of the op (operands as arrays, attributes as Python values, regions as functions), types of results,
and the process. Ops that need more are in `HANDLERS`: they communicate, call functions of the program, have an effect
on the host, or take numbers in other forms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from inspect import Parameter, signature
from math import prod
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from stablehlo_ref.define.bound import BoundOp, PlanSite, bind, is_on_expressed
from stablehlo_ref.define.definition import group_by_member, member_of_each
from stablehlo_ref.define.members import Out
from stablehlo_ref.define.processes import Contributions, Receive, Rendezvous, Send
from stablehlo_ref.define.spec import expressed
from stablehlo_ref.diagnostics import EvaluationError, UnsupportedError
from stablehlo_ref.dialects.arith import check_rounding
from stablehlo_ref.dialects.mlir_types import constant_value
from stablehlo_ref.dialects.tensor_slices import known, slice_shape, window
from stablehlo_ref.distribution.process_groups import MeshAxes, id_groups
from stablehlo_ref.ir.attributes import DenseElements, DenseResource, FloatAttribute, IntegerAttribute
from stablehlo_ref.ir.types import (
    BufferType,
    FloatType,
    IndexType,
    IntegerType,
    OpaqueType,
    QuantizedType,
    TensorType,
    Type,
)
from stablehlo_ref.numerics.dtypes import INT64, numpy_dtype
from stablehlo_ref.ops.communication import Channel
from stablehlo_ref.ops.constants import elements_of
from stablehlo_ref.semantics import (
    arith,
    chlo_structured,
    data_movement,
    deprecated,
    distribution,
    extensibility,
    mpmd,
    random,
    scf,
    tensor,
)
from stablehlo_ref.semantics.distribution import AtProcess, ProcessGroups
from stablehlo_ref.semantics.functions import function_of
from stablehlo_ref.semantics.quantization import Quantized, dequantize_op_quantize, to_destination_type

if TYPE_CHECKING:
    from stablehlo_ref.walk.walker import Values, ValueScope, Walker

WITH_NUMBERS = ("affine", "scf", "shape", "tensor")  # dialects whose functions take indices and shapes as Python's
VALUES = ("", "elements", "init_args", "inits", "input", "scalar", "value")  # but not as these members

# The values, for each dimension of a window, of attributes that MLIR allows to omit.
OMITTED = {
    "base_dilations": 1, "lhs_dilation": 1, "padding": (0, 0), "rhs_dilation": 1, "window_dilations": 1,
    "window_reversal": False, "window_strides": 1,
}  # fmt: skip


# The operands of ops with a reducer that are converted to the element types of results.
PROMOTED = {
    "stablehlo.all_reduce": ("operands",), "stablehlo.collective_reduce": ("operands",),
    "stablehlo.reduce": ("inputs", "init_values"), "stablehlo.reduce_scatter": ("operand",),
    "stablehlo.reduce_window": ("inputs", "init_values"), "stablehlo.scatter": ("inputs", "updates"),
    "stablehlo.select_and_scatter": ("source", "init_value"),
}  # fmt: skip


class OpCall:
    """An op with the values of its operands."""

    def __init__(self, bound: BoundOp, operands: Values, walker: Walker, scope: ValueScope | None) -> None:
        self.bound, self.op, self.operands, self.walker = bound, bound.op, operands, walker
        self.context, self.location = walker.context, bound.op.location
        definition = bound.definition
        members = member_of_each(definition.operands, len(operands))
        if self.op.name in PROMOTED:
            self.operands = operands = list(self.promoted([m.name for m in members]))
        names = [m.name if definition.dialect in WITH_NUMBERS else "" for m in members]
        types = [v.type for v in self.op.operands]
        values = [x if name in VALUES else as_number(t, x) for name, t, x in zip(names, types, operands)]
        regions = [walker.region(region, scope) for region in self.op.regions]
        self.members = {name: self.attribute(bound.arguments[name]) for name in definition.attributes}
        self.members |= group_by_member(definition.operands, values)
        self.members |= group_by_member(definition.regions, regions)

    def promoted(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield the operands, of these members, those that a reducer takes with its own element types."""
        numbers = Counter[str]()
        for name, type, value in zip(names, self.bound.operands, self.operands):
            results = self.bound.results[numbers[name] :]
            numbers[name] += 1
            is_reduced = name in PROMOTED[self.op.name] and results
            yield to_destination_type(value, elements(type), elements(results[0])) if is_reduced else value

    def attribute(self, value: object) -> Any:
        """Return an attribute as a Python value: names of enums, arrays, tuples of these."""
        match value:
            case Enum():
                return value.name
            case DenseElements() | DenseResource():
                return elements_of(value)
            case IntegerAttribute() | FloatAttribute():
                return value.value
            case FloatType():
                return value.name if value.name == "tf32" else numpy_dtype(value)
            case MeshAxes():
                groups = id_groups(value, self.op)
                if groups is None:
                    raise UnsupportedError(f"'{self.op.name}' op has no semantics here for a mesh without axes")
                return groups
            case tuple():
                return tuple(map(self.attribute, value))
        return value

    # --- what functions may ask for besides members ----------------------------------------------------------------

    def also(self) -> dict[str, Any]:
        """Return what functions may ask for besides members: types of operands and results, the process."""
        bound, process = self.bound, self.context.process
        results = tuple(map(shape_and_dtype, bound.results))
        return {
            "result": results[0] if results else None,
            "results": results,
            "element_type": results[0][1] if results else None,
            "operand_type": quantization(bound.operands[0]) if bound.operands else None,
            "result_type": quantization(bound.results[0]) if bound.results else None,
            "zero_points": [q.zero_points[0] for q in map(quantization, bound.results) if q],
            "use_global_device_ids": self.has_device_ids(),
            "grid": (process.grid.num_replicas, process.grid.num_partitions),
            "process": process.id,
            "shape": results[0][0] if results else None,
        }

    def has_device_ids(self) -> bool:
        """Return whether groups are along the axes of a mesh of all processes, and so have flattened ids."""
        is_mesh = isinstance(self.bound.arguments.get("replica_groups"), MeshAxes)
        return is_mesh and sum(map(len, self.members["replica_groups"])) == self.context.process.grid.count

    def callee(self, attribute: str) -> Callable[..., Values]:
        """Return the function of the program that an attribute names."""
        return lambda *arguments: tuple(self.walker.function(self.bound.arguments[attribute], arguments))

    def apply(self, function: Callable[..., Any], **given: object) -> Any:
        """Call a function with what its parameters name: `given`, a member, or one of `also`.

        Parameters that have another name than the operand, as those of a function that several ops share, get the
        operands that are left, in order.
        """
        members = {name: self.omitted(name) if value is None else value for name, value in self.members.items()}
        available = self.also() | members | given
        parameters = signature(function).parameters.values()
        names = [parameter.name for parameter in parameters]
        left = (self.members[m.name] for m in self.bound.definition.operands if m.name not in names)
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for parameter in parameters:
            if parameter.kind is Parameter.VAR_POSITIONAL:
                positional += available.get(parameter.name, self.operands)
            elif parameter.kind is Parameter.VAR_KEYWORD:
                named |= {name: members[name] for name in self.bound.definition.attributes if name not in names}
            elif parameter.name in available:
                named[parameter.name] = available[parameter.name]
            elif parameter.default is Parameter.empty:
                named[parameter.name] = next(left)
        return function(*positional, **named)

    def omitted(self, name: str) -> Any:
        """Return the value of a member that is not given: None, or that of `OMITTED` for each dimension."""
        spatial = self.members.get("input_spatial_dimensions")
        rank = len(spatial if spatial is not None else np.shape(self.operands[0])) if self.operands else 0
        return (OMITTED[name],) * rank if name in OMITTED else None

    def evaluate(self) -> Any:
        """Call the function of the op; on quantized tensors between dequantize and quantize, as the spec has it."""
        check_rounding(self.op.properties.get("rounding_mode"))  # of arith and math
        function = function_of(self.op.name)
        if function is None:
            raise UnsupportedError(f"'{self.op.name}' op has no semantics here: `stablehlo_ref.semantics` lacks it")
        if not is_on_expressed(self.bound):
            return self.apply(function)
        types, results = self.bound.operands, self.bound.results
        operand_types, result_types = list(map(expressed, types)), list(map(expressed, results))
        bound = bind(self.bound.definition, self.bound.site, operand_types, result_types, self.bound.bodies)
        operands = list(zip(self.operands, map(quantization, types)))
        op = lambda *floats: OpCall(bound, floats, self.walker, None).apply(function)  # noqa: E731
        return dequantize_op_quantize(op, operands, *map(quantization, results))

    def listed(self, returned: object) -> Values:
        """Return what a function returned as a list of results; a token is the last one."""
        members = self.bound.definition.results
        if returned is None or (len(members) == 1 and isinstance(members[0], Out)):
            return [returned] * len(self.op.results)
        values = list(returned) if isinstance(returned, tuple | list) else [returned]
        return values + [None] * (len(self.op.results) - len(values))


def results_of(bound: BoundOp, operands: Values, walker: Walker, scope: ValueScope) -> Values:
    """Return the results of an op, given those of its operands."""
    call = OpCall(bound, operands, walker, scope)
    handler = HANDLERS.get(bound.op.name) or BY_DIALECT.get(bound.definition.dialect, OpCall.evaluate)
    return call.listed(handler(call))


# --- types and values -----------------------------------------------------------------------------------------------


def shape_and_dtype(type: Type) -> tuple[Any, Any]:
    """Return the shape of a type and the dtype of its elements as they are stored; None for what it does not have."""
    element = type.element_type if isinstance(type, TensorType | BufferType) else type
    try:
        return getattr(type, "shape", ()), numpy_dtype(element)
    except UnsupportedError:
        return None, None


def quantization(type: Type) -> Quantized | None:
    """Return the parameters of a quantized tensor type; None for others."""
    q = type.element_type if isinstance(type, TensorType) else None
    if not isinstance(q, QuantizedType):
        return None
    storage, expressed_type = numpy_dtype(q.storage_type), numpy_dtype(q.expressed_type)
    parameters = q.scales, q.zero_points, q.storage_min, q.storage_max, q.quantization_dimension
    return Quantized(storage, expressed_type, *parameters)


def elements(type: Type) -> Any:
    """Return what `to_destination_type` takes for a type: the parameters of a quantized one, or the dtype."""
    return quantization(type) or shape_and_dtype(type)[1]


def is_shape(type: Type) -> bool:
    """Return whether values of a type are shapes: `!shape.shape` and tensors of extents."""
    if isinstance(type, OpaqueType):
        return "shape.shape" in type.text
    return isinstance(type, TensorType) and isinstance(type.element_type, IndexType) and len(type.shape) == 1


def as_number(type: Type, value: Any) -> Any:
    """Return an index or an integer as an `int`, and a shape as a tuple of them; other values as they are."""
    if isinstance(type, IndexType | IntegerType) or (isinstance(type, OpaqueType) and "shape.size" in type.text):
        return int(value)
    return tuple(map(int, value)) if is_shape(type) else value


def stored(type: Type, value: object) -> Any:
    """Return a value of a function as a value of the program: numbers and shapes as arrays.

    EvaluationError for what represents an error: no shape, or a witness of a condition that does not hold.
    """
    if isinstance(type, OpaqueType):
        if value is False or (value is None and "witness" not in type.text):
            raise EvaluationError(f"a value of type {type} is an error")
        value = None if value is True else value
    if value is None and isinstance(type, TensorType | IndexType):
        raise EvaluationError(f"a value of type {type} is an error")
    if value is None or isinstance(value, np.ndarray) or (isinstance(value, tuple) and not is_shape(type)):
        return value
    element = type.element_type if isinstance(type, TensorType) else type
    return np.array(value, INT64 if isinstance(type, OpaqueType) else numpy_dtype(element))


# --- ops that need more ---------------------------------------------------------------------------------------------

Handler: TypeAlias = Callable[[OpCall], Any]


def by_role(call: OpCall) -> Any:
    """Run an op that has an effect on the host and computes nothing, by its class."""
    definition, op = call.bound.definition, call.op
    site = PlanSite(op, function=lambda name: as_callee(call, name))
    run = definition.roles["plan"]({**call.bound.arguments, "site": site})
    members = group_by_member(definition.operands, call.operands)
    return run(call.context, *members.values())


def as_callee(call: OpCall, name: str) -> Any:
    """Return a function of the program as what handlers of custom calls may call."""
    function = call.op.symbol(name)
    operations = function.regions[0].block.operations[:-1] if function and function.regions[0].blocks else []
    block = SimpleNamespace(communicates=False, ops=operations)
    return SimpleNamespace(block=block, call=lambda context, arguments: list(call.walker.function(name, arguments)))


def custom_call(call: OpCall) -> Any:
    """Call the target's handler, which may be one that communicates."""

    def call_target(*inputs: object) -> Any:
        returned = by_role(call)
        if not hasattr(returned, "send"):
            return returned
        answer = None
        while True:
            try:
                answer = call.walker.communicate(returned.send(answer))
            except StopIteration as end:
                return end.value

    return call.apply(extensibility.custom_call, call_target=call_target)


def collective(function: Callable[..., AtProcess], groups: Callable[..., ProcessGroups]) -> Handler:
    """Return the handler of a collective op, whose process waits for all others of its group."""

    def handler(call: OpCall) -> Any:
        here = call.context.process.id
        group = next((tuple(g) for g in call.apply(groups) if here in g), (here,))
        tag = tuple((name, str(value)) for name, value in call.bound.arguments.items() if name in TAGS)
        waits = Rendezvous(call.op.name, tag, group, tuple(call.operands), call.location)
        contributions: Contributions = call.walker.communicate(waits)
        returned = call.apply(function, operands=dict(contributions.by_process))
        if here not in returned:
            raise EvaluationError(f"'{call.op.name}' op: process {here} is in no group")
        return returned[here][0] if len(call.op.results) == 1 else returned[here]

    return handler


TAGS = ("channel_id", "replica_groups", "all_gather_dim", "scatter_dimension", "split_dimension", "concat_dimension")


def collective_permute(call: OpCall) -> Any:
    """Send to the target, if there is one, and wait for the source, if there is one."""
    here, operand = call.context.process.id, call.operands[0]
    pairs = call.apply(distribution.exchange_groups, replica_groups=call.members["source_target_pairs"])
    operands = {here: (operand,)}
    key = call.op.name, call.members["channel_id"]
    for source, target in pairs:
        if source == here:
            call.walker.communicate(Send((*key, here, target), operand))
    for source, target in pairs:
        if target == here:
            waits = Receive(call.op.name, (*key, source, here), source, call.location)
            operands[source] = (call.walker.communicate(waits),)
    return call.apply(distribution.collective_permute, operands=operands)[here][0]


def channel_of(call: OpCall) -> Channel:
    pairs = () if call.members["is_host_transfer"] else call.members["source_target_pairs"]
    return Channel(call.op, call.members["channel_id"], pairs)


def send(call: OpCall) -> None:
    channel, sent = channel_of(call), list[Any]()
    target = channel.target_of(call.context.process)
    call.apply(distribution.send, channel=sent)
    if target is not None or channel.is_shared:
        call.walker.communicate(Send(channel.between(call.context.process.id, target), sent[0]))


def recv(call: OpCall) -> Any:
    channel, here = channel_of(call), call.context.process
    source = channel.source_of(here)
    if source is None and not channel.is_shared:
        zero_points = call.also()["zero_points"]
        types = map(shape_and_dtype, call.bound.results[:-1])
        return [distribution.zeros(*type, j, zero_points) for j, type in enumerate(types)]
    waits = Receive(call.op.name, channel.between(source, here.id), source, call.location)
    received = call.apply(distribution.recv, channel=[call.walker.communicate(waits)])
    for type, value in zip(call.bound.results[:-1], received, strict=True):
        if shape_and_dtype(type) != (value.shape, value.dtype):
            raise EvaluationError(f"'{call.op.name}' op: expected {type}, got {value.dtype} of shape {value.shape}")
    return received


def rng(call: OpCall) -> Any:
    context = call.context
    context.draws += 1
    return call.apply(random.rng, seed=context.rng_seed, draws=context.draws - 1)


def scan(call: OpCall) -> Any:
    count, _ = call.members["operand_segment_sizes"]
    outputs, _ = call.members["result_segment_sizes"]
    values, dimension = call.members["inputs_and_inits"], call.members["dimension"]
    size = values[0].shape[dimension] if count else call.members["scan_dim_size"]
    slices = [shape_and_dtype(v.type) for v in call.op.regions[0].block.operations[-1].operands[:outputs]]
    parts = {"inputs": values[:count], "inits": values[count:], "count": size, "slices": slices}
    return call.apply(chlo_structured.scan, **parts)


def for_(call: OpCall) -> Any:
    """Pass the bounds of `scf.for` as unsigned numbers, if it says so. EvaluationError for a step below 1."""
    modulus = 1 << getattr(call.op.operands[0].type, "width", 64)
    bounds = {name: call.members[name] for name in ("lower_bound", "upper_bound", "step")}
    if call.members["unsigned_cmp"]:
        bounds = {name: number % modulus for name, number in bounds.items()}
    if bounds["step"] <= 0:
        raise EvaluationError(f"the step of the loop is {bounds['step']}, not a positive number")

    def region(i: int, *carried: object) -> Values:
        return call.members["region"](i - modulus if 2 * i >= modulus else i, *carried)  # type: ignore[no-any-return]

    return call.apply(scf.for_, **bounds, region=region)


def constant(call: OpCall) -> Any:
    return call.apply(arith.constant, value=constant_value(call.bound.arguments["value"], call.bound.results[0]))


def reshape(call: OpCall) -> Any:
    """Reshape to a type that may leave one size open, which follows from the others."""
    sizes = call.bound.results[0].shape
    known = prod(n for n in sizes if n is not None)
    shape = tuple(call.operands[0].size // max(known, 1) if n is None else n for n in sizes)
    if prod(shape) != call.operands[0].size:
        (result,), (operand,) = call.bound.results, call.bound.operands
        raise EvaluationError(f"'{call.op.name}' op: expected elements of a {result}, got {operand}")
    return call.apply(data_movement.reshape, result=(shape, call.operands[0].dtype))


def part_of(call: OpCall) -> Any:
    """Pass the static and the dynamic numbers of a slice or of padding together."""
    operands = call.members["padding" if call.op.name == "tensor.pad" else "positions"]
    static = {name.removeprefix("static_"): n for name, n in call.members.items() if name.startswith("static_")}
    numbers = dict(zip(static, map(tuple, known(operands, *static.values()))))
    if call.op.name == "tensor.pad":
        return call.apply(tensor.pad, **numbers)
    whole = call.members["source" if call.op.name == "tensor.extract_slice" else "dest"]
    window(whole, numbers["offsets"], numbers["sizes"], numbers["strides"])  # raises if it is not inside
    if call.op.name == "tensor.insert_slice":
        return call.apply(tensor.insert_slice, source=call.members["source"].reshape(numbers["sizes"]), **numbers)
    part = call.apply(tensor.extract_slice, **numbers)
    return part.reshape(slice_shape(numbers["sizes"], call.bound.results[0]))


HANDLERS: dict[str, Handler] = {  # more in walk.py, of ops with processes of their own
    "arith.constant": constant,
    "chlo.scan": scan,
    "func.call": lambda call: call.callee("callee")(*call.operands),
    "mpmd.call": lambda call: call.apply(mpmd.call, callee=call.callee("callee")),
    "mpmd.fragment_call": lambda call: call.apply(mpmd.fragment_call, callee=call.callee("callee")),
    "scf.for": for_,
    "stablehlo.all_gather": collective(distribution.all_gather, distribution.reduction_groups),
    "stablehlo.all_reduce": collective(distribution.all_reduce, distribution.reduction_groups),
    "stablehlo.all_to_all": collective(distribution.all_to_all, distribution.all_to_all_groups),
    "stablehlo.collective_broadcast": collective(distribution.collective_broadcast, distribution.exchange_groups),
    "stablehlo.collective_permute": collective_permute,
    "stablehlo.collective_reduce": collective(distribution.collective_reduce, distribution.collective_reduce_groups),
    "stablehlo.composite": lambda call: call.apply(extensibility.composite, decomposition=call.callee("decomposition")),
    "stablehlo.cross-replica-sum": collective(deprecated.cross_replica_sum, distribution.cross_replica),
    "stablehlo.custom_call": custom_call,
    "stablehlo.infeed": by_role,
    "stablehlo.outfeed": by_role,
    "stablehlo.recv": recv,
    "stablehlo.reduce_scatter": collective(distribution.reduce_scatter, distribution.reduction_groups),
    "stablehlo.reshape": reshape,
    "stablehlo.rng": rng,
    "stablehlo.send": send,
    "tensor.extract_slice": part_of,
    "tensor.insert_slice": part_of,
    "tensor.pad": part_of,
}
BY_DIALECT: dict[str, Handler] = {"check": by_role, "interpreter": by_role}
