"""Ops whose meaning lies outside of StableHLO: custom_call, by handlers in Python, and composite, by decomposition."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, Bodies, Ins, Op, Outs
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError, Location, StablehloError, UnsupportedError
from stablehlo_ref.ir.attributes import DenseArray, DenseElements, FloatAttribute, IntegerAttribute, SymbolReference
from stablehlo_ref.ir.types import BufferType, TensorType, TupleType, Type
from stablehlo_ref.kinds import Dictionary, Flag, Int32, ListOf, Opaque, String, Struct, Symbol, anything
from stablehlo_ref.numerics.agreement import almost_equal, close, equal, report
from stablehlo_ref.numerics.dtypes import kind, mantissa_bits, numpy_dtype, part_dtype
from stablehlo_ref.ops.buffers import TARGETS, check_aliases, check_buffers
from stablehlo_ref.ops.control_flow import call
from stablehlo_ref.spec import compatible, make_tensor_type


@dataclass(frozen=True)
class CustomCall:
    """What a handler of a custom_call learns about the call, besides its operands.

    `backend_config` is a string, or a dictionary of Python values for calls with a typed one. `attributes` are those
    of the op that are not StableHLO's own. `computations` are functions of arrays that return a list of arrays.
    """

    target: str
    operand_types: tuple[Type, ...]
    result_types: tuple[Type, ...]
    backend_config: Any = ""
    api_version: int = 1
    location: Location | None = None
    failures: list[Diagnostic] = field(default_factory=list)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    computations: tuple[Callable[..., list[Any]], ...] = ()


Handler = Callable[..., Sequence[Any]]
_handlers: dict[str, Handler] = {}


def register_custom_call(target: str, handler: Handler) -> None:
    """Makes `handler(call, *operands)` what custom_calls of `target` do.

    It gets a `CustomCall` and an array for each operand, which it must not write to, and returns a sequence with an
    array for each result, of the dtypes and shapes of `call.result_types` (the elements of a tuple, if that is the only
    result). What it raises ends the run at the call's place. A later registration for the same target replaces an
    earlier one.
    """
    _handlers[target] = handler


for _target, _handler in TARGETS.items():
    register_custom_call(_target, _handler)


class CustomCallOp(Op, op="custom_call"):
    """Calls the handler that is registered for `call_target_name`."""

    effects = True
    on_storage = True

    inputs = Ins(anything)  # I1
    call_target_name = Attr(String)  # I2
    has_side_effect = Attr(Flag, default=False)  # I3
    backend_config = Attr(Opaque, default="")  # I4
    api_version = Attr(Int32, default=1)  # I5
    called_computations = Attr(ListOf(Symbol), default=())  # I6
    operand_layouts = Attr(Opaque, default=None)
    result_layouts = Attr(Opaque, default=None)
    output_operand_aliases = Attr(ListOf(Struct("stablehlo.output_operand_alias")), default=())  # I7
    ffi_config = Attr(Opaque, default=None, name="mhlo.backend_config")
    results = Outs(anything)

    syntax = "custom(call_target) ( operands ) attr-dict : functional_type"

    @staticmethod
    def constraints(C: Any, inputs: Any, call_target_name: str, output_operand_aliases: Any, results: Any) -> None:
        check_buffers(C, call_target_name, inputs, results)
        check_aliases(C, call_target_name, inputs, results, output_operand_aliases)

    @staticmethod
    def plan(
        inputs: Any, call_target_name: str, backend_config: Any, ffi_config: Any, api_version: int,
        called_computations: tuple[str, ...], results: Any, location: Location, attributes: Any, functions: Any,
    ) -> Any:  # fmt: skip
        config = plain(backend_config if ffi_config is None else ffi_config)
        in_a_tuple = len(results) == 1 and isinstance(results[0], TupleType)
        types = results[0].elements if in_a_tuple else results
        known = CustomCall(call_target_name, inputs, types, config, api_version, location, [], plain(attributes))
        sizes = known.attributes.get("indices_of_shape_operands", ())

        def run(context: Any, inputs: Sequence[Any]) -> Any:
            handler = context.custom_calls.get(call_target_name) or _handlers.get(call_target_name)
            if handler is None:
                raise UnsupportedError(f"no handler is registered for custom_call @{call_target_name}")
            computations = tuple(callable_in(context, functions, name) for name in called_computations)
            call = replace(known, failures=context.failures, computations=computations)
            call, inputs = with_known_shapes(call, inputs, sizes)
            what = f"the handler of custom_call @{call_target_name}"
            values = outside(what, call.result_types, handler, call, *inputs)
            return tuple(values) if in_a_tuple else values[0] if len(results) == 1 else values

        return run


def plain(attribute: Any) -> Any:
    """An attribute as Python values: numbers, tuples, names of symbols, dictionaries; others as they are."""
    match attribute:
        case IntegerAttribute(value=value) | FloatAttribute(value=value):
            return value
        case DenseArray(values=values):
            return values
        case DenseElements(array=array):
            return array.tolist()
        case SymbolReference(path=path):
            return "::".join(path)
        case tuple():
            return tuple(map(plain, attribute))
        case dict():
            return {name: plain(value) for name, value in attribute.items()}
    return attribute


def callable_in(context: Any, functions: Any, name: str) -> Callable[..., list[Any]]:
    """The program's function of that name as one of arrays; it is planned when it is called first."""
    return lambda *arrays: functions(name).call(context, list(arrays))


def with_known_shapes(
    call: CustomCall, inputs: Sequence[Any], indices: Sequence[int]
) -> tuple[CustomCall, Sequence[Any]]:
    """Takes the operands that hold the results' shapes out of a call and puts their values into the results' types."""
    if not indices:
        return call, inputs
    shapes = [inputs[index].tolist() for index in indices]
    types = tuple(make_tensor_type(s, t.element_type) for s, t in zip(shapes, call.result_types))  # type: ignore[attr-defined]
    kept = [index for index in range(len(inputs)) if index not in indices]
    operand_types = tuple(call.operand_types[index] for index in kept)
    return replace(call, operand_types=operand_types, result_types=types), [inputs[index] for index in kept]


def outside(what: str, types: Sequence[Type], function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What a function from outside gives for results of these types; EvaluationError where it fails or gives others."""
    try:
        values = function(*arguments, **named)
    except StablehloError:
        raise
    except Exception as error:
        raise EvaluationError(f"{what} raised {type(error).__name__}: {error}") from error
    check_results(what, types, values)
    return values


def check_results(what: str, types: Sequence[Type], values: Any) -> None:
    """Values that came from outside must be what the op's types promise; EvaluationError if not."""
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str):
        raise EvaluationError(f"{what} returned {values!r}, not a sequence of results")
    if len(values) != len(types):
        raise EvaluationError(f"{what} returned {len(values)} results, not {len(types)}")
    for type, value in zip(types, values):
        if isinstance(type, TupleType):
            check_results(what, type.elements, value)
        elif isinstance(type, TensorType | BufferType):
            found, dtype = np.asarray(value), numpy_dtype(type.element_type)
            if found.dtype != dtype or not compatible(make_tensor_type(found.shape, type.element_type), declared(type)):
                raise EvaluationError(f"{what} returned {found.dtype} {found.shape} for a result {type}")


def declared(type: TensorType | BufferType) -> TensorType:
    return make_tensor_type(type.shape, type.element_type)  # type: ignore[arg-type]


# --- composite ------------------------------------------------------------------------------------------------------

TOLERANCE = 1e-4  # or four units in the last place of numbers near 1, where that is more


class Composite(Op, op="composite"):
    """Does what the function `decomposition` does, or what the run has in its place for `composite_name`."""

    inputs = Ins(anything)  # I1
    composite_name = Attr(String, name="name")  # I2
    composite_attributes = Attr(Dictionary, default=MappingProxyType({}))  # I3
    decomposition = Attr(Symbol)  # I4
    version = Attr(Int32, default=0)  # I5
    composite_regions = Bodies()  # I6
    results = Outs(anything)

    syntax = "custom(composite_name) operands ( ( $composite_regions ) )? attr-dict : functional_type"

    @staticmethod
    def constraints(C: Any, symbols: Any, inputs: Any, composite_name: str, decomposition: str, results: Any) -> None:
        C(1, is_namespaced_op_name(composite_name))
        C(2, is_defined_in_parent_scope(decomposition, symbols))
        declared = symbols(decomposition).properties.get("function_type")
        C(3, inputs == declared.inputs)
        C(4, results == declared.outputs)

    @staticmethod
    def inline(
        inputs: tuple[int, ...], composite_name: str, composite_attributes: Any, decomposition: str,
        results: tuple[int, ...], functions: Any, dying: Any, symbols: Any,
    ) -> Any:  # fmt: skip
        decompose = call(inputs, decomposition, results, functions, dying)
        attributes = plain(dict(composite_attributes))
        types = symbols(decomposition).properties["function_type"].outputs

        def go(slots: list[Any]) -> Iterator[Any]:
            override = slots[0].overrides.get(composite_name)
            if override is None:
                yield from decompose(slots)
                return
            what, operands = f"the override of composite {composite_name!r}", [slots[slot] for slot in inputs]
            values = outside(what, types, as_sequence(override), *operands, **attributes)
            if slots[0].check_overrides:
                yield from decompose(slots)
                compare(composite_name, values, [slots[slot] for slot in results])
            for slot, value in zip(results, values, strict=True):
                slots[slot] = value
            for slot in dying:
                slots[slot] = None

        return go


def is_namespaced_op_name(name: str) -> bool:
    return bool(re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+", name))


def is_defined_in_parent_scope(name: str, symbols: Any) -> bool:
    function = symbols(name)
    return function is not None and function.name == "func.func"


def as_sequence(function: Callable[..., Any]) -> Callable[..., Sequence[Any]]:
    """A function that may return its only result by itself, as one that does not."""

    def called(*arguments: Any, **named: Any) -> Sequence[Any]:
        values = function(*arguments, **named)
        return values if isinstance(values, tuple | list) else (values,)

    return called


def compare(name: str, values: Sequence[Any], expected: Sequence[Any]) -> None:
    """EvaluationError unless what an override returned agrees with what the decomposition gives; None is not used."""
    for index, (value, wanted) in enumerate(zip(values, expected, strict=True)):
        if wanted is None:
            continue
        value, wanted = np.asarray(value), np.asarray(wanted)
        agreement = _equal_or_almost(value, wanted, tolerance(wanted.dtype))
        if not agreement.all():
            message, notes = report(value, wanted, agreement)
            message = f"the override of composite {name!r} and its decomposition disagree on result #{index}: {message}"
            raise EvaluationError([Diagnostic(message, None, notes=tuple(notes))])


def tolerance(dtype: np.dtype[Any]) -> float:
    """How far apart numbers of a dtype may be that should agree."""
    if kind(dtype) not in ("floating", "complex"):
        return 0.0
    return max(TOLERANCE, 4 * 2.0 ** -mantissa_bits(part_dtype(dtype) if kind(dtype) == "complex" else dtype))


# --- the targets that upstream's tests check with -------------------------------------------------------------------


def _check(agree: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Handler:
    def handler(call: CustomCall, *operands: Any) -> Sequence[Any]:
        arrays = list(map(np.asarray, operands))
        if len(arrays) != 2 or arrays[0].dtype != arrays[1].dtype or arrays[0].shape != arrays[1].shape:
            types = ", ".join(map(str, call.operand_types))
            raise EvaluationError(f"@{call.target} compares two values of one type, not ({types})")
        actual, expected = arrays
        agreement = agree(actual, expected)
        if not agreement.all():
            message, notes = report(actual, expected, agreement)
            call.failures.append(Diagnostic(f"@{call.target} failed: {message}", call.location, notes=tuple(notes)))
        return [agreement.all()] if call.result_types else ()

    return handler


def _equal_or_almost(actual: np.ndarray, expected: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
    is_number = kind(actual.dtype) in ("floating", "complex")
    return almost_equal(actual, expected, tolerance) if is_number else equal(actual, expected)


register_custom_call("check.eq", _check(_equal_or_almost))
register_custom_call("check.expect_eq", _check(equal))
register_custom_call("check.expect_almost_eq", _check(lambda x, y: almost_equal(x, y, 1e-3)))
register_custom_call("check.expect_close", _check(lambda x, y: close(x, y, 0, 3)))
