"""Give the arguments of the entry function more specific types."""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.diagnostics import InvalidError, MalformedError, Source
from stablehlo_ref.ir.attributes import DenseElements, TypeAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import (
    FunctionType,
    OpaqueType,
    TensorType,
    Type,
    UnrankedTensorType,
    integer_type,
    tensor_type,
)
from stablehlo_ref.passes.call_graph import functions
from stablehlo_ref.passes.emit import Emitter, dense
from stablehlo_ref.passes.registry import Pass, PassOption
from stablehlo_ref.syntax.parser import parse_attribute

WRAPPER = "stablehlo.shape_refinement_operand_wrapper"
I64 = integer_type(64)


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
            wrapped.attributes["indices_of_shape_operands"] = _one()
            for user, index in rewriter.uses(argument):
                if user is not wrapped:
                    rewriter.set_operand(user, index, wrapped.results[0])
            argument.type = type
    set_function_type(function)


def _one() -> DenseElements:
    return dense(tensor_type((1,), I64), 1)


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


# --- options --------------------------------------------------------------------------------------------------------


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


PASS = Pass(
    "stablehlo-refine-arguments",
    "give the arguments of the entry function more specific types",
    refine_arguments,
    (PassOption("types", parse_types, "the types of all arguments: tensor<2xf32>,tensor<f32>"),),
)
