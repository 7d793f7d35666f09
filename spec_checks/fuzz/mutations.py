"""Changes of text, of structure, of inputs and of command lines; most of what comes out is invalid."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import ml_dtypes
import numpy as np

import stablehlo_ref as sr
from stablehlo_ref.arrays.random_values import random_array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.flat import flatten, restore
from stablehlo_ref.ir.types import TensorType, TokenType
from stablehlo_ref.syntax.printer import print_operation

MAX_ELEMENTS = 1 << 20  # of an input
TOKEN = re.compile(r'"[^"\n]*"|[%@#!^][\w$.\-#]+|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z_][\w.$]*|->|\s+|.', re.S)
NUMBERS = (
    "0", "1", "-1", "2", "3", "7", "64", "65", "255", "-128", "2147483648", "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808", "18446744073709551616", "1" * 50, "1e400", "-0.0", "0x7FC00000", "1.5", "?",
)  # fmt: skip
WORDS = (
    "tensor<2xf32>", "tensor<?x2xf32>", "tensor<*xf32>", "tensor<0x3xi1>", "tensor<f8E4M3FN>",
    "tensor<4x!quant.uniform<i8:f32, 0.5:3>>",
    "complex<f32>", "!stablehlo.token", "tuple<tensor<f32>>", "i1", "index", "none", "ui64", "tf32", "()", "<>",
    "[]", "{}", "({})", "dense<1.0>",
    "dense<[]>", "dense<[[1], [2, 3]]>", 'dense<"0x00">', "array<i64: 1, 2>", "array<i64>", "unit", "loc(unknown)",
    "@main", "%arg0", "^bb0", "#stablehlo.gather<>",
    "stablehlo.add", "stablehlo.while", "stablehlo.return", "func.return", "stablehlo.reduce",
    "stablehlo.custom_call", "chlo.top_k", "cond", "do", "across", "applies",
    "\0", "\u201c", "é", "\U0001f600",
    '"', "\\", "//", "/*", "<" * 300, "(" * 3000, "{" * 500, "tuple<" * 200, "NaN", "true",
)  # fmt: skip
BAD_INPUTS: Sequence[Callable[[np.ndarray], Any]] = (
    lambda x: None, lambda x: "text", lambda x: b"bytes", lambda x: object(), lambda x: x.tolist(),
    lambda x: [[1], [2, 3]],
    lambda x: np.ma.masked_array(x), lambda x: x.astype(object), lambda x: x[..., None],
    lambda x: np.zeros((0, *x.shape)),
    lambda x: x.astype(np.complex128), lambda x: np.zeros(x.shape, ml_dtypes.bfloat16),
    lambda x: np.zeros(x.shape, "M8[s]"),
    lambda x: np.zeros(x.shape, [("a", "f4")]), lambda x: np.asfortranarray(x), lambda x: x[::-1] if x.ndim else x,
    lambda x: x.astype(x.dtype.newbyteorder(">")) if x.dtype.isbuiltin == 1 else x, lambda x: {"x": x},
    lambda x: (x, x), lambda x: float("nan"),
    lambda x: 10**400, lambda x: np.broadcast_to(np.float32(1), (1 << 40,)), lambda x: np.full(x.shape, np.nan),
    lambda x: x.astype("S3"),
    lambda x: iter([1]), lambda x: int, lambda x: np.float64(3), lambda x: True, lambda x: -(2**63),
    lambda x: np.frombuffer(b"\1" * (x.nbytes + 1), np.uint8),
)  # fmt: skip
OPTIONS = (
    "--args", "--input", "--inputs", "--output", "--entry", "--random-inputs", "--profile", "-v", "--max-seconds",
    "--dim", "--limits",
    "--num-replicas", "--num-partitions", "--split-input-file", "--help", "--version", "--list-ops", "--rng-seed",
    "--random-weights", "--probe-output-dir",
    "opt", "translate", "link", "aliases", "run", "--", "-", "--verify-diagnostics", "--inline", "--cse",
    "--canonicalize", "--emit-bytecode", "--serialize",
    "--interpret", "--deserialize", "--target", "--pass-pipeline", "-o", "--allow-unregistered-dialect",
    "--max-bytes",
)  # fmt: skip
VALUES = (
    "0", "-1", "1", "9" * 30, "x=0.5", "x=", "=", "main", "[]", "[dense<1.0> : tensor<2xf32>]",
    "[dense<", "/dev/null", "missing.npy", "nan", "x:0=3", "*=2",
    "1.9.0", "builtin.module(inline)", "", "\u00e9", "%0", "1e9", "/", ".",
)  # fmt: skip


# --- text ------------------------------------------------------------------------------------------------------------


def text(random: Random, program: str) -> str:
    """Return a program with a few changes to its tokens."""
    tokens = TOKEN.findall(program)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        if not tokens:
            break
        _change_token(random, tokens)
    return "".join(tokens)


def _change_token(random: Random, tokens: list[str]) -> None:
    i, j = random.randrange(len(tokens)), random.randrange(len(tokens))
    same = [t for t in set(tokens) if t[:1] == tokens[i][:1] and t != tokens[i]] or [random.choice(tokens)]
    match random.choice((0, 1, 2, 3, 3, 3, 4, 5, 6, 6, 6, 7, 8)):  # most often a token of the same kind, or a number
        case 0:
            del tokens[i]
        case 1:
            tokens.insert(i, tokens[j])
        case 2:
            tokens[i], tokens[j] = tokens[j], tokens[i]
        case 3 | 4:
            tokens[i] = random.choice(sorted(same))
        case 5:
            tokens[i] = random.choice(WORDS)
        case 6:
            numbers = [k for k, t in enumerate(tokens) if t.lstrip("-")[:1].isdigit()] or [i]
            tokens[random.choice(numbers)] = random.choice(NUMBERS)
        case 7:
            del tokens[i : i + random.randint(1, 30)]
        case 8:
            characters = list(tokens[i])
            characters[random.randrange(len(characters))] = chr(
                random.choice((0, 9, 34, 37, 45, 60, 62, 123, 127, 0xFFFD))
            )
            tokens[i] = "".join(characters)


def data(random: Random, contents: bytes) -> bytes:
    """Return bytes with a few changes."""
    changed = bytearray(contents)
    for _ in range(random.choice((1, 1, 2, 4))):
        i = random.randrange(len(changed) or 1)
        match random.randrange(4):
            case 0:
                changed[i : i + 1] = bytes([random.randrange(256)])
            case 1:
                del changed[i : i + random.randint(1, 4)]
            case 2:
                changed[i:i] = random.randbytes(random.randint(1, 4))
            case 3:
                changed[i:i] = changed[: random.randrange(64)]
    return bytes(changed)


# --- structure -------------------------------------------------------------------------------------------------------


def structure(random: Random, module: Operation) -> str:
    """Return the generic text of a program with changed operands, types, attributes or order of ops."""
    module = restore(flatten(module))
    for _ in range(random.choice((1, 1, 2))):
        ops = [op for op in module.walk() if op.name not in ("builtin.module", "func.func")]
        if ops:
            _change_op(random, random.choice(ops), ops)
    return print_operation(module, generic=random.random() < 0.7)


def _change_op(random: Random, op: Operation, ops: Sequence[Operation]) -> None:
    other = random.choice(ops)
    values = [value for o in ops for value in (*o.operands, *o.results)]
    match random.randrange(8):
        case 0 if op.operands:
            op.operands[random.randrange(len(op.operands))] = random.choice(values)
        case 1 if op.operands:
            del op.operands[random.randrange(len(op.operands))]
        case 2 if values:
            op.operands.append(random.choice(values))
        case 3 if op.results:
            result = random.choice(op.results)
            result.type = _changed_type(random, result.type, random.choice(values).type)
        case 4 if op.parent and len(op.parent.operations) > 1:
            op.parent.operations.remove(op)
        case 5 if op.regions:
            blocks = random.choice(op.regions).blocks
            random.choice((blocks.clear, op.regions.clear))()
        case 6:
            op.name = other.name
        case _:
            if op.properties:
                name = random.choice(sorted(op.properties))
                op.properties[name] = _changed(random, op.properties[name])


def _changed_type(random: Random, type: Any, other: Any) -> Any:
    if not isinstance(type, TensorType) or random.random() < 0.3:
        return other
    shape = list(type.shape)
    if random.random() < 0.5 and isinstance(other, TensorType):
        return TensorType(tuple(shape), other.element_type)
    shape.insert(random.randint(0, len(shape)), random.choice((0, 1, 2, 5, None, 1 << 40)))
    return TensorType(tuple(shape[random.randint(0, 1) :]), type.element_type)


def _changed(random: Random, value: Any) -> Any:
    """Return another value of the same kind, where that is known."""
    match value:
        case bool():
            return not value
        case int():
            return random.choice((value + 1, value - 1, -value, 0, 1 << 62, -(1 << 63)))
        case float():
            return random.choice((0.0, -value, float("nan"), float("inf")))
        case str():
            return random.choice(("", value + "x", "main"))
        case tuple() if value:
            i = random.randrange(len(value))
            part = _changed(random, value[i])
            return random.choice(
                (value[:i] + value[i + 1 :], (*value, value[i]), (*value[:i], part, *value[i + 1 :]), ())
            )
    return value


# --- inputs and command lines ----------------------------------------------------------------------------------------


def inputs(random: Random, arrays: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return arguments of `run`, by position and by name, most of which do not fit."""
    changed = list(arrays)
    for _ in range(random.choice((1, 1, 2))):
        if changed:
            i = random.randrange(len(changed))
            array = np.asarray(changed[i]) if isinstance(changed[i], np.ndarray | np.generic) else np.zeros(2)
            with suppress(TypeError, MemoryError):  # of numpy: dtypes that it cannot convert, huge arrays
                changed[i] = random.choice(BAD_INPUTS)(array)
    if random.random() < 0.2:
        changed = changed[random.randint(0, 1) :] + [np.zeros(3)] * random.randint(0, 2)
    named = {random.choice(("x", "arg0", "arg1", "limits", "%arg0", "")): np.zeros(2)} if random.random() < 0.2 else {}
    return changed, {name: value for name, value in named.items() if name != "limits"}


def command_line(random: Random, file: Path) -> list[str]:
    """Return arguments of the command, most of which it does not take."""
    words = [random.choice(OPTIONS if random.random() < 0.6 else VALUES) for _ in range(random.randint(0, 4))]
    words.insert(random.randint(0, len(words)), str(file))
    writes = {"-o", "--output", "aliases", "--probe-output-dir"}  # to files with names of the list
    return [word for word in words if word not in writes]


def random_inputs(random: Random, program: sr.Program) -> list[Any]:
    """Return inputs that fit; EvaluationError if some cannot be drawn."""
    generator = np.random.default_rng(random.getrandbits(32))
    return [_random_input(generator, random, parameter) for parameter in program.inputs]


def _random_input(generator: np.random.Generator, random: Random, parameter: sr.Parameter) -> Any:
    if isinstance(parameter.type, TokenType):
        return None
    if parameter.dtype is None:
        raise sr.EvaluationError("not drawn", parameter.location)
    shape = parameter.shape if isinstance(parameter.type, TensorType) else ()
    sizes = tuple(random.randint(1, 3) if size is None else size for size in shape)
    if int(np.prod(sizes, dtype=object)) > MAX_ELEMENTS:
        raise sr.EvaluationError("too large", parameter.location)
    return random_array(generator, parameter.dtype, sizes)
