"""Ops that extend StableHLO: custom_call, evaluated by handlers in Python, and composite, by its decomposition."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.host_values import as_results, callback_results, read_only
from stablehlo_ref.arrays.results import almost_equal, close, equal, report
from stablehlo_ref.define.attribute_codecs import (
    Dictionary,
    Extents,
    Flag,
    Int32,
    ListCodec,
    Opaque,
    String,
    StructCodec,
    Symbol,
    Symbols,
)
from stablehlo_ref.define.bound import ControlFlowSite, PlanSite, Site
from stablehlo_ref.define.computation import Callee, ControlFlow, Run, Slots, Turns
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.facts import CALLS, OPEN
from stablehlo_ref.define.op import Attr, Bodies, Ins, Op, Outs
from stablehlo_ref.define.plugins import PluginError, find_handler
from stablehlo_ref.define.spec import element_type, make_tensor_type
from stablehlo_ref.define.type_constraints import any_value, integer_vector, unranked_tensor
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError, Location, UnsupportedError
from stablehlo_ref.ir.arrays import Array, DType, RuntimeValue
from stablehlo_ref.ir.attributes import (
    Attribute,
    DenseArray,
    DenseElements,
    FloatAttribute,
    IntegerAttribute,
    StructAttribute,
    SymbolReference,
)
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import FunctionType, TupleType, Type
from stablehlo_ref.numerics.dtypes import kind, mantissa_bits, part_dtype
from stablehlo_ref.numerics.nans import canonical_nans, has_several_nans
from stablehlo_ref.ops.control_flow import call, type_of_function
from stablehlo_ref.ops.reduction import Results
from stablehlo_ref.suggestions import did_you_mean
from stablehlo_ref.targets.buffers import TARGETS, check_aliases, check_buffers

FindSymbol: TypeAlias = Callable[[str], Operation | None]


@dataclass(frozen=True)
class Computation:
    """A function of the program that a handler of a custom_call may call; it is planned at its first call."""

    name: str
    _context: Context = field(repr=False)
    _functions: Callable[[str], Callee] = field(repr=False)
    _symbols: FindSymbol = field(repr=False)

    def __call__(self, *arrays: RuntimeValue) -> list[RuntimeValue]:
        """Call the function with values of its input types; EvaluationError for any others."""
        plan = self._plan()
        types = declared_type(self.name, self._symbols).inputs
        return plan.call(self._context, list(as_results(f"@{self.name} is called with", types, arrays)))

    def each(self, *arrays: Array) -> list[Array]:
        """Call the function, one of scalars, for every tuple of elements of arrays of one shape.

        EvaluationError if the function has other parameters.
        """
        plan, shape = self._plan(), arrays[0].shape
        types = declared_type(self.name, self._symbols).inputs
        as_results(f"@{self.name} is called with", types, [np.zeros((), x.dtype)[()] for x in arrays])
        if all(REGISTRY[op.name].traits.elementwise and not op.regions for op in plan.block.ops):
            return [np.broadcast_to(x, shape) for x in plan.call(self._context, list(arrays))]
        rows = [plan.call(self._context, list(row)) for row in zip(*[x.reshape(-1) for x in arrays])]
        return [np.array(column).reshape(shape) for column in zip(*rows)]

    def _plan(self) -> Callee:
        plan = self._functions(self.name)
        if plan.block.communicates:
            reason = "communicates with other processes, which is not supported in computations of a custom_call"
            raise UnsupportedError(f"@{self.name} {reason}")
        return plan


def declared_type(name: str, symbols: FindSymbol) -> FunctionType:
    """Return the type of the function `@name`; LookupError if there is no such function."""
    if (declared := type_of_function(symbols(name))) is None:
        raise LookupError(f"unknown function @{name}")
    return declared


@dataclass(frozen=True)
class CustomCall:
    """What the handler of a custom_call receives besides the operands.

    `backend_config` is a string, or a dictionary of Python values if the program has a typed one. `attributes` are the
    discardable attributes of the op. `computations` are functions of arrays that return a list of arrays. A handler
    that checks values reports failed checks in `failures`.
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
    exact_lapack: bool = False  # an option of the run: linear algebra in f64 instead of the program's precision
    reproducible: bool = False  # an option of the run: results must be the same on every machine


Handler: TypeAlias = Callable[..., Sequence[Any]]


@dataclass(frozen=True)
class PureHandler:
    """A handler that neither writes to its operands nor returns them, and so needs no read-only views of them."""

    run: Handler

    def __call__(self, call: CustomCall, *operands: Any) -> Sequence[Any]:
        return self.run(call, *operands)


_handlers: dict[str, Handler] = {}
OPEN_TARGETS: set[str] = set()  # whose results are not unique: random numbers, or eigenvectors, which have any sign


@checks_arguments
def register_custom_call(target: str, handler: Handler) -> None:
    """Register `handler(call, *operands)` as the implementation of custom_calls of `target`.

    The handler gets a `CustomCall` and a read-only array for each operand. It returns a sequence with one array for
    each result, with the dtypes and shapes of `call.result_types` (the elements of a tuple, if that is the only
    result); arrays that it could still write to are copied. An exception that it raises ends the run with an
    EvaluationError at the location of the call. A later registration for the same target replaces an earlier one.
    """
    _handlers[target] = handler


def handler_of(target: str) -> Handler:
    """Return the handler that is registered for a target or that an installed package ships; else UnsupportedError."""
    try:
        handler = _handlers.get(target) or find_handler(target)
    except PluginError as error:
        raise UnsupportedError(str(error)) from error
    if handler is None:
        hint = did_you_mean(target, _handlers, "@")
        raise UnsupportedError(f"no handler is registered for custom_call @{target}{hint}")
    return handler


for _target, _handler in TARGETS.items():
    register_custom_call(_target, _handler)


OutputOperandAliases: TypeAlias = Annotated[
    tuple[StructAttribute, ...], ListCodec(Annotated[StructAttribute, StructCodec("stablehlo.output_operand_alias")])
]


Layouts: TypeAlias = Annotated[tuple[tuple[int, ...], ...], ListCodec(Extents)]
TYPED_FFI = 4  # the api_version whose backend_config is a dictionary, and not a string
CONFIGS: Mapping[int, type] = {TYPED_FFI: dict}


def are_layouts_of(layouts: Layouts, types: Sequence[Type]) -> bool:
    """Return whether there is for each type a permutation of its dimensions; none for a token."""
    return len(layouts) == len(types) and all(
        not isinstance(t, TupleType) and sorted(layout) == list(range(len(getattr(t, "shape", ()))))
        for layout, t in zip(layouts, types)
    )


def leaves(results: Sequence[Type]) -> Sequence[Type]:
    """Return the elements of the tuple that is the only result, or the results."""
    return results[0].elements if len(results) == 1 and isinstance(results[0], TupleType) else results


class CustomCallOp(Op, op="custom_call", effects=True, computes_on_storage=True, row_major=True, facts=OPEN):
    """Call the handler registered for `call_target_name`."""

    inputs = Ins(any_value | unranked_tensor)  # I1
    call_target_name = Attr(String)  # I2
    has_side_effect = Attr(Flag, default=False)  # I3
    backend_config = Attr(Opaque, default="")  # I4
    api_version = Attr(Int32, default=1)  # I5
    called_computations = Attr(Symbols, default=())  # I6
    operand_layouts = Attr(Layouts, default=None)
    result_layouts = Attr(Layouts, default=None)
    output_operand_aliases = Attr(OutputOperandAliases, default=())  # I7
    ffi_config = Attr(Opaque, default=None, name="mhlo.backend_config")
    results = Outs(any_value | unranked_tensor)

    syntax = "symbol($call_target_name) ( operands ) attr-dict : functional_type"

    targets: ClassVar[dict[str, OpDefinition]] = {}  # targets that communicate, which are subclasses

    def __init_subclass__(cls, target: str, **traits: Any) -> None:
        super().__init_subclass__(**traits)
        cls.targets[target] = cls.definition

    @classmethod
    def variant(cls, op: Operation) -> OpDefinition:
        """Return the definition of a target that communicates; other targets have handlers."""
        return cls.targets.get(op.properties.get("call_target_name", ""), cls.definition)

    @staticmethod
    def constraints(
        C: Checker,
        inputs: Sequence[Type],
        call_target_name: String,
        backend_config: Opaque,
        api_version: Int32,
        operand_layouts: Layouts | None,
        result_layouts: Layouts | None,
        output_operand_aliases: OutputOperandAliases,
        results: Sequence[Type],
    ) -> None:
        C("api_version", 0 <= api_version <= TYPED_FFI)
        C("backend_config", backend_config == "" or isinstance(backend_config, CONFIGS.get(api_version, str)))
        C("layouts", (operand_layouts is None) == (result_layouts is None))
        if operand_layouts is not None and result_layouts is not None:
            C("layouts", are_layouts_of(operand_layouts, inputs) and are_layouts_of(result_layouts, leaves(results)))
        check_buffers(C, call_target_name, inputs, results)
        check_aliases(C, call_target_name, inputs, results, output_operand_aliases)

    @staticmethod
    def plan(
        site: PlanSite,
        inputs: Sequence[Type],
        call_target_name: String,
        backend_config: Opaque,
        ffi_config: Opaque | None,
        api_version: Int32,
        called_computations: Symbols,
        results: Sequence[Type],
    ) -> Run:
        config = plain(backend_config if ffi_config is None else ffi_config)
        types = tuple(leaves(results))
        is_tuple = len(results) == 1 and isinstance(results[0], TupleType)
        attributes = {name: plain(attribute) for name, attribute in site.attributes.items()}
        known = call_target_name, tuple(inputs), types, config, api_version, site.location
        shape_indices = attributes.get("indices_of_shape_operands", ())

        def run(context: Context, inputs: Sequence[RuntimeValue]) -> Results:
            handler = context.custom_calls.get(call_target_name) or handler_of(call_target_name)
            computations = tuple(Computation(name, context, site.function, site.symbol) for name in called_computations)
            call = CustomCall(
                *known, context.failures, attributes, computations, context.exact_lapack, context.reproducible
            )
            call, inputs = with_known_shapes(call, inputs, shape_indices)
            what = f"the handler of custom_call @{call_target_name}"
            operands = inputs if isinstance(handler, PureHandler) else map(read_only, inputs)
            values = callback_results(what, call.result_types, lambda: handler(call, *operands))
            return values[0] if len(results) == 1 and not is_tuple else values

        return run


def plain(attribute: Attribute) -> Any:
    """Return an attribute as a Python value: a number, tuple, symbol name or dictionary; any other as it is."""
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
    call: CustomCall, inputs: Sequence[RuntimeValue], indices: Sequence[int]
) -> tuple[CustomCall, Sequence[RuntimeValue]]:
    """Remove the operands number `indices`, the shapes of the results, and put their values into the result types."""
    if not indices:
        return call, inputs
    if not are_of_shapes(indices, call.operand_types):
        message = "expected the indices of operands that are 1-dimensional tensors of integers"
        raise EvaluationError(f"indices_of_shape_operands: {message}, got {indices}")
    shapes = [np.asarray(inputs[index]).tolist() for index in indices]
    types = tuple(make_tensor_type(s, element_type(t)) for s, t in zip(shapes, call.result_types))
    kept = [index for index in range(len(inputs)) if index not in indices]
    operand_types = tuple(call.operand_types[index] for index in kept)
    return replace(call, operand_types=operand_types, result_types=types), [inputs[index] for index in kept]


def are_of_shapes(indices: object, operand_types: Sequence[Type]) -> bool:
    """Return whether `indices` is a list of indices of operands that are 1-dimensional tensors of integers."""
    shapes = [i for i, t in enumerate(operand_types) if integer_vector.holds(t)]
    return isinstance(indices, list | tuple) and all(index in shapes for index in indices)


# --- composite ------------------------------------------------------------------------------------------------------

TOLERANCE = 1e-4  # or four ULP of numbers near 1, if that is more


class Composite(Op, op="composite", releases_operands=True, facts=CALLS):
    """Call the function `decomposition`, or the function that overrides composites called `name` in this run."""

    inputs = Ins(any_value)  # I1
    name = Attr(String)  # I2
    composite_attributes = Attr(Dictionary, default=MappingProxyType({}))  # I3
    decomposition = Attr(Symbol)  # I4
    version = Attr(Int32, default=0)  # I5
    regions = Bodies()  # I6
    results = Outs(any_value)

    syntax = "$name operands ( ( $regions ) )? attr-dict : functional_type"

    @staticmethod
    def constraints(
        C: Checker, site: Site, inputs: Sequence[Type], name: String, decomposition: Symbol, results: Sequence[Type]
    ) -> None:
        C(1, is_namespaced_op_name(name))
        C(2, is_defined_in_parent_scope(decomposition, site.symbol))
        declared = declared_type(decomposition, site.symbol)
        C(3, inputs == declared.inputs)
        C(4, results == declared.outputs)

    @staticmethod
    def plan_control_flow(
        site: ControlFlowSite,
        inputs: tuple[int, ...],
        name: String,
        composite_attributes: Dictionary,
        decomposition: Symbol,
        results: tuple[int, ...],
    ) -> ControlFlow:
        decompose = call(inputs, decomposition, results, site.function, site.dying)
        attributes = plain(dict(composite_attributes))
        types = declared_type(decomposition, site.symbol).outputs

        def go(slots: Slots) -> Turns:
            override = slots[0].overrides.get(name)
            if override is None:
                yield from decompose(slots)
                return
            operands = [read_only(slots[slot]) for slot in inputs]
            what = f"the override of composite {name!r}"
            values = callback_results(what, types, lambda: as_sequence(override(*operands, **attributes)))
            if slots[0].check_overrides:
                yield from decompose(slots)
                compare(name, values, [slots[slot] for slot in results])
            for slot, value in zip(results, values, strict=True):
                slots[slot] = with_canonical_nans(value)
            for slot in site.dying:
                slots[slot] = None

        return go


def is_namespaced_op_name(name: str) -> bool:
    """Return whether a name is that of an op with its dialect (spec, "composite")."""
    return bool(re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+", name))


def is_defined_in_parent_scope(name: str, symbols: FindSymbol) -> bool:
    """Return whether `@name` is a function that the op can refer to."""
    function = symbols(name)
    return function is not None and function.name == "func.func"


def as_sequence(values: object) -> Sequence[Any]:
    """Return the values that a function returned, which may return a single result by itself."""
    return values if isinstance(values, tuple | list) else (values,)


def with_canonical_nans(value: RuntimeValue) -> RuntimeValue:
    """Return a value of an override with canonical NaNs in arrays, as ops that compute have them."""
    if isinstance(value, tuple):
        return tuple(map(with_canonical_nans, value))
    if isinstance(value, np.ndarray | np.generic) and has_several_nans(value.dtype):
        return canonical_nans(value.dtype)(value)
    return value


def compare(name: str, values: Sequence[RuntimeValue], expected: Sequence[RuntimeValue]) -> None:
    """Compare the values of an override with those of the decomposition; EvaluationError if they disagree.

    Expected values that are None, of unused results, are skipped.
    """
    for index, (value, wanted) in enumerate(zip(values, expected, strict=True)):
        difference = None if wanted is None else disagreement(np.asarray(value), np.asarray(wanted))
        if difference is not None:
            message, notes = difference
            message = f"the override of composite {name!r} and its decomposition disagree on result #{index}: {message}"
            raise EvaluationError(message, notes=notes)


def disagreement(value: Array, wanted: Array) -> tuple[str, list[str]] | None:
    """Return the difference of two arrays as a message and notes, None if they agree."""
    if value.shape != wanted.shape:
        return f"expected shape {wanted.shape}, got {value.shape}", []
    agreement = _equal_or_almost(value, wanted, tolerance(wanted.dtype))
    return None if agreement.all() else report(value, wanted, agreement)


def tolerance(dtype: DType) -> float:
    """Return the difference up to which numbers of a dtype agree."""
    if kind(dtype) not in ("floating", "complex"):
        return 0.0
    return max(TOLERANCE, 4 * 2.0 ** -mantissa_bits(part_dtype(dtype) if kind(dtype) == "complex" else dtype))


# --- targets of the checks in upstream's tests ----------------------------------------------------------------------


def _check(agree: Callable[[Array, Array], Array]) -> Handler:
    """Return a handler that reports a failure unless `agree` is true of all elements of its two operands."""

    def handler(call: CustomCall, *operands: Array) -> Sequence[Array]:
        arrays = list(map(np.asarray, operands))
        if len(arrays) != 2 or arrays[0].dtype != arrays[1].dtype or arrays[0].shape != arrays[1].shape:
            types = ", ".join(map(str, call.operand_types))
            raise EvaluationError(f"@{call.target} expected two operands of the same type, got ({types})")
        actual, expected = arrays
        agreement = agree(actual, expected)
        if not agreement.all():
            message, notes = report(actual, expected, agreement)
            call.failures.append(Diagnostic(f"@{call.target} failed: {message}", call.location, notes=tuple(notes)))
        return [np.asarray(agreement.all())] if call.result_types else ()

    return handler


def _equal_or_almost(actual: Array, expected: Array, tolerance: float = TOLERANCE) -> Array:
    is_number = kind(actual.dtype) in ("floating", "complex")
    return almost_equal(actual, expected, tolerance) if is_number else equal(actual, expected)


register_custom_call("check.eq", _check(_equal_or_almost))
register_custom_call("check.expect_eq", _check(equal))
register_custom_call("check.expect_almost_eq", _check(lambda x, y: almost_equal(x, y, 1e-3)))
register_custom_call("check.expect_close", _check(lambda x, y: close(x, y, 0, 3)))
