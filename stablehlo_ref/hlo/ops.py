"""What each HLO op is in StableHLO: the ops of the table, and a function for each that is more than a row of it.

A converter takes the body that it adds to, the instruction, and the values of its operands, and returns its value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from stablehlo_ref.diagnostics import Location, MalformedError, Source, UnsupportedError
from stablehlo_ref.hlo.build import ComputationBody, Converter, Tree, flat, read
from stablehlo_ref.hlo.table import OPS, enum_of, members_of, regions_of
from stablehlo_ref.hlo.text import Instruction, Shape, flat_shapes
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import Attribute, DenseElements, IntegerAttribute
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import (
    BooleanType,
    ComplexType,
    FloatType,
    IntegerType,
    TensorType,
    Type,
    integer_type,
    tensor_type,
)
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.dtypes import bit_width, bits_dtype, mantissa_bits, numpy_dtype
from stablehlo_ref.ops.comparison import ComparisonDirection, ComparisonType
from stablehlo_ref.ops.random import RngDistribution
from stablehlo_ref.syntax.literals import LiteralError, filled
from stablehlo_ref.syntax.numbers import round_once
from stablehlo_ref.syntax.parser import parse_attribute

CONVERTERS: dict[str, Converter] = {}
_find_pairs = re.compile(r"\(([^(),{}]*),([^(),{}]*)\)").sub
_find_words = re.compile(r"[^\s{},]+").findall
_match_float = re.compile(
    r"[+\-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+\-]?\d+)?|inf|nan(?:\(0x([0-9a-fA-F]{1,16})\))?)"
).fullmatch
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}
MAX_DIGITS = 100  # of one integer


def to_module(source: Source) -> Operation:
    """Return the module of StableHLO that an HLO text stands for."""
    return read(source, CONVERTERS)


def _hlo(*opcodes: str) -> Callable[[Converter], Converter]:
    """Return a decorator for the converter of some ops."""

    def register(converter: Converter) -> Converter:
        CONVERTERS.update((opcode, converter) for opcode in opcodes)
        return converter

    return register


@_hlo(*OPS)
def _of_table(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, OPS[i.opcode], x, [b.applied(i, name) for name in regions_of(i)], members_of(i))


def _tensor(i: Instruction, tree: Tree) -> TensorType:
    """Return the type of an operand that must be an array."""
    if isinstance(tree, Value) and isinstance(tree.type, TensorType):
        return tree.type
    raise MalformedError(f"'{i.opcode}' takes an array, got a tuple or a token", i.location)


def _at(i: Instruction, x: Sequence[Tree], index: int) -> Tree:
    """Return an operand; MalformedError if there are too few."""
    if index < len(x):
        return x[index]
    raise MalformedError(f"'{i.opcode}' takes more than {len(x)} operands", i.location)


def _result(i: Instruction) -> TensorType:
    """Return the type of an instruction that must be an array."""
    if isinstance(i.shape, Shape) and isinstance(i.shape.type, TensorType):
        return i.shape.type
    raise UnsupportedError(f"'{i.opcode}' of tuples and tokens is not supported", i.location)


# --- values -----------------------------------------------------------------------------------------------------------


@_hlo("constant")
def _constant(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    type = _result(i)
    try:
        array = _literal(i.literal.text, type)
    except LiteralError as error:
        raise MalformedError(str(error), Location(i.location.source, i.literal.offset)) from None
    return b.emit(i, "stablehlo.constant", (), (), {"value": DenseElements(type, array)})


def _literal(text: str, type: TensorType) -> Array:
    """Return the read-only array of a literal such as `{ { 1, nan }, { -inf, 2 } }`; LiteralError if it is no such."""
    shape = tuple(size for size in type.shape if size is not None)
    if not type.is_static:
        raise LiteralError(f"a constant needs a static shape, got {type}")
    if "..." in text:
        raise LiteralError("the elements are left out; print the module with `print_large_constants=True`")
    text = re.sub(r"/\*.*?\*/", lambda comment: " " * len(comment[0]), text)
    element = type.element_type
    if isinstance(element, ComplexType):
        text = _find_pairs(lambda pair: f"{pair[1].strip()};{pair[2].strip()}", text)
    words = _find_words(text)
    is_splat = len(words) == 1 and "{" not in text
    if len(words) != (1 if is_splat else type.size):
        raise LiteralError(f"expected {type.size} elements of {type}, got {len(words)}")
    structure = re.sub(r"[^{},]+", "", text)
    if not is_splat and type.size and structure != _structure(shape):
        raise LiteralError(f"expected elements in braces as of shape ({', '.join(map(str, shape))})")
    values = _values(words, element)
    if is_splat:
        return filled(values, shape)
    values = values.reshape(shape)
    values.setflags(write=False)
    return values


def _structure(shape: tuple[int, ...]) -> str:
    """Return the braces and commas of a literal of a shape."""
    expected = ""
    for size in reversed(shape):
        expected = "{" + ",".join([expected] * size) + "}"
    return expected


def _values(words: list[str], element: Type) -> Array:
    match element:
        case BooleanType():
            checked = (_checked(word, word in _BOOLEANS, element) for word in within_time(words, "parsing"))
            return np.array([_BOOLEANS[word] for word in checked], np.bool_)
        case IntegerType():
            return _integers(words, element)
        case FloatType():
            return _floats(words, element)
        case ComplexType(element=FloatType() as part):
            pairs = [word.split(";") for word in words]
            for word, pair in zip(words, pairs):
                _checked(word, len(pair) == 2, element)
            return _floats([number for pair in pairs for number in pair], part).view(numpy_dtype(element))
    raise LiteralError(f"constants of {element} are not supported")


def _checked(word: str, is_good: object, type: Type) -> str:
    if not is_good:
        raise LiteralError(f"expected an element of {type}, got '{word[:60]}'")
    return word


def _integers(words: list[str], element: IntegerType) -> Array:
    low, high = element.range
    timed = within_time(words, "parsing")
    values = [int(_checked(w, len(w) < MAX_DIGITS and re.fullmatch(r"-?\d+", w), element)) for w in timed]
    for value, word in zip(values, words):
        _checked(word, low <= value <= high, element)
    wide = np.array(values, np.uint64 if low == 0 else np.int64)
    return wide.astype(numpy_dtype(element))


def _floats(words: list[str], element: FloatType) -> Array:
    matches = [_match_float(word) for word in within_time(words, "parsing")]
    for word, match in within_time(zip(words, matches), "parsing"):
        _checked(word, match, element)
    dtype = numpy_dtype(element)
    plain = [word.partition("(")[0] for word in words]
    rounded = np.array([float(word) for word in within_time(plain, "parsing")])
    values = np.array(round_once(rounded, dtype, " ".join(plain)))
    bits = values.view(bits_dtype(dtype))
    for index, match in enumerate(matches):
        if match and match[1]:  # the mantissa of a NaN
            payload = int(match[1], 16) & ((1 << mantissa_bits(dtype)) - 1)
            bits[index] = (int(bits[index]) >> mantissa_bits(dtype) << mantissa_bits(dtype)) | payload
    return values


@_hlo("tuple")
def _tuple(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    return tuple(x)


@_hlo("get-tuple-element")
def _get_tuple_element(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    index, operand = i.attributes.integer("index"), _at(i, x, 0)
    if isinstance(operand, Value) or not 0 <= index < len(operand):
        raise MalformedError(f"the operand has no element {index}", i.location)
    return operand[index]


@_hlo("copy", "domain", "add-dependency", "async-update")
def _identity(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    return _at(i, x, 0)


@_hlo("bitcast")
def _bitcast(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    """Read the bytes of an array, in the order of its layout, as those of another array in the order of its own."""
    operand, target = _tensor(i, _at(i, x, 0)), _result(i)
    value = x[0]
    assert isinstance(value, Value) and isinstance(i.shape, Shape)
    source = b.shapes[i.operands[0].text]
    before, after = source.layout if isinstance(source, Shape) else None, i.shape.layout
    widths = [bit_width(numpy_dtype(type.element_type)) for type in (operand, target)]
    if widths[0] != widths[1] or not operand.is_static or not target.is_static:
        raise UnsupportedError(f"'bitcast' from {operand} to {target} is not supported", i.location)
    if operand == target and _order(before, operand.rank) == _order(after, target.rank):
        return value

    def step(name: str, value: Value, shape: Sequence[int | None], element: Type, **members: object) -> Value:
        type = tensor_type(tuple(shape), element)
        return value if value.type == type and not members else b.add(name, [value], [type], i.location, (), members)[0]

    element, shape = operand.element_type, operand.shape
    major = _order(before, operand.rank)
    if major != tuple(range(operand.rank)):
        value = step("stablehlo.transpose", value, [shape[d] for d in major], element, permutation=major)
    major = _order(after, target.rank)
    value = step("stablehlo.reshape", value, [target.shape[d] for d in major], element)
    value = step("stablehlo.bitcast_convert", value, [target.shape[d] for d in major], target.element_type)
    if major != tuple(range(target.rank)):
        inverse = tuple(major.index(d) for d in range(target.rank))
        value = step("stablehlo.transpose", value, target.shape, target.element_type, permutation=inverse)
    value.name = i.name
    return value


def _order(layout: tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    """Return the dimensions from major to minor."""
    return tuple(range(rank)) if layout is None else tuple(reversed(layout))


# --- ops that are more than a row of the table ------------------------------------------------------------------------


@_hlo("compare")
def _compare(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    element = _tensor(i, _at(i, x, 0)).element_type
    is_unsigned = isinstance(element, BooleanType) or (isinstance(element, IntegerType) and not element.is_signed)
    order = i.attributes.text("order", "PARTIAL")
    if order not in ("PARTIAL", "TOTAL"):
        raise i.attributes.error("order", "PARTIAL or TOTAL")
    of_floats = "TOTALORDER" if order == "TOTAL" else "FLOAT"
    default = "UNSIGNED" if is_unsigned else "SIGNED" if isinstance(element, IntegerType) else of_floats
    direction = enum_of("direction", ComparisonDirection)(i)
    kind = enum_of("type", ComparisonType, default)(i)
    return b.emit(i, "stablehlo.compare", x, (), {"comparison_direction": direction, "compare_type": kind})


@_hlo("topk")
def _top_k(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    if not i.attributes.flag("largest"):
        raise UnsupportedError("'topk' of the smallest elements is not supported", i.location)
    return b.emit(i, "chlo.top_k", x, (), {"k": i.attributes.integer("k")})


@_hlo("rng")
def _rng(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    type = tensor_type((_result(i).rank,), integer_type(64))
    sizes = np.array(_result(i).shape, np.int64)
    sizes.setflags(write=False)
    shape = b.add("stablehlo.constant", (), [type], i.location, (), {"value": DenseElements(type, sizes)})[0]
    distribution = enum_of("distribution", RngDistribution)(i)
    return b.emit(i, "stablehlo.rng", [*x, shape], (), {"rng_distribution": distribution})


@_hlo("call", "fusion")
def _call(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    return b.call(i, "to_apply" if i.opcode == "call" else "calls", x)


@_hlo("conditional")
def _conditional(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    names = ("true_computation", "false_computation")
    if "branch_computations" in i.attributes:
        count = len(i.attributes.names("branch_computations"))
        computations = [b.computation_named(i, "branch_computations", index) for index in range(count)]
    else:
        computations = [b.computation_named(i, name) for name in names]
    if len(x) != len(computations) + 1:
        message = f"expected an operand for each of {len(computations)} branches, got {len(x) - 1}"
        raise MalformedError(message, i.location)
    regions = [b.branch(i, computation, operand) for computation, operand in zip(computations, x[1:])]
    is_boolean = isinstance(_tensor(i, x[0]).element_type, BooleanType)
    return b.emit(i, "stablehlo.if" if is_boolean else "stablehlo.case", x[:1], regions)


@_hlo("custom-call")
def _custom_call(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    a = i.attributes
    versions = ("API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED")
    version = a.text("api_version", versions[0])
    if version not in (*versions, "API_VERSION_TYPED_FFI"):
        raise a.error("api_version", "a version of the interface")
    number = versions.index(version) + 1 if version in versions else 4
    attributes: dict[str, Attribute] = {
        "call_target_name": a.string("custom_call_target"),
        "api_version": IntegerAttribute(number, integer_type(32)),
        "has_side_effect": a.flag("custom_call_has_side_effect"),
    }
    config = a.text("backend_config", "")
    if config and number == 4:
        attributes["mhlo.backend_config"] = parse_attribute(Source(config, i.location.source.filename))
    elif config:
        attributes["backend_config"] = a.string("backend_config") if config[0] == '"' else config
    members: dict[str, object] = {}
    if layouts := re.findall(r"\w+\[[^\]]*\](?:\{([\d,]*)[^}]*\})?", a.text("operand_layout_constraints", "")):
        members["operand_layouts"] = tuple(tuple(map(int, filter(None, text.split(",")))) for text in layouts)
        members["result_layouts"] = tuple(shape.layout or () for shape in flat_shapes(i.shape))
    if "called_computations" in a:
        count = len(a.names("called_computations"))
        called = [b.computation_named(i, "called_computations", index) for index in range(count)]
        members["called_computations"] = tuple(map(b.builder.symbol, called))
    return b.emit(i, "stablehlo.custom_call", x, (), members, attributes)


@_hlo("all-to-all")
def _all_to_all(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    """Exchange the parts of an array; or an array for each process of a group, put together along a new dimension."""
    if isinstance(i.shape, Shape):
        return _of_table(b, i, x)
    types = [_tensor(i, value) for value in x]
    if len(set(types)) != 1 or not types[0].is_static or [shape.type for shape in flat_shapes(i.shape)] != types:
        raise MalformedError("expected operands and results of one type", i.location)
    count, part = len(x), types[0]

    def shaped(rows: int) -> TensorType:
        return tensor_type((rows, *part.shape), part.element_type)

    def step(name: str, values: Sequence[Value], type: TensorType, **members: object) -> Value:
        return b.add(f"stablehlo.{name}", values, [type], i.location, (), members)[0]

    rows = [step("reshape", [value], shaped(1)) for value in flat(tuple(x))]
    whole = step("concatenate", rows, shaped(count), dimension=0)
    members = {**members_of(i), "split_count": count}
    exchanged = step("all_to_all", [whole], shaped(count), **members)
    found = []
    for row in range(count):
        start, limit = (row, *[0] * part.rank), (row + 1, *part.shape)
        strides = (1,) * (part.rank + 1)
        taken = step("slice", [exchanged], shaped(1), start_indices=start, limit_indices=limit, strides=strides)
        found.append(step("reshape", [taken], part))
    return tuple(found)


@_hlo("after-all")
def _after_all(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    return b.emit(i, "stablehlo.after_all" if x else "stablehlo.create_token", x)


# --- asynchronous ops, which are done when they start -----------------------------------------------------------------

STARTS = ("all-gather", "all-reduce", "call", "collective-permute", "copy", "custom-call", "fusion", "reduce-scatter")


@_hlo("async-start", *(f"{name}-start" for name in STARTS))
def _start(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    """Return the operands and the result, as a pair."""
    if i.opcode == "all-reduce-start":
        return tuple(x), _of_table(b, replace(i, opcode="all-reduce"), x)
    index = 0 if i.opcode == "copy-start" else 1
    if isinstance(i.shape, Shape) or len(i.shape) < 2:
        raise MalformedError(f"expected a tuple of operands and results as the shape of '{i.opcode}'", i.location)
    started = replace(i, shape=i.shape[index])
    if i.opcode == "async-start":
        return tuple(x), b.call(started, "calls", x)
    started = replace(started, opcode=i.opcode.removesuffix("-start"))
    return tuple(x), CONVERTERS[started.opcode](b, started, x)


@_hlo("async-done", *(f"{name}-done" for name in STARTS))
def _done(b: ComputationBody, i: Instruction, x: list[Tree]) -> Tree:
    started = _at(i, x, 0)
    if isinstance(started, Value) or len(started) != 2:
        raise MalformedError(f"expected an operand that was started, as of '{i.opcode}'", i.location)
    return started[1]
