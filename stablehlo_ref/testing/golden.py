"""How golden functions are made of definitions of ops: arrays become a program of one op, which is verified and run."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from textwrap import indent
from typing import Any

import numpy as np

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.argument_types import checks_arguments, fits, shown
from stablehlo_ref.arrays.host_values import as_value
from stablehlo_ref.arrays.interop import to_array
from stablehlo_ref.conform.members import COMMON
from stablehlo_ref.conform.programs import Ops
from stablehlo_ref.define.attribute_codecs import AttributeCodec, DenseCodec, EnumCodec, ListCodec, StringCodec
from stablehlo_ref.define.builder import build_module, build_operation
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.formulas import labelled_formulas
from stablehlo_ref.define.members import REQUIRED, Attr, Bodies, Body, In, Ins, Outs, Undecodable
from stablehlo_ref.diagnostics import (
    ArgumentTypeError,
    ArgumentValueError,
    Diagnostic,
    Location,
    MalformedError,
    Source,
    StablehloError,
)
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.attributes import DenseElements, TypeAttribute
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.types import BOOLEAN, FunctionType, TensorType, Type, tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of, is_fractional
from stablehlo_ref.ops.comparison import ComparisonDirection
from stablehlo_ref.passes.symbols import functions
from stablehlo_ref.program import Program
from stablehlo_ref.reading.parsing import parse
from stablehlo_ref.suggestions import did_you_mean
from stablehlo_ref.syntax.parser import parse_attribute

DIALECTS = ("stablehlo", "chlo")
NOWHERE = Location(Source("", "<golden>"), 0)
BOOL = tensor_type((), BOOLEAN)
_WRAPPER = "golden.region"


@cache
def definitions() -> Mapping[str, OpDefinition]:
    """Return the ops by the names of their functions; an op of StableHLO comes before one of CHLO with its name."""
    ops = [o for dialect in reversed(DIALECTS) for o in REGISTRY.values() if o.dialect == dialect and _is_function(o)]
    names = [o.mnemonic.replace("-", "_") for o in ops]
    return {f"{name}_" if keyword.iskeyword(name) else name: o for name, o in zip(names, ops)}


def _is_function(definition: OpDefinition) -> bool:
    """Return whether an op alone maps tensors to tensors."""
    traits, members = definition.traits, (*definition.operands, *definition.results)
    refers = {"decomposition", "called_computations"} & definition.attributes.keys()  # to other functions
    return (
        definition.mnemonic[:1].isalpha()
        and not (traits.terminator or traits.communicates or refers)
        and bool(definition.results)
        and all(any(m.constraint.holds(tensor_type((2,) * n, e)) for n in range(3) for e in COMMON) for m in members)
        and not definition.mnemonic.startswith(("async_", "infeed", "outfeed"))
    )


def function_of(definition: OpDefinition, name: str) -> Callable[..., Any]:
    """Return the function of an op, with its signature, its inputs and its constraints."""
    signature = signature_of(definition)
    is_list = len(definition.results) != 1 or isinstance(definition.results[0], Outs)

    def function(*arguments: object, **named: object) -> Any:
        for other in named.keys() - signature.parameters.keys():
            raise ArgumentTypeError(f"{name} has no parameter '{other}'{did_you_mean(other, signature.parameters)}")
        try:
            given = signature.bind(*arguments, **named).arguments
        except TypeError as error:
            raise ArgumentTypeError(f"{name}: {error}") from None
        call = _Call(definition, name, given)
        results = run(call.program, call.arrays)
        return results if is_list else results[0]

    function.__name__ = function.__qualname__ = name
    function.__module__ = "stablehlo_ref.golden"
    function.__doc__ = documentation(definition)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


@checks_arguments
def op(text: str, *arrays: object) -> Any:
    """Return the results of an op that is written as MLIR, a list unless there is one.

    Its operands are %0, %1, ... in the order of `arrays`. Several ops, one a line, return the results of the last. The
    generic form gives the types of operands, which may be quantized; without it they are those of the arrays.
    """
    values = [_to_array(array) for array in arrays]
    block = _parsed(text, _types_in(text) or [_type_of(value) for value in values])
    results = run(_program(block.arguments, block.operations), values)
    return results[0] if len(results) == 1 else results


def run(program: Program, arrays: Sequence[Array]) -> list[Array]:
    """Verify and run a program; errors are without places, which nobody wrote."""
    try:
        return [np.asarray(result) for result in program.verify().run(*arrays)]
    except StablehloError as error:
        plain = [Diagnostic(d.message, notes=d.notes) for d in error.diagnostics]
        raise type(error)(plain) from None


# --- signatures -------------------------------------------------------------------------------------------------------


def signature_of(definition: OpDefinition) -> inspect.Signature:
    """Return the parameters: operands, then regions and attributes by name, then `result`."""
    empty, named = inspect.Parameter.empty, inspect.Parameter.KEYWORD_ONLY
    defaults: dict[str, object] = {m.name: empty for m in definition.regions}
    defaults |= {m.name: empty if m.default is REQUIRED else m.default for m in definition.attributes.values()}
    defaults["result"] = None if "infer" in definition.roles else empty  # the types of results follow, or do not
    optional = [m for m in definition.operands if isinstance(m, In) and m.optional]
    operands = [
        inspect.Parameter(m.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None if m in optional else empty)
        for m in definition.operands
    ]
    others = [inspect.Parameter(name, named, default=default) for name, default in defaults.items()]
    return inspect.Signature([*operands, *sorted(others, key=lambda p: p.default is not empty)])


def documentation(definition: OpDefinition) -> str:
    """Return what an op does, the types of its operands, and its constraints."""
    lines = [inspect.getdoc(definition.op_class) or "", "", f"The op is `{definition.name}`.", "", "Operands:"]
    for member in definition.operands:
        many = "a list, each a " if isinstance(member, Ins) else ""
        lines.append(f"    {member.name}: {many}{member.constraint.name}")
    formulas = labelled_formulas(definition.op_class)
    if formulas:
        lines += ["", "Constraints:", *(indent(f"({label}) {text}", "    ") for label, text in formulas)]
    return "\n".join(lines)


# --- calls ------------------------------------------------------------------------------------------------------------


def _to_array(value: Any) -> Array:
    has_dlpack = hasattr(value, "__dlpack__") and not hasattr(value, "__array__")
    try:
        array: Array = np.asarray(np.from_dlpack(value) if has_dlpack else to_array(value))
        element_type_of(array.dtype)
    except Exception:  # array-like objects may raise anything
        raise ArgumentTypeError(f"expected an array of numbers or booleans, got {shown(value)}") from None
    return array


def _type_of(array: Array) -> TensorType:
    return tensor_type(array.shape, element_type_of(array.dtype))


class _Call:
    """A call of an op, which becomes a program of that op; `given` are the arguments that were bound to parameters."""

    def __init__(self, definition: OpDefinition, name: str, given: Mapping[str, Any]) -> None:
        self.definition = definition
        self.name = name
        self.given = given
        self.arrays = self._arrays()
        self.arguments = [Value(_type_of(a), None, i) for i, a in enumerate(self.arrays)]

    @property
    def program(self) -> Program:
        definition, given = self.definition, self.given
        regions = [
            self._region(member, body)
            for member in definition.regions
            for body in (given[member.name] if isinstance(member, Bodies) else [given[member.name]])
        ]
        members = {name: self._attribute(m) for name, m in definition.attributes.items() if given.get(name) is not None}
        make = partial(
            build_operation, definition.name, self.arguments, location=NOWHERE, members=members, regions=regions
        )
        types = self._results()
        try:
            op = make(types)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):  # the verifier says why
            op = make([BOOL])
        return _program(self.arguments, [op])

    def _arrays(self) -> list[Array]:
        """Return the operands as arrays, in order.

        Lists and numbers have the dtype of the first array, if the operand may have it, or else that of numpy.
        """
        values: list[tuple[Any, In | Ins]] = []
        for member in self.definition.operands:
            value = self.given.get(member.name)
            if isinstance(member, Ins):
                if not isinstance(value, Sequence | np.ndarray):
                    raise ArgumentTypeError(f"{self.name}: expected {member.name} to be a list of arrays")
                values += [(item, member) for item in value]
            elif value is not None or not member.optional:
                values.append((value, member))
        dtypes = [_to_array(value).dtype for value, _ in values if hasattr(value, "dtype")]
        return [self._array(value, member, dtypes) for value, member in values]

    def _array(self, value: object, member: In | Ins, dtypes: Sequence[DType]) -> Array:
        array = _to_array(value)
        if hasattr(value, "dtype") or not dtypes:
            return array
        like = tensor_type(array.shape, element_type_of(dtypes[0]))
        if array.dtype == np.bool_ or not member.constraint.holds(like):
            return array
        if is_fractional(dtypes[0]):
            with np.errstate(all="ignore"):
                return array.astype(dtypes[0])
        try:
            return np.asarray(as_value(like, value))
        except ValueError as error:
            raise ArgumentValueError(f"{self.name}: {member.name}: {error}") from None

    def _results(self) -> Sequence[Type] | None:
        """Return the types that `result` gives; None if they are inferred."""
        result = self.given.get("result")
        if result is None and "infer" not in self.definition.roles and self.definition.results:
            raise ArgumentTypeError(f'{self.name} needs result="tensor<...>", as its type does not follow')
        if result is None:
            return None
        types = [result] if isinstance(result, str | Type) else result
        if not fits(types, Sequence[str | Type]):
            raise ArgumentTypeError(f"{self.name}: expected result to be a type, or a list of types, got {result!r}")
        return [_type(item) for item in types]

    def _attribute(self, member: Attr) -> object:
        given = self.given[member.name]
        try:
            value = member.decode(member.encode(_value(member.codec, given)))
        except (AttributeError, TypeError, ValueError, StablehloError):
            value = None
        if value is None or isinstance(value, Undecodable):
            raise ArgumentValueError(f"{self.name}: expected {member.name} to be a {member.codec.name}, got {given!r}")
        return value

    def _region(self, member: Body | Bodies, body: object) -> Region:
        """Return a region that is given as an op, as a direction of a comparison, as text or as a program."""
        if isinstance(body, Program):
            return _region_of(body)
        if not isinstance(body, str):
            raise ArgumentTypeError(f"{self.name}: expected {member.name} to be text or a program, got {body!r}")
        if body.isidentifier():
            return self._named(member, body)
        text = body.strip()
        return Region([_parsed(text[1:-1] if text.startswith("{") else text, ())])

    def _named(self, member: Body | Bodies, body: str) -> Region:
        """Return the region of `"add"`, an op on pairs of scalars, or of `"LT"`, a comparison of the first pair.

        The region of `map` gets one scalar of each input.
        """
        variadic = next((m.name for m in self.definition.operands if isinstance(m, Ins)), None)
        count = len(self.given[variadic]) if variadic else 1
        types = [value.type for value in self.arguments[:count]]
        scalars = [tensor_type((), type.element_type) for type in types if isinstance(type, TensorType)]
        if body in ComparisonDirection.__members__:
            ops = Ops([t for t in scalars for _ in range(2)])
            direction = ComparisonDirection[body]
            return ops.region([ops.value("stablehlo.compare", ops.arguments[:2], BOOL, comparison_direction=direction)])
        name, is_map = f"stablehlo.{body}", self.definition.mnemonic == "map"
        if name not in REGISTRY:
            known = [*ComparisonDirection.__members__, *(o.mnemonic for o in REGISTRY.values() if o.traits.elementwise)]
            raise ArgumentValueError(f"{self.name}: {member.name}: there is no op {body!r}{did_you_mean(body, known)}")
        ops = Ops(scalars if is_map else scalars * 2)
        groups = [ops.arguments] if is_map else list(zip(ops.arguments, ops.arguments[count:]))
        return ops.region([ops.value(name, group, group[0].type) for group in groups if group])


def _program(arguments: Sequence[Value], ops: Sequence[Operation]) -> Program:
    """Return a program whose @main has these arguments and ops, and returns the results of the last."""
    return Program(build_module(arguments, ops, ops[-1].results, ops[-1].location))


def _value(codec: AttributeCodec[Any], value: object) -> Any:
    """Return the value of an attribute: text is MLIR, or the name in an enumeration."""
    if isinstance(codec, EnumCodec) and isinstance(value, str):
        return codec.enum[value] if value in codec.enum.__members__ else None
    if isinstance(codec, ListCodec) and isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_value(codec.element, item) for item in value)
    if isinstance(value, str) and not isinstance(codec, StringCodec):
        return codec.decode(parse_attribute(Source(value, "<attribute>")))
    if isinstance(codec, DenseCodec):
        array = np.array(value)
        array.setflags(write=False)
        return DenseElements(_type_of(array), array)
    return _tuples(value)


def _tuples(value: object) -> Any:
    """Return lists and arrays as tuples, as attributes have them."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


# --- text -------------------------------------------------------------------------------------------------------------


def _type(given: str | Type) -> Type:
    if isinstance(given, Type):
        return given
    attribute = parse_attribute(Source(given, "<result>"))
    if not isinstance(attribute, TypeAttribute):
        raise ArgumentValueError(f"result: expected a type, got {given!r}")
    return attribute.type


def _types_in(text: str) -> list[Type]:
    """Return the types of operands that the generic form of an op has at its end; [] for another form."""
    _, separator, types = text.rpartition(" : (")
    if not (separator and text.lstrip().startswith('"')):
        return []
    try:
        found = _type(f"({types}")
    except StablehloError:
        return []  # which the parser reports
    return list(found.inputs) if isinstance(found, FunctionType) else []


def _parsed(text: str, types: Sequence[Type]) -> Block:
    """Return the block of ops that are written as the contents of a region, with arguments %0, %1, ... of `types`."""
    arguments = ", ".join(f"%{i}: {type}" for i, type in enumerate(types))
    header = f"^bb0({arguments}):" if types else ""
    wrapped = f'"{_WRAPPER}"() ({{ {header}\n{text}\n}}) : () -> ()'
    module = parse(wrapped, filename="<text>", first_line=0, allow_unregistered_dialect=True).module
    wrapper = module.regions[0].block.operations[0]
    if not (wrapper.name == _WRAPPER and len(wrapper.regions[0].blocks) == 1 and wrapper.regions[0].block.operations):
        raise ArgumentValueError(f"expected one block of ops, got {text!r}")
    for inner in wrapper.walk():
        if inner is not wrapper and inner.name not in REGISTRY:
            raise MalformedError(f"unknown op '{inner.name}'{did_you_mean(inner.name, REGISTRY)}", inner.location)
    return wrapper.regions[0].block


def _region_of(program: Program) -> Region:
    """Return the body of a program's entry as a region."""
    entry = functions(program.module)[program.entry.name]
    if len(entry.regions[0].blocks) != 1:
        raise ArgumentValueError(
            f"expected @{program.entry.name} to have one block, got {len(entry.regions[0].blocks)}"
        )
    block = clone(entry, {}).regions[0].block
    *ops, last = block.operations
    returns = build_operation("stablehlo.return", last.operands, (), last.location)
    return Region([Block(block.arguments, [*ops, returns])])
