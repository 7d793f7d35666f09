"""More specific types: of results, by the operands of their op, and of the arguments of the entry function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from stablehlo_ref.define.bound import Site, bind
from stablehlo_ref.define.constraints import check_preconditions
from stablehlo_ref.define.definition import group_by_member, resolve
from stablehlo_ref.define.spec import num_bits
from stablehlo_ref.diagnostics import InvalidError, MalformedError, Source, StablehloError
from stablehlo_ref.distribution.process_groups import group_size
from stablehlo_ref.ir.attributes import DenseArray, DenseElements, TypeAttribute
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import (
    FunctionType,
    OpaqueType,
    Shape,
    TensorType,
    TupleType,
    Type,
    UnrankedTensorType,
    as_vector,
    integer_type,
    tensor_type,
)
from stablehlo_ref.passes.analysis import defined_by, known_array, known_integers
from stablehlo_ref.passes.emit import Emitter, dense
from stablehlo_ref.passes.registry import PassOption, transformation
from stablehlo_ref.passes.symbols import functions
from stablehlo_ref.syntax.parser import parse_attribute

Shapes = Sequence[Shape | None]  # of the results; None where nothing is known


def refined_types(op: Operation) -> list[Type] | None:
    """Return the types of an op's results, made as specific as its operands and regions allow.

    None if they say nothing, or disagree with the declared types.
    """
    found = _inferred(op)
    if found is None or len(found) != len(op.results):
        return None
    merged = [most_specific(declared, inferred) for declared, inferred in zip(op.result_types, found)]
    return [type for type in merged if type is not None] if None not in merged else None


def most_specific(x: Type, y: Type) -> Type | None:
    """Return the type that says all that both say; None if they contradict each other."""
    if x == y:
        return x
    if isinstance(x, TupleType) and isinstance(y, TupleType) and len(x.elements) == len(y.elements):
        merged = [most_specific(a, b) for a, b in zip(x.elements, y.elements)]
        return None if None in merged else TupleType(tuple(t for t in merged if t is not None))
    tensors = TensorType, UnrankedTensorType
    if not isinstance(x, tensors) or not isinstance(y, tensors) or x.element_type != y.element_type:
        return None
    if isinstance(x, UnrankedTensorType) or isinstance(y, UnrankedTensorType):
        return y if isinstance(x, UnrankedTensorType) else x
    return _merged(x, y)


def _merged(x: TensorType, y: TensorType) -> TensorType | None:
    if x.rank != y.rank or x.bounds or y.bounds or x.encoding or y.encoding:
        return None
    if any(a is not None and b is not None and a != b for a, b in zip(x.shape, y.shape)):
        return None
    return tensor_type(tuple(b if a is None else a for a, b in zip(x.shape, y.shape)), x.element_type)


# --- by op ----------------------------------------------------------------------------------------------------------


def _inferred(op: Operation) -> Sequence[Type] | None:
    if op.name == "stablehlo.custom_call":
        return _of_custom_call(op)
    try:
        if (shapes := SHAPES.get(op.name)) is not None:
            return [_with_shape(*pair) for pair in zip(op.result_types, shapes(op), strict=True)]
        return _by_class(op)
    except (StablehloError, ValueError, IndexError, TypeError):  # the operands do not fit the op
        return None


def _with_shape(type: Type, shape: Shape | None) -> Type:
    if shape is None:
        return type
    if isinstance(type, UnrankedTensorType):
        return tensor_type(shape, type.element_type)
    return replace(type, shape=shape) if isinstance(type, TensorType) else type


def _by_class(op: Operation) -> Sequence[Type] | None:
    """Infer the types by the op's class, with what is known of shape operands; element types stay as declared."""
    definition = resolve(op)
    if definition is None or definition.dialect not in ("stablehlo", "chlo") or "infer" not in definition.roles:
        return None
    given = group_by_member(definition.operands, op.operands)
    shaping = {name: value for name in definition.traits.shape_operands if isinstance(value := given[name], Value)}
    known = {name: array for name, value in shaping.items() if (array := known_array(value)) is not None}
    bodies = [region.function_type for region in op.regions]
    bound = bind(definition, Site(op, known), op.operand_types, list(map(as_vector, op.result_types)), bodies)
    check_preconditions(bound)
    return [_with_element_type_of(d, i) for d, i in zip(op.result_types, bound.infer(), strict=True)]


def _with_element_type_of(declared: Type, inferred: Type) -> Type:
    if isinstance(declared, TensorType) and isinstance(inferred, TensorType):
        return tensor_type(inferred.shape, declared.element_type)
    return inferred


def _shape(value: Value) -> Shape | None:
    return value.type.shape if isinstance(value.type, TensorType) else None


def _of_operand(op: Operation) -> Shapes:
    return [_shape(op.operands[0])] * len(op.results)


def _bitcast_convert(op: Operation) -> Shapes:
    (operand,), (result,) = op.operand_types, op.result_types
    widths = [num_bits(getattr(type, "element_type", type)) for type in (operand, result)]
    return _of_operand(op) if widths[0] == widths[1] else [None]


def _all_gather(op: Operation) -> Shapes:
    axis, count = op.properties["all_gather_dim"], _group_size(op)
    return [_scaled(_shape(operand), axis, lambda n: n * count) if count else None for operand in op.operands]


def _reduce_scatter(op: Operation) -> Shapes:
    axis, count = op.properties["scatter_dimension"], _group_size(op)
    return [_scaled(_shape(operand), axis, lambda n: n // count) if count else None for operand in op.operands]


def _group_size(op: Operation) -> int:
    """Return the number of processes in each group; 0 if it depends on the grid."""
    if op.properties.get("channel_id", 0) > 0 and not op.properties.get("use_global_device_ids", False):
        return 0
    size = group_size(op.properties["replica_groups"], op)
    return size if isinstance(size, int) else 0


def _scaled(shape: Shape | None, axis: int, scale: Callable[[int], int]) -> Shape | None:
    if shape is None:
        return None
    return tuple(scale(n) if d == axis and n is not None else n for d, n in enumerate(shape))


def known_slice_sizes(op: Operation) -> tuple[int, ...] | None:
    """Return the sizes of a `real_dynamic_slice` whose limits are its starts plus constants, with strides of 1."""
    _, starts, limits, strides = op.operands
    steps = known_integers(strides)
    if steps is None or any(step != 1 for step in steps):
        return None
    adder = defined_by(limits, "add")
    if adder is None or starts not in adder.operands:
        return None
    sizes = known_integers(adder.operands[1 if adder.operands[0] is starts else 0])
    return None if sizes is None else tuple(sizes)


def _slice_or_sizes(op: Operation) -> Shapes:
    sizes = known_slice_sizes(op)
    if sizes is not None:
        return [sizes]
    inferred = _by_class(op)
    return [t.shape if isinstance(t, TensorType) else None for t in inferred or op.result_types]


SHAPES: Mapping[str, Callable[[Operation], Shapes]] = {
    "stablehlo.convert": _of_operand,
    "stablehlo.uniform_quantize": _of_operand,
    "stablehlo.map": _of_operand,
    "stablehlo.bitcast_convert": _bitcast_convert,
    "stablehlo.all_gather": _all_gather,
    "stablehlo.reduce_scatter": _reduce_scatter,
    "stablehlo.real_dynamic_slice": _slice_or_sizes,
}


# --- custom calls ---------------------------------------------------------------------------------------------------


def _of_custom_call(op: Operation) -> Sequence[Type] | None:
    """Return the types with the shapes that `indices_of_shape_operands` names; elements of tuples have shapes, too."""
    indices = shape_operand_indices(op)
    if indices is None:
        return None
    shapes = [known_integers(op.operands[index]) for index in indices]
    flat = [leaf for type in op.result_types for leaf in _leaves(type)]
    if None in shapes:
        return None
    refined = iter(
        [_compatible(op, i, t, shape) for i, (t, shape) in enumerate(zip(flat, shapes)) if shape is not None]
    )
    return [_rebuilt(type, refined) for type in op.result_types]


def _compatible(op: Operation, index: int, type: Type, shape: Sequence[int]) -> Type:
    refined = _with_shape(type, tuple(None if n < 0 else n for n in shape))
    if most_specific(type, refined) is None:
        reason = f"refinement #{index} ({list(shape)}) must be compatible with operation result #{index} ('{type}')"
        raise InvalidError(f"'{op.name}' op {reason}", op.location)
    return refined


def shape_operand_indices(op: Operation) -> tuple[int, ...] | None:
    """Return the numbers of the operands that are shapes of the results; None without `indices_of_shape_operands`.

    InvalidError if the attribute does not fit the op.
    """
    attribute = op.attributes.get("indices_of_shape_operands")
    if attribute is None:
        return None
    indices = _indices(attribute)
    results = sum(len(_leaves(type)) for type in op.result_types)
    if isinstance(indices, str):
        reason = indices
    elif len(indices) != results:
        reason = f"number of elements ({len(indices)}) must be equal to the number of operation results ({results})"
    elif wrong := [(i, n) for i, n in enumerate(indices) if not 0 <= n < len(op.operands)]:
        bounds = f"(from 0 to {len(op.operands)})"
        reason = f"index #{wrong[0][0]} ({wrong[0][1]}) must be within bounds for operation operands {bounds}"
    else:
        return indices
    raise InvalidError(f"'{op.name}' op indices_of_shape_operands: {reason}", op.location)


def _indices(attribute: object) -> tuple[int, ...] | str:
    """Return the integers of an attribute, or what is wrong with it."""
    match attribute:
        case DenseArray(values=values):
            return values
        case DenseElements(type=TensorType(element_type=element), array=array):
            if element != integer_type(64):
                return "must have i64 element type"
            return tuple(int(index) for index in array) if array.ndim == 1 else "must have rank = 1"
    return "must be a tensor of i64"


def _leaves(type: Type) -> list[Type]:
    return [leaf for e in type.elements for leaf in _leaves(e)] if isinstance(type, TupleType) else [type]


def _rebuilt(type: Type, leaves: Iterator[Type]) -> Type:
    if isinstance(type, TupleType):
        return TupleType(tuple(_rebuilt(element, leaves) for element in type.elements))
    return next(leaves)


# --- arguments of the entry function ----------------------------------------------------------------------------------


WRAPPER = "stablehlo.shape_refinement_operand_wrapper"
I64 = integer_type(64)


def parse_types(text: str) -> tuple[Type, ...]:
    """Parse `tensor<2xf32>,!stablehlo.token`; ValueError for anything that is not a list of types."""
    return tuple(_parse_type(part) for part in _split(text.removeprefix("{").removesuffix("}")))


def _parse_type(text: str) -> Type:
    try:
        attribute = parse_attribute(Source(text, "types"))
    except MalformedError:
        attribute = None
    if not isinstance(attribute, TypeAttribute) or isinstance(attribute.type, OpaqueType):
        raise ValueError(f"Invalid type string: {text}")
    return attribute.type


def _split(text: str) -> list[str]:
    """Split at commas outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "<({[") - (character in ">)}]")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


@transformation(
    "stablehlo-refine-arguments",
    "give the arguments of the entry function more specific types",
    PassOption("types", parse_types, "the types of all arguments: tensor<2xf32>,tensor<f32>"),
)
def refine_arguments(module: Operation, types: Sequence[Type] | None = None) -> None:
    """Change the types of the arguments of `main`, or of the only function, to `types`; without, change nothing.

    The body still sees values of the old types: custom calls of `stablehlo.shape_refinement_operand_wrapper`, which
    `--stablehlo-refine-shapes` removes. InvalidError unless the function is of one block, and each of `types` is a type
    that the argument may have.
    """
    if types is None:
        return
    function = refinement_target(module)
    refine_function_arguments(function, types)


def refinement_target(module: Operation) -> Operation:
    """Return the only function of a module, or `main`; InvalidError if there is none, or it is not of one block."""
    table = functions(module)
    function = next(iter(table.values())) if len(table) == 1 else table.get("main")
    if function is None:
        reason = "must have no more than one function or a `main` function to clearly identify which function will be"
        raise InvalidError(f"'{module.name}' op {reason} refined", module.location)
    check_single_block(function)
    return function


def check_single_block(function: Operation) -> None:
    """Raise InvalidError unless a function has a body of one block."""
    if len(function.regions[0].blocks) != 1:
        raise InvalidError(f"'{function.name}' op must have exactly one block", function.location)


def refine_function_arguments(function: Operation, types: Sequence[Type]) -> None:
    """Change the types of a function's arguments; its body sees the old types through wrappers."""
    block = function.regions[0].block
    check_refinements(function, [argument.type for argument in block.arguments], types)
    with Rewriter(function) as rewriter:
        emit = Emitter(rewriter, block.operations[0])
        for argument, type in zip(block.arguments, types):
            if argument.type == type:
                continue
            assert isinstance(type, TensorType)
            sizes = emit.constant(tensor_type((type.rank,), I64), [-(1 << 63) if n is None else n for n in type.shape])
            wrapped = emit.operation(
                "stablehlo.custom_call", (argument, sizes), [argument.type], call_target_name=WRAPPER
            )
            wrapped.attributes["indices_of_shape_operands"] = dense(tensor_type((1,), I64), 1)
            for user, index in rewriter.uses(argument):
                if user is not wrapped:
                    rewriter.set_operand(user, index, wrapped.results[0])
            argument.type = type
    set_function_type(function)


def set_function_type(function: Operation) -> None:
    """Let a function's type be that of its body."""
    body = function.regions[0].function_type
    function.properties = {**function.properties, "function_type": FunctionType(body.inputs, body.outputs)}


def check_refinements(function: Operation, types: Sequence[Type], refined: Sequence[Type]) -> None:
    """Raise InvalidError unless each of `refined` says no less than the type in its place, and nothing else."""
    if len(types) != len(refined):
        counts = f"{len(refined)} vs {len(types)}"
        message = f"number of refinements must match number of op operands {counts}"
        raise InvalidError(f"'{function.name}' op {message}", function.location)
    for index, (old, new) in enumerate(zip(types, refined)):
        if (reason := _flaw(old, new)) is not None:
            message = f"invalid refinement for argument {index}, refinement {reason} in {old} -> {new}"
            raise InvalidError(f"'{function.name}' op {message}", function.location)


def _flaw(old: Type, new: Type) -> str | None:
    """Return why `new` does not refine `old`."""
    if old == new:
        return None
    tensors = TensorType, UnrankedTensorType
    if not isinstance(old, tensors) or not isinstance(new, tensors):
        return "must be a tensor"
    if old.element_type != new.element_type:
        return "element types must match"
    if isinstance(new, UnrankedTensorType):
        return "must be ranked"
    if isinstance(old, UnrankedTensorType):
        return None
    if old.rank != new.rank:
        return "rank must match operand rank"
    if any(n is not None and n != m for n, m in zip(old.shape, new.shape)):
        return "dimension sizes must match for static dimensions"
    return None
