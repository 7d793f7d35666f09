"""MLIR's func, builtin and ub dialects: functions, calls, modules; and the attributes that mhlo has on functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.define.assembly import (
    AsmParser,
    AsmPrinter,
    Deduced,
    Directive,
    Draft,
    Irregular,
    Types,
    attribute_dictionary,
    first_operand,
    member_value,
)
from stablehlo_ref.define.attribute_codecs import (
    VISIBILITIES,
    Dictionaries,
    FunctionTypeValue,
    Opaque,
    String,
    Symbol,
    Visibility,
)
from stablehlo_ref.define.bound import ControlFlowSite, Site
from stablehlo_ref.define.computation import ControlFlow, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import OP_CHECKS, PARAMETER_CHECKS, WITHOUT_MEANING
from stablehlo_ref.define.members import Undecodable
from stablehlo_ref.define.op import Attr, Body, In, Ins, Op, Out, Outs, returns
from stablehlo_ref.define.processes import callee
from stablehlo_ref.define.spec import compatible, element_type, is_tensor, shape
from stablehlo_ref.define.type_constraints import anything, function_value
from stablehlo_ref.diagnostics import InvalidError, UnsupportedError
from stablehlo_ref.dialects.mlir_types import Yield
from stablehlo_ref.ir.attributes import UNIT, Attribute, OpaqueAttribute
from stablehlo_ref.ir.core import Operation, Region, Value
from stablehlo_ref.ir.types import (
    INDEX,
    BooleanType,
    ComplexType,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    TupleType,
    Type,
)
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.ops.control_flow import call, type_of_function


class FunctionForm(Directive):
    """`visibility @name(arguments) -> results attributes {...} {...}`; a declaration has no body."""

    members = ("sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs")

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.peek() in VISIBILITIES:
            draft.members["sym_visibility"] = parser.advance()
        draft.members["sym_name"] = parser.symbol_name()
        arguments, argument_attributes = self._arguments(parser)
        results, result_attributes = self._results(parser)
        inputs = tuple(a.type for a in arguments)
        draft.members["function_type"] = FunctionType(inputs, results)
        if any(argument_attributes):
            draft.members["arg_attrs"] = argument_attributes
        if any(result_attributes):
            draft.members["res_attrs"] = result_attributes
        attribute_dictionary(parser, draft, "attributes")
        draft.exclusive = ("sym_name", "sym_visibility", "function_type")
        draft.regions = [self._body(parser, arguments)]

    def _body(self, parser: AsmParser, arguments: list[Value]) -> Region:
        if parser.peek() != "{":
            return Region([])
        if not arguments or arguments[0].name:
            return parser.region(arguments, isolated=True)
        offset = parser.start
        region = parser.region(isolated=True)
        if not region.blocks or not region.blocks[0].arguments:
            raise parser.error("expected names for the arguments of a function with a body", offset)
        return region

    # arguments ::= ( (argument (, argument)*)? ) ; argument ::= (%name :)? type dictionary? location?
    def _arguments(self, parser: AsmParser) -> tuple[list[Value], Dictionaries]:
        attributes: list[dict[str, Attribute]] = []

        def argument() -> Value:
            named = parser.peek()[:1] == "%"
            offset = parser.start
            name = parser.operand()[0] if named else ""
            names.append(name)
            if named != bool(names[0]):
                raise parser.error("expected names for all arguments or for none", offset)
            if named:
                parser.expect(":")
            value = Value(parser.type(), None, len(attributes), name)
            attributes.append(parser.dictionary() if parser.peek() == "{" else {})
            value.location = parser.trailing_location()
            return value

        names: list[str] = []
        return parser.items(argument, "(", ")"), tuple(attributes)

    # results ::= (-> (type | ( (type dictionary? (, type dictionary?)*)? )))?
    def _results(self, parser: AsmParser) -> tuple[tuple[Type, ...], Dictionaries]:
        attributes: list[dict[str, Attribute]] = []

        def result() -> Type:
            type = parser.type()
            attributes.append(parser.dictionary() if parser.peek() == "{" else {})
            return type

        if not parser.accept("->"):
            return (), ()
        if parser.peek() != "(":
            return (parser.type(),), ()
        return tuple(parser.items(result, "(", ")")), tuple(attributes)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        properties: Mapping[str, Any] = op.properties
        type = properties.get("function_type")
        if not isinstance(type, FunctionType) or "sym_name" not in properties:
            raise Irregular
        if any(isinstance(value, Undecodable) for value in properties.values()):
            raise Irregular
        if "sym_visibility" in properties:
            printer.value(properties["sym_visibility"])
        body, names = op.regions[0], list[str]()
        suffixes = [self._suffix(printer, attributes) for attributes in _of_each(properties, "arg_attrs", type.inputs)]
        written = [str(t) + suffix for t, suffix in zip(type.inputs, suffixes)]
        if body.blocks:
            arguments = body.blocks[0].arguments
            if [a.type for a in arguments] != list(type.inputs):
                raise Irregular
            names = printer.region_argument_names(arguments)
            written = list(map(printer.argument_text, arguments, names, suffixes))
        results = self._result_text(printer, type, _of_each(properties, "res_attrs", type.outputs))
        printer.value(f"{printer.symbol(properties['sym_name'])}({', '.join(written)}){results}")
        printer.dictionary(op, self.members, "attributes")
        if body.blocks:
            printer.value("")
            printer.region(body, names)

    def _suffix(self, printer: AsmPrinter, attributes: Mapping[str, Attribute]) -> str:
        return f" {printer.attribute({**attributes})}" if attributes else ""

    def _result_text(self, printer: AsmPrinter, type: FunctionType, attributes: Dictionaries) -> str:
        if not type.outputs:
            return ""
        types = [str(t) + self._suffix(printer, a) for t, a in zip(type.outputs, attributes)]
        bare = len(types) == 1 and not attributes[0] and not isinstance(type.outputs[0], FunctionType)
        return f" -> {types[0]}" if bare else f" -> ({', '.join(types)})"


def _of_each(properties: Mapping[str, Any], name: str, types: tuple[Type, ...]) -> Dictionaries:
    """Return the attributes of each argument or result. A list of empty ones is omitted, as by MLIR."""
    attributes: Dictionaries = properties.get(name) or ({},) * len(types)
    if len(attributes) != len(types):
        raise Irregular
    return attributes


class Func(Op, op="func", dialect="func", isolated_from_above=True, multiple_blocks=True, runs_once=True):
    """Define a function, or declare one if there is no body."""

    sym_name = Attr(String)
    sym_visibility = Attr(Visibility, default=None)
    function_type = Attr(FunctionTypeValue)
    arg_attrs = Attr(Dictionaries, default=())
    res_attrs = Attr(Dictionaries, default=())
    body = Body()

    syntax = (FunctionForm(),)


class NoInline(Directive):
    """`<no_inline>`, or nothing. Earlier versions of MLIR write `{no_inline}`: what both read is the generic form."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.accept("<"):
            parser.expect("no_inline")
            parser.expect(">")
            draft.attributes["no_inline"] = UNIT

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if not op.attributes.keys().isdisjoint(WITHOUT_MEANING[op.name]):
            raise Irregular


class Call(Op, op="call", dialect="func", releases_operands=True):
    """Call the function `callee` of the module with `inputs`."""

    callee = Attr(Symbol)
    inputs = Ins(anything)
    results = Outs(anything)

    syntax = ("$callee ( operands )", NoInline(), "attr-dict : functional_type")

    @staticmethod
    def plan_control_flow(
        site: ControlFlowSite, callee: Symbol, inputs: tuple[int, ...], results: tuple[int, ...]
    ) -> ControlFlow:
        return call(inputs, callee, results, site.function, site.dying)


class Constant(Op, op="constant", dialect="func"):
    """Return the function `value` of the module, for `call_indirect`."""

    value = Attr(Symbol)
    result = Out(function_value)

    syntax = "attr-dict $value : type(results)"

    @staticmethod
    def constraints(C: Checker, site: Site, value: Symbol, result: FunctionType) -> None:
        C(1, type_of_function(site.symbol(value)) == result)

    plan = returns(lambda: None)  # a call finds the function by the op


def called_as(callee: Type, count: int) -> tuple[Types, Types]:
    """Return the types of all operands of an indirect call, and of its results."""
    if not isinstance(callee, FunctionType):
        raise ValueError(f"expected the type of a function, got {callee}")
    return (callee, *callee.inputs), callee.outputs


class CallIndirect(Op, op="call_indirect", dialect="func"):
    """Call the function `callee`, which a `constant` returns, with `callee_operands`."""

    callee = In(function_value)
    callee_operands = Ins(anything)
    results = Outs(anything)

    syntax = ("$callee ( $callee_operands ) attr-dict :", Deduced(first_operand, called_as))

    @staticmethod
    def constraints(C: Checker, callee: FunctionType, callee_operands: Sequence[Type], results: Sequence[Type]) -> None:
        C(1, callee == FunctionType(tuple(callee_operands), tuple(results)))

    @staticmethod
    def plan_control_flow(
        site: ControlFlowSite, callee_operands: tuple[int, ...], results: tuple[int, ...]
    ) -> ControlFlow:
        if not (name := callee(site.op)):
            message = "unsupported function; expected one that a func.constant returns, here or to all calls around"
            raise UnsupportedError(message, site.location)
        return call(callee_operands, name, results, site.function, site.dying)


class Return(Yield, op="return", dialect="func"):
    """Return `results` as the results of the enclosing function."""


# --- builtin and ub -------------------------------------------------------------------------------------------------


class ModuleForm(Directive):
    """`@name attributes {...} {...}`; the name and the attributes are optional."""

    members = ("sym_name",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.peek()[:1] == "@":
            draft.members["sym_name"] = parser.symbol_name()
        attribute_dictionary(parser, draft, "attributes")
        draft.regions = [parser.region(isolated=True)]

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if len(op.regions[0].blocks) > 1:
            raise Irregular
        if "sym_name" in op.properties:
            printer.value(printer.symbol(member_value(op, "sym_name")))
        printer.dictionary(op, self.members, "attributes")
        printer.value("")
        printer.region(op.regions[0], ())


class Module(Op, op="module", dialect="builtin", isolated_from_above=True, single_block=False):
    """Contain the functions and nested modules of a program."""

    sym_name = Attr(String, default=None)
    sym_visibility = Attr(Visibility, default=None)
    body = Body()

    syntax = (ModuleForm(),)


class UnrealizedConversionCast(
    Op, op="unrealized_conversion_cast", dialect="builtin", computes_on_storage=True, returns_views=True
):
    """Return the inputs as values of other types with the same representation at run time, or of index as integers."""

    inputs = Ins(anything)
    results = Outs(anything)

    syntax = "(operands : type(operands))? to type(results) attr-dict"

    @staticmethod
    def plan(inputs: Sequence[Type], results: Sequence[Type]) -> Run:
        if len(inputs) == len(results) == 1 and (dtype := cast_dtype(inputs[0], results[0])):
            return lambda inputs: np.asarray(inputs[0], dtype)[... if is_tensor(results[0]) else ()]
        if len(inputs) != len(results) or not all(map(same_representation, inputs, results)):
            types = ", ".join(map(str, inputs)), ", ".join(map(str, results))
            raise UnsupportedError(f"unsupported conversion cast from ({types[0]}) to ({types[1]})")
        return lambda inputs: inputs[0] if len(inputs) == 1 else inputs


def same_representation(x: Type, y: Type) -> bool:
    """Return whether values of both types are the same numpy array or scalar at run time."""
    if is_tensor(x) and is_tensor(y):
        return shape(x) == shape(y) and same_representation(element_type(x), element_type(y))
    try:
        return x == y or (is_tensor(x) == is_tensor(y) and numpy_dtype(x) == numpy_dtype(y))
    except TypeError:
        return False


def cast_dtype(x: Type, y: Type) -> np.dtype[Any] | None:
    """Return the dtype of `y` if one of two types is index and the other an integer, or one a scalar of the other.

    Passes that replace index by tensors of i32 make such casts.
    """
    elements = [element_type(t) if is_tensor(t) else t for t in (x, y)]
    shapes = [shape(t) if is_tensor(t) else () for t in (x, y)]
    is_between = INDEX in elements and all(isinstance(t, IndexType | IntegerType) for t in elements)
    is_scalar = elements[0] == elements[1] and isinstance(elements[0], ELEMENTS)
    return numpy_dtype(elements[1]) if (is_between or is_scalar) and shapes[0] == shapes[1] else None


ELEMENTS = BooleanType, ComplexType, FloatType, IndexType, IntegerType


class Poison(Op, op="poison", dialect="ub", computes_on_storage=True):
    """Return a value that a program must not depend on, here zeros."""

    value = Attr(Opaque, default=OpaqueAttribute("#ub.poison"))
    result = Out(anything)

    syntax = "attr-dict (< $value >)? : type(results)"

    @staticmethod
    def plan(result: Type) -> Run:
        zeros = np.zeros(shape(result) if is_tensor(result) else (), numpy_dtype(element_type(result)))
        return lambda: zeros if zeros.ndim else zeros[()]


# --- attributes of mhlo on functions --------------------------------------------------------------------------------


ALIAS, REPLICATION = "mhlo.result_alias", "mhlo.parameter_replication"

_match_alias = re.compile(r"#mhlo\.result_alias<(.*)>", re.DOTALL).fullmatch
_find_integers = re.compile(r"-?\d+").findall
_find_lists = re.compile(r"(tuple_indices|result_index)\s*=\s*\[([-\d,\s]*)\]").findall


def check_alias(op: Operation, attribute: Attribute, type: Type, where: str) -> None:
    """Check that the part of an argument that `#mhlo.result_alias<...>` names is as large as that of the result."""
    match = _match_alias(attribute.text) if isinstance(attribute, OpaqueAttribute) else None
    function_type = op.properties.get("function_type")
    if not match or not where.startswith("argument") or not isinstance(function_type, FunctionType):
        return
    lists = {name: [int(index) for index in _find_integers(text)] for name, text in _find_lists(match[1])}
    argument, result = lists.get("tuple_indices", []), lists.get("result_index", [])
    if not result or min((*argument, *result)) < 0:
        raise _invalid(op, f"attribute '{ALIAS}' of {where}: expected a result_index, and no negative indices", ALIAS)
    aliased = _part(type, argument), _part(TupleType(function_type.outputs), result)
    if None in aliased or not compatible(*aliased):
        types = " and ".join("no type" if part is None else str(part) for part in aliased)
        raise _invalid(op, f"attribute '{ALIAS}' of {where}: expected indices of compatible types, got {types}", ALIAS)


def check_is_of_argument(op: Operation, attribute: Attribute) -> None:
    """Reject an alias that is not of an argument."""
    raise _invalid(op, f"attribute '{ALIAS}' is one of arguments of functions", ALIAS)


def check_replication(op: Operation, attribute: Attribute, type: Type, where: str) -> None:
    """Check that a list says for each leaf of an argument, or for all, whether it is replicated."""
    leaves = _leaves(type)
    if where.startswith("argument") and not (isinstance(attribute, tuple) and len(attribute) in (0, 1, leaves)):
        raise _invalid(op, f"attribute '{REPLICATION}' of {where}: expected a list of {leaves} elements", REPLICATION)


def _part(type: Type, indices: list[int]) -> Type | None:
    """Return the type of a part of nested tuples; None if there is no such part."""
    for index in indices:
        if not isinstance(type, TupleType) or index >= len(type.elements):
            return None
        type = type.elements[index]
    return type


def _leaves(type: Type) -> int:
    return sum(map(_leaves, type.elements)) if isinstance(type, TupleType) else 1


def _invalid(op: Operation, message: str, name: str) -> InvalidError:
    return InvalidError(f"'{op.name}' op {message}", op.location, subjects=(name,))


OP_CHECKS[ALIAS] = check_is_of_argument
PARAMETER_CHECKS[ALIAS] = check_alias
PARAMETER_CHECKS[REPLICATION] = check_replication
