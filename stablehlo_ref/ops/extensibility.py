"""Ops whose meaning lies outside of StableHLO: custom_call, by handlers in Python, and composite, by decomposition."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from stablehlo_ref.define import Attr, Bodies, Ins, Op, Outs
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError, Location, UnsupportedError
from stablehlo_ref.ir.attributes import DenseArray, DenseElements, FloatAttribute, IntegerAttribute, SymbolReference
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TupleType, Type
from stablehlo_ref.kinds import (
    Dictionary,
    Flag,
    Int32,
    ListOf,
    Opaque,
    String,
    Struct,
    Symbol,
    anything,
    integer_vector,
)
from stablehlo_ref.numerics.agreement import almost_equal, close, equal, report
from stablehlo_ref.numerics.dtypes import kind, mantissa_bits, part_dtype
from stablehlo_ref.ops.buffers import TARGETS, check_aliases, check_buffers
from stablehlo_ref.ops.control_flow import call
from stablehlo_ref.ops.outside import as_results, call_outside, read_only
from stablehlo_ref.spec import make_tensor_type


@dataclass(frozen=True)
class Computation:
    """A function of the program, which handlers of custom_calls may call; it is planned when it is called first."""

    name: str
    _context: Any = field(repr=False)
    _functions: Callable[[str], Any] = field(repr=False)
    _symbols: Callable[[str], Any] = field(repr=False)

    def __call__(self, *arrays: Any) -> list[Any]:
        """The function's results for arrays of its inputs' types. EvaluationError for others."""
        plan = self._plan()
        types = self._symbols(self.name).properties["function_type"].inputs
        return plan.call(self._context, list(as_results(f"@{self.name} is called with", types, arrays)))  # type: ignore[no-any-return]

    def each(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """The function, one of scalars, on every tuple of elements of arrays, which are of one shape."""
        plan, shape = self._plan(), arrays[0].shape
        if all(op.definition.elementwise and not op.regions for op in plan.block.ops):
            return [np.broadcast_to(x, shape) for x in plan.call(self._context, list(arrays))]
        rows = [plan.call(self._context, list(row)) for row in zip(*[x.reshape(-1) for x in arrays])]
        return [np.array(column).reshape(shape) for column in zip(*rows)]

    def _plan(self) -> Any:
        plan = self._functions(self.name)
        if plan.block.communicates:
            reason = "communicates with other processes, which a computation of a custom_call can't"
            raise UnsupportedError(f"@{self.name} {reason}")
        return plan


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
    computations: tuple[Computation, ...] = ()


Handler = Callable[..., Sequence[Any]]
_handlers: dict[str, Handler] = {}


def register_custom_call(target: str, handler: Handler) -> None:
    """Makes `handler(call, *operands)` what custom_calls of `target` do.

    It gets a `CustomCall` and a read-only array for each operand, and returns a sequence with an array for each result,
    of the dtypes and shapes of `call.result_types` (the elements of a tuple, if that is the only result); those that it
    could still write to are copied. What it raises ends the run at the call's place. A later registration for the same
    target replaces an earlier one.
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

    targets: ClassVar[dict[str, type[Op]]] = {}  # those that are classes of their own, as they meet other processes

    def __init_subclass__(cls, target: str, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.parameters = cls.parameters | {"plan": cls._parameters("plan")}
        cls.targets[target] = cls

    @classmethod
    def of(cls, op: Operation) -> type[Op]:
        return cls.targets.get(op.properties.get("call_target_name", ""), cls)

    @staticmethod
    def constraints(C: Any, inputs: Any, call_target_name: str, output_operand_aliases: Any, results: Any) -> None:
        check_buffers(C, call_target_name, inputs, results)
        check_aliases(C, call_target_name, inputs, results, output_operand_aliases)

    @staticmethod
    def plan(
        inputs: Any, call_target_name: str, backend_config: Any, ffi_config: Any, api_version: int,
        called_computations: tuple[str, ...], results: Any, location: Location, attributes: Any, functions: Any,
        symbols: Any,
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
            computations = tuple(Computation(name, context, functions, symbols) for name in called_computations)
            call = replace(known, failures=context.failures, computations=computations)
            call, inputs = with_known_shapes(call, inputs, sizes)
            what = f"the handler of custom_call @{call_target_name}"
            values = call_outside(what, call.result_types, lambda: handler(call, *map(read_only, inputs)))
            return values[0] if len(results) == 1 and not in_a_tuple else values

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


def with_known_shapes(
    call: CustomCall, inputs: Sequence[Any], indices: Sequence[int]
) -> tuple[CustomCall, Sequence[Any]]:
    """Takes the operands that hold the results' shapes out of a call and puts their values into the results' types."""
    if not indices:
        return call, inputs
    if not are_of_shapes(indices, call.operand_types):
        raise EvaluationError(f"indices_of_shape_operands = {indices}: not all are of operands that are shapes")
    shapes = [inputs[index].tolist() for index in indices]
    types = tuple(make_tensor_type(s, t.element_type) for s, t in zip(shapes, call.result_types))  # type: ignore[attr-defined]
    kept = [index for index in range(len(inputs)) if index not in indices]
    operand_types = tuple(call.operand_types[index] for index in kept)
    return replace(call, operand_types=operand_types, result_types=types), [inputs[index] for index in kept]


def are_of_shapes(indices: Any, operand_types: Sequence[Type]) -> bool:
    """Whether a list has the numbers of operands that are vectors of integers."""
    shapes = [i for i, t in enumerate(operand_types) if integer_vector.holds(t)]
    return isinstance(indices, list | tuple) and all(index in shapes for index in indices)


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
            operands = [read_only(slots[slot]) for slot in inputs]
            what = f"the override of composite {composite_name!r}"
            values = call_outside(what, types, lambda: as_sequence(override(*operands, **attributes)))
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


def as_sequence(values: Any) -> Sequence[Any]:
    """What a function returned that may return its only result by itself."""
    return values if isinstance(values, tuple | list) else (values,)


def compare(name: str, values: Sequence[Any], expected: Sequence[Any]) -> None:
    """EvaluationError unless what an override returned agrees with what the decomposition gives; None is not used."""
    for index, (value, wanted) in enumerate(zip(values, expected, strict=True)):
        difference = None if wanted is None else disagreement(np.asarray(value), np.asarray(wanted))
        if difference is not None:
            message, notes = difference
            message = f"the override of composite {name!r} and its decomposition disagree on result #{index}: {message}"
            raise EvaluationError(message, notes=notes)


def disagreement(value: np.ndarray, wanted: np.ndarray) -> tuple[str, list[str]] | None:
    """In what two arrays differ, as a message and notes, or None."""
    if value.shape != wanted.shape:
        return f"shape {value.shape}, not {wanted.shape}", []
    agreement = _equal_or_almost(value, wanted, tolerance(wanted.dtype))
    return None if agreement.all() else report(value, wanted, agreement)


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
