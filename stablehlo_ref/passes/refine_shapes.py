"""Propagate known sizes through a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from stablehlo_ref.diagnostics import Diagnostic, InvalidError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Value, location_of
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import BooleanType, IntegerType, TensorType, TokenType, Type
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.passes.analysis import defined_by, evaluate, is_pure, known_array, known_integers
from stablehlo_ref.passes.emit import Emitter, dense, replace_by_constants
from stablehlo_ref.passes.patterns import erase_dead, hoist_constants
from stablehlo_ref.passes.refinements import (
    WRAPPER,
    check_single_block,
    most_specific,
    refine_function_arguments,
    refined_types,
    refinement_target,
    set_function_type,
)
from stablehlo_ref.passes.registry import PassOption, flag, transformation
from stablehlo_ref.passes.symbols import functions, symbols_of
from stablehlo_ref.targets.xla import assertion_message

SHAPE_ARITHMETIC = frozenset(
    f"stablehlo.{name}"
    for name in (
        "add", "and", "broadcast_in_dim", "clamp", "compare", "concatenate", "convert", "divide", "maximum", "minimum",
        "multiply", "or", "remainder", "reshape", "select", "sign", "slice", "subtract",
    )
)  # fmt: skip
CALLERS = ("func.call", "func.return")
REFINABLE_DIALECTS = ("chlo", "stablehlo", "sdy", "check")  # whose ops accept operands of more specific types
MOST_ELEMENTS = 1 << 16  # of constants that are computed here


@transformation("stablehlo-refine-shapes", "propagate known sizes through a program")
def refine_shapes(module: Operation) -> None:
    """Give values the most specific types that follow from the argument types of `main`, or of the only function.

    Integer arithmetic on sizes is evaluated, so that ops whose result shapes are operands have static results.
    Functions are refined for the types, and for the leading integer constants, that they are called with; those
    constants are arguments no more. A call that returns constants only, and has no effects, becomes those constants.
    Functions that other ops than calls refer to, such as decompositions of composites, stay as they are. The wrappers
    that `--stablehlo-refine-arguments` makes are removed. InvalidError if the calls of a function differ in types or
    constants, or a function calls itself.
    """
    table = functions(module)
    if not table:
        return
    function = refinement_target(module)
    arguments = tuple(argument.type for argument in function.regions[0].block.arguments)
    others = {name for op in module.walk() if op.name != "func.call" for name in symbols_of(op)}
    refiner = _Refiner({name: callee for name, callee in table.items() if name not in others})
    refiner.refine(_Key(function, 0, (), arguments))
    if refiner.errors:
        raise InvalidError(refiner.errors)


@dataclass(frozen=True)
class _Key:
    """What a function is refined for: values of leading integer arguments after tokens, and types of all others."""

    function: Operation
    tokens: int
    constants: tuple[int, ...]
    types: tuple[Type, ...]

    @property
    def kept_types(self) -> tuple[Type, ...]:
        """The types of all arguments that are not constants."""
        return (TokenType(),) * self.tokens + self.types

    def __str__(self) -> str:
        name, types = self.function.properties["sym_name"], ", ".join(map(str, self.types))
        return f"@{name}: tokens {self.tokens}, constants {list(self.constants)}, arguments ({types})"


class _Refiner:
    """Refines functions, each once, from top to bottom."""

    def __init__(self, table: Mapping[str, Operation]) -> None:
        self.table = table
        self.keys: dict[Operation, _Key] = {}
        self.active: list[Operation] = []  # functions that are being refined, each called by the one before it
        self.errors: list[Diagnostic] = []

    def refine(self, key: _Key) -> bool:
        """Refine a function, unless that has been done; return whether it can be."""
        function = key.function
        if (previous := self.keys.get(function)) is not None:
            return self._agrees(key, previous)
        check_single_block(function)
        self.keys[function] = key
        self.active.append(function)
        self._replace_constant_arguments(key)
        refine_function_arguments(function, key.kept_types)
        with Rewriter(function) as rewriter:
            self._block(rewriter, function.regions[0].block)
        erase_dead(function)
        hoist_constants(function.regions[0])
        set_function_type(function)
        self.active.pop()
        return True

    def _agrees(self, key: _Key, previous: _Key) -> bool:
        if (key.constants and key.constants != previous.constants) or key.kept_types != previous.kept_types:
            message = f"refined with incompatible refinement keys:\n  curr={key}\n  prev={previous}"
        elif key.function in self.active:
            message = f"Function {key.function.properties['sym_name']} is being refined recursively"
        else:
            return True
        self.errors.append(Diagnostic(f"'func.func' op {message}", key.function.location))
        return False

    def _replace_constant_arguments(self, key: _Key) -> None:
        block = key.function.regions[0].block
        leading = block.arguments[key.tokens : key.tokens + len(key.constants)]
        with Rewriter(key.function) as rewriter:
            emit = Emitter(rewriter, block.operations[0])
            for argument, number in zip(leading, key.constants):
                assert isinstance(argument.type, TensorType)
                rewriter.replace_uses(argument, emit.constant(argument.type, number))
        _drop_arguments(key.function, key.tokens, len(key.constants))

    def key_of(self, call: Operation) -> _Key | None:
        """Return what a call demands of the function that it calls; None for one that stays as it is."""
        callee = self.table.get(str(call.properties["callee"]))
        if callee is None or not callee.regions[0].blocks:
            return None
        tokens = sum(1 for _ in takewhile(lambda operand: isinstance(operand.type, TokenType), call.operands))
        constants = _leading_constants(call.operands[tokens:])
        return _Key(callee, tokens, constants, tuple(call.operand_types[tokens + len(constants) :]))

    # --- operations ---------------------------------------------------------------------------------------------

    def _block(self, rewriter: Rewriter, block: Block) -> None:
        for op in within_time(block.operations, "transforming the program", location_of):
            if op.name == "func.call":
                self._call(rewriter, op)
            elif op.name == "func.return":
                _return(rewriter, op)
            else:
                self._op(rewriter, op)

    def _op(self, rewriter: Rewriter, op: Operation) -> None:
        if op.name == "stablehlo.while":
            for region in op.regions:
                _refine(rewriter, region.block.arguments, op.operand_types)
        if op.name in ("stablehlo.while", "stablehlo.if", "stablehlo.case"):
            for region in op.regions:
                self._block(rewriter, region.block)
        if (types := refined_types(op)) is not None:
            _refine(rewriter, op.results, types)
        if op.properties.get("call_target_name") == WRAPPER and op.operands[0].type == op.results[0].type:
            rewriter.replace(op, op.operands[:1])
        elif (arrays := shape_arithmetic(op)) is not None:
            replace_by_constants(rewriter, op, arrays)

    # --- calls --------------------------------------------------------------------------------------------------

    def _call(self, rewriter: Rewriter, call: Operation) -> None:
        key = self.key_of(call)
        if key is None:
            return
        if not self.refine(key):
            message = "'func.call' op incorrect number of operands for callee"
            self.errors.append(Diagnostic(message, call.location))
            return
        returned = key.function.regions[0].block.operations[-1].operands
        constants = [known_array(v) if _is_integral(v.type) else None for v in returned]
        arrays = [array for array in constants if array is not None]
        _refine(rewriter, call.results, [value.type for value in returned])
        if len(arrays) == len(returned) and self._is_effect_free(key.function, set()):
            replace_by_constants(rewriter, call, arrays)
            return
        start, count = key.tokens, len(key.constants)
        if count:
            rewriter.set_operands(call, call.operands[:start] + call.operands[start + count :])
            _drop_attributes(call.attributes, start, count)
            _drop_attributes(call.properties, start, count)
        emit = Emitter(rewriter, call)
        for result, array in zip(call.results, constants):  # let users of constant results use constants
            if array is not None and rewriter.uses(result) and isinstance(result.type, TensorType):
                rewriter.replace_uses(result, emit.constant(result.type, array))

    def _is_effect_free(self, function: Operation, visited: set[Operation]) -> bool:
        """Return whether neither a function nor those that it calls have effects."""
        if function in visited:
            return True
        visited.add(function)
        for op in function.regions[0].block.operations[:-1]:
            if op.name == "func.call":
                callee = self.table.get(str(op.properties["callee"]))
                if callee is None or not callee.regions[0].blocks or not self._is_effect_free(callee, visited):
                    return False
            elif not is_pure(op):
                return False
        return True


def _refine(rewriter: Rewriter, values: Sequence[Value], types: Sequence[Type]) -> None:
    """Give values more specific types, if all users accept these."""
    merged = [most_specific(value.type, type) for value, type in zip(values, types)]
    changed = [(v, t) for v, t in zip(values, merged) if t is not None and t != v.type]
    if None not in merged and all(_accepts(user) for v, _ in changed for user, _ in rewriter.uses(v)):
        for value, type in changed:
            value.type = type


def _return(rewriter: Rewriter, op: Operation) -> None:
    """Return what casts to less specific types are casts of."""
    for index, operand in enumerate(op.operands):
        cast = defined_by(operand, "builtin.unrealized_conversion_cast")
        if cast and len(cast.operands) == len(cast.results) == 1:
            source = cast.operands[0]
            if source.type != operand.type and most_specific(source.type, operand.type) == source.type:
                rewriter.set_operand(op, index, source)


def _leading_constants(values: Sequence[Value]) -> tuple[int, ...]:
    arrays = [known_array(value) if _is_integral(value.type) else None for value in values]
    leading = takewhile(lambda array: array is not None and not array.ndim, arrays)
    return tuple(int(array[()]) for array in leading if array is not None)


def _is_integral(type: Type) -> bool:
    return isinstance(type, TensorType) and isinstance(type.element_type, BooleanType | IntegerType)


def _drop_arguments(function: Operation, start: int, count: int) -> None:
    if not count:
        return
    block = function.regions[0].block
    del block.arguments[start : start + count]
    for index, argument in enumerate(block.arguments):
        argument.index = index
    _drop_attributes(function.properties, start, count)
    set_function_type(function)


def _drop_attributes(attributes: dict[str, object], start: int, count: int) -> None:
    """Remove the attributes of removed arguments."""
    of_arguments = attributes.get("arg_attrs")
    if isinstance(of_arguments, tuple):
        attributes["arg_attrs"] = of_arguments[:start] + of_arguments[start + count :]


def _accepts(user: Operation) -> bool:
    return user.name in CALLERS or user.name.partition(".")[0] in REFINABLE_DIALECTS


def shape_arithmetic(op: Operation) -> list[Array] | None:
    """Return the results of an op on integers that are known; None of any other."""
    if op.name == "stablehlo.get_dimension_size":
        return _dimension_size(op)
    if op.name not in SHAPE_ARITHMETIC or not all(map(_is_integral, (*op.operand_types, *op.result_types))):
        return None
    result = op.results[0].type
    if not isinstance(result, TensorType) or not result.is_static or result.size > MOST_ELEMENTS:
        return None
    return evaluate(op)


def _dimension_size(op: Operation) -> list[Array] | None:
    operand, result = op.operands[0].type, op.results[0].type
    if not isinstance(operand, TensorType) or not isinstance(result, TensorType) or operand.bounds:
        return None
    size = operand.shape[op.properties["dimension"]]
    return None if size is None else [dense(result, size).array]


# --- assertions -----------------------------------------------------------------------------------------------------


@transformation(
    "stablehlo-check-shape-assertions",
    "check and remove the custom calls @shape_assertion",
    PassOption("enable-shape-assertions", flag, "whether assertions may fail (default true)"),
)
def check_shape_assertions(module: Operation, enable_shape_assertions: bool = True) -> None:
    """Remove the custom calls `@shape_assertion` whose first operand is the constant true.

    InvalidError, with the error message of the call, where it is false; and where it, or a number in the message, is
    not a constant. Unless `enable_shape_assertions`, all are removed.
    """
    errors: list[Diagnostic] = []
    with Rewriter(module) as rewriter:
        for op in [op for op in module.walk() if op.properties.get("call_target_name") == "shape_assertion"]:
            message = _failed_assertion(op) if enable_shape_assertions else None
            if message is None:
                rewriter.erase(op)
            else:
                errors.append(Diagnostic(message, op.location))
    if errors:
        raise InvalidError(errors)


def _failed_assertion(op: Operation) -> str | None:
    """Return what is wrong with an assertion; None if it holds."""
    if not op.operands or op.results:
        return "expects an operand and no results"
    what, *inputs = map(known_integers, op.operands)
    if what is None or len(what) != 1:
        return "expects static assert_what (operand #0)"
    if what[0]:
        return None
    unknown = [index for index, numbers in enumerate(inputs, 1) if numbers is None or len(numbers) != 1]
    if unknown:
        return f"expects static error_message_input (operand #{unknown[0]})"
    return assertion_message(op.attributes.get("error_message"), [numbers[0] for numbers in inputs if numbers])
