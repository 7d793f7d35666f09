"""Ops whose meaning lies outside of StableHLO: custom_call, by handlers in Python, and composite, by decomposition."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, Bodies, Ins, Op, Outs
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError, Location, UnsupportedError
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.kinds import Dictionary, Flag, Int32, ListOf, Opaque, String, Symbol, anything
from stablehlo_ref.numerics.agreement import almost_equal, close, equal, report
from stablehlo_ref.numerics.dtypes import kind, numpy_dtype
from stablehlo_ref.ops.control_flow import call


@dataclass(frozen=True)
class CustomCall:
    """What a handler of a custom_call learns about the call, besides its operands."""

    target: str
    operand_types: tuple[Type, ...]
    result_types: tuple[Type, ...]
    backend_config: str | Mapping[str, Any] = ""
    api_version: int = 1
    location: Location | None = None
    failures: list[Diagnostic] = field(default_factory=list)


Handler = Callable[..., Sequence[Any]]
_handlers: dict[str, Handler] = {}


def register_custom_call(target: str, handler: Handler) -> None:
    """Makes `handler(call, *operands)` what custom_calls of `target` do.

    It gets a `CustomCall` and an array for each operand, which it must not write to, and returns a sequence with an
    array for each result, of the dtypes and shapes of `call.result_types`. A StablehloError that it raises ends the
    run at the call's place. A later registration for the same target replaces an earlier one.
    """
    _handlers[target] = handler


class CustomCallOp(Op, op="custom_call"):
    """Calls the handler that is registered for `call_target_name`."""

    effects = True

    inputs = Ins(anything)  # I1
    call_target_name = Attr(String)  # I2
    has_side_effect = Attr(Flag, default=False)  # I3
    backend_config = Attr(Opaque, default="")  # I4
    api_version = Attr(Int32, default=1)  # I5
    called_computations = Attr(ListOf(Symbol), default=())  # I6
    operand_layouts = Attr(Opaque, default=None)
    result_layouts = Attr(Opaque, default=None)
    output_operand_aliases = Attr(Opaque, default=())  # I7
    ffi_config = Attr(Opaque, default=None, name="mhlo.backend_config")
    results = Outs(anything)

    syntax = "custom(call_target) ( operands ) attr-dict : functional_type"

    @staticmethod
    def plan(
        inputs: Any, call_target_name: str, backend_config: Any, ffi_config: Any, api_version: int, results: Any,
        location: Location,
    ) -> Any:  # fmt: skip
        config = ffi_config or backend_config

        def run(context: Any, inputs: Sequence[Any]) -> Sequence[Any]:
            handler = context.custom_calls.get(call_target_name) or _handlers.get(call_target_name)
            if handler is None:
                raise UnsupportedError(f"no handler is registered for custom_call @{call_target_name}")
            call = CustomCall(call_target_name, operand_types, results, config, api_version, location, context.failures)
            values = handler(call, *inputs)
            _check_results(call, values)
            return values[0] if len(results) == 1 else values

        operand_types = inputs
        return run


def _check_results(call: CustomCall, values: Sequence[Any]) -> None:
    """What a handler returned must be what the op's types promise."""
    if len(values) != len(call.result_types):
        raise EvaluationError(
            f"the handler of custom_call @{call.target} returned {len(values)} results, not {len(call.result_types)}"
        )
    for type, value in zip(call.result_types, values):
        if isinstance(type, TensorType):
            found = np.asarray(value)
            if (found.shape, found.dtype) != (type.shape, numpy_dtype(type.element_type)):
                got = f"{found.dtype} {found.shape}"
                raise EvaluationError(f"the handler of custom_call @{call.target} returned {got} for a result {type}")


class Composite(Op, op="composite"):
    """Does what the function `decomposition` does."""

    inputs = Ins(anything)  # I1
    composite_name = Attr(String, name="name")  # I2
    composite_attributes = Attr(Dictionary, default=MappingProxyType({}))  # I3
    decomposition = Attr(Symbol)  # I4
    version = Attr(Int32, default=0)  # I5
    composite_regions = Bodies()  # I6
    results = Outs(anything)

    syntax = "custom(composite_name) operands ( ( $composite_regions ) )? attr-dict : functional_type"

    @staticmethod
    def constraints(C: Any, composite_name: str) -> None:
        C(1, re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+", composite_name))

    @staticmethod
    def inline(
        inputs: tuple[int, ...], decomposition: str, results: tuple[int, ...], functions: Any, dying: Any
    ) -> Any:
        return call(inputs, decomposition, results, functions, dying)


# --- the targets that upstream's tests check with -------------------------------------------------------------------


def _check(agree: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Handler:
    def handler(call: CustomCall, actual: Any, expected: Any) -> Sequence[Any]:
        actual, expected = np.asarray(actual), np.asarray(expected)
        agreement = agree(actual, expected)
        if not agreement.all():
            message, notes = report(actual, expected, agreement)
            call.failures.append(Diagnostic(f"@{call.target} failed: {message}", call.location, notes=tuple(notes)))
        return [agreement.all()] if call.result_types else ()

    return handler


def _equal_or_almost(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    return almost_equal(actual, expected, 1e-4) if kind(actual.dtype) in ("floating", "complex") else equal(actual, expected)


register_custom_call("check.eq", _check(_equal_or_almost))
register_custom_call("check.expect_eq", _check(lambda x, y: equal(x, y, nan_equals_nan=False)))
register_custom_call("check.expect_almost_eq", _check(lambda x, y: almost_equal(x, y, 1e-3)))
register_custom_call("check.expect_close", _check(lambda x, y: close(x, y, 0, 3)))
