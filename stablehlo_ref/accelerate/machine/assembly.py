"""LLVM's assembly language of one function while it is written: types, literals, and instructions line by line.

Scalars, and tensors of one element, are scalars of LLVM; some elements of others are vectors of it.
Instructions have no flags such as `fast`, `nsw` or `contract`, so LLVM may not change what they compute. In memory a
boolean is a byte, as in numpy's arrays.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from stablehlo_ref.accelerate.ir import NotCompiled
from stablehlo_ref.ir.arrays import DType
from stablehlo_ref.numerics.dtypes import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, UINT8, UINT16, signed_bits_dtype
from stablehlo_ref.numerics.nans import canonical_nans

INDEX, INT32 = np.dtype(np.int64), np.dtype(np.int32)
NARROW = (BFLOAT16, FLOAT16)  # types of elements in memory, whose values are f32 in registers
ALIGNMENT = 32  # bytes, of variables
MAX_STACK = 1 << 18  # bytes of variables of a function: threads have stacks of 512 KiB on macOS
_ELEMENTS = {"f2": "half", "f4": "float", "f8": "double"}
_MANGLED = {"float": "f32", "double": "f64"}
ROUNDER = 1.5 * 2.0**52  # added and subtracted, it rounds to an integer; the sum has its low bits


def computed(dtype: DType) -> DType:
    """Return the dtype in registers of elements of a dtype."""
    return FLOAT32 if dtype in NARROW else dtype


@dataclass(frozen=True)
class Kind:
    """The type of a value in registers: `count` elements of a dtype of numpy's own."""

    dtype: DType
    count: int = 1

    @property
    def element(self) -> str:
        if self.dtype == BOOL:
            return "i1"
        return _ELEMENTS.get(self.dtype.str[1:]) or f"i{8 * self.dtype.itemsize}"

    @property
    def mangled(self) -> str:
        """The type in names of intrinsics."""
        element = _MANGLED.get(self.element, self.element)
        return element if self.count == 1 else f"v{self.count}{element}"

    def __str__(self) -> str:
        return self.element if self.count == 1 else f"<{self.count} x {self.element}>"

    def of(self, dtype: DType) -> Kind:
        """Return the kind of as many elements of another dtype."""
        return replace(self, dtype=dtype)

    @property
    def stored(self) -> Kind:
        """The kind in memory."""
        return self.of(UINT8) if self.dtype == BOOL else self.of(UINT16) if self.dtype in NARROW else self


@dataclass(frozen=True)
class Register:
    """A value in registers: the name of an instruction's result, or a literal."""

    name: str
    kind: Kind

    def __str__(self) -> str:
        return self.name


def literal(kind: Kind, values: Any) -> Register:
    """Return a constant: one value for all elements, or an array of them."""
    elements = np.asarray(values, kind.dtype).reshape(-1)
    texts = [_number(kind, x) for x in elements] * (kind.count if elements.size == 1 else 1)
    text = texts[0] if kind.count == 1 else f"<{', '.join(f'{kind.element} {text}' for text in texts)}>"
    return Register(text, kind)


def _number(kind: Kind, value: Any) -> str:
    if kind.dtype == BOOL:
        return "true" if value else "false"
    if kind.dtype.kind != "f":
        return str(int(value))
    if kind.dtype == FLOAT32 and value != value:
        return f"bitcast (i32 {int(value.view(np.uint32))} to float)"
    return f"0x{struct.unpack('>Q', struct.pack('>d', float(value)))[0]:016X}"  # also of an f32, exactly


class Assembly:
    """Appends instructions to the body of the function `run`; each returns the register of its result."""

    def __init__(self) -> None:
        self.entry: list[str] = []  # instructions that run once, before the body
        self.lines: list[Any] = []  # and lists of lines, which others may still add to
        self.declared: dict[str, str] = {}  # intrinsics
        self._count = 0
        self.stack = 0  # bytes of variables

    @property
    def text(self) -> str:
        """The module: `i64 run(ptr words, ptr renew, i64 turns)`, and what it declares."""
        head = "define i64 @run(ptr %words, ptr %renew, i64 %turns) {"
        lines = [*self.entry, "  br label %start", "start:", *_flat(self.lines)]
        return "\n".join([*self.declared.values(), head, *lines, "}"]) + "\n"

    def name(self, prefix: str = "v") -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def let(self, text: str, kind: Kind) -> Register:
        register = Register(f"%{self.name()}", kind)
        self.lines.append(f"  {register} = {text}")
        return register

    def do(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    @contextmanager
    def at(self, lines: list[Any]) -> Iterator[None]:
        """Append what is written inside to other lines."""
        before, self.lines = self.lines, lines
        try:
            yield
        finally:
            self.lines = before

    def count(self, start: int | Register, stop: Register, step: int, body: Callable[[Register], None]) -> None:
        """Append a loop: `body` for the numbers from `start` on that are below `stop`."""
        cell = self.variable(start if isinstance(start, Register) else literal(stop.kind, start))
        head, inside, after = (self.name("E") for _ in range(3))
        self.do(f"br label %{head}")
        self.label(head)
        i = self.load(cell, stop.kind)
        self.do(f"br i1 {self.compare('slt', i, stop)}, label %{inside}, label %{after}")
        self.label(inside)
        body(i)
        self.store(self.binary("add", i, literal(stop.kind, step)), cell)
        self.do(f"br label %{head}")
        self.label(after)

    # --- elements -----------------------------------------------------------------------------------------------

    def binary(self, instruction: str, x: Register, y: Register) -> Register:
        return self.let(f"{instruction} {x.kind} {x}, {y}", x.kind)

    def compare(self, predicate: str, x: Register, y: Register) -> Register:
        instruction = "fcmp" if x.kind.dtype.kind == "f" else "icmp"
        return self.let(f"{instruction} {predicate} {x.kind} {x}, {y}", x.kind.of(BOOL))

    def select(self, condition: Register, x: Register, y: Register) -> Register:
        return self.let(f"select {condition.kind} {condition}, {x.kind} {x}, {y.kind} {y}", x.kind)

    def rarely(self, condition: Register) -> Register:
        """Return a condition of a branch that is hardly ever taken."""
        return self.intrinsic("expect", condition, literal(condition.kind, False))

    def cast(self, instruction: str, x: Register, dtype: DType) -> Register:
        kind = x.kind.of(dtype)
        return self.let(f"{instruction} {x.kind} {x} to {kind}", kind)

    def intrinsic(self, name: str, *operands: Register, result: Kind | None = None, extra: str = "") -> Register:
        """Append a call of an intrinsic, whose name ends with its types; `extra` is a further argument."""
        kind = result or operands[0].kind
        types = kind.mangled if result is None else f"{kind.mangled}.{operands[0].kind.mangled}"
        parameters = [str(x.kind) for x in operands] + ([extra.split()[0]] if extra else [])
        symbol = f"@llvm.{name}.{types}"
        self.declared[symbol] = f"declare {kind} {symbol}({', '.join(parameters)})"
        arguments = [f"{x.kind} {x}" for x in operands] + ([extra] if extra else [])
        return self.let(f"call {kind} {symbol}({', '.join(arguments)})", kind)

    def splat(self, x: Register, count: int) -> Register:
        """Return `count` times a scalar."""
        kind = replace(x.kind, count=count)
        if count == 1:
            return x
        first = self.let(f"insertelement {kind} poison, {x.kind} {x}, i64 0", kind)
        zeros = ", ".join(["i32 0"] * count)
        return self.let(f"shufflevector {kind} {first}, {kind} poison, <{count} x i32> <{zeros}>", kind)

    def element(self, x: Register, index: int) -> Register:
        if x.kind.count == 1:
            return x
        return self.let(f"extractelement {x.kind} {x}, i64 {index}", replace(x.kind, count=1))

    def shuffled(self, x: Register, places: Sequence[int]) -> Register:
        """Return the elements of a vector at places."""
        if len(places) == 1:
            return self.element(x, places[0])
        mask, kind = ", ".join(f"i32 {n}" for n in places), replace(x.kind, count=len(places))
        return self.let(f"shufflevector {x.kind} {x}, {x.kind} poison, <{len(places)} x i32> <{mask}>", kind)

    def canonical(self, x: Register) -> Register:
        """Replace NaNs by the canonical one.

        LLVM does not define the bits of a NaN that an operation returns, and leaves out a selection between NaN and the
        square root of a negative number. So where there are square roots, bits are tested and selected as integers,
        which takes longer.
        """
        nan = canonical_nans(x.kind.dtype)(np.array(np.nan, x.kind.dtype))
        if not any(symbol.startswith("@llvm.sqrt") for symbol in self.declared):
            return self.select(self.compare("uno", x, x), literal(x.kind, nan), x)
        dtype = signed_bits_dtype(x.kind.dtype)
        bits, infinity = self.cast("bitcast", x, dtype), np.array(np.inf, x.kind.dtype)
        magnitude = self.binary("and", bits, literal(bits.kind, np.iinfo(dtype).max))
        is_nan = self.compare("sgt", magnitude, literal(bits.kind, infinity.view(dtype)))
        return self.cast("bitcast", self.select(is_nan, literal(bits.kind, nan.view(dtype)), bits), x.kind.dtype)

    # --- narrow floats ------------------------------------------------------------------------------------------

    def widened(self, bits: Register, dtype: DType) -> Register:
        """Return the f32 values of bits of a narrow type."""
        if dtype == FLOAT16:
            kind = bits.kind.of(FLOAT16)
            return self.cast("fpext", self.let(f"bitcast {bits.kind} {bits} to {kind}", kind), FLOAT32)
        wide = self.cast("zext", bits, INT32)
        return self.cast("bitcast", self.binary("shl", wide, literal(wide.kind, 16)), FLOAT32)

    def narrowed(self, x: Register, dtype: DType) -> Register:
        """Return the bits of f32 values that a narrow type has."""
        if dtype == FLOAT16:
            half = self.cast("fptrunc", x, FLOAT16)
            return self.let(f"bitcast {half.kind} {half} to {x.kind.of(UINT16)}", x.kind.of(UINT16))
        bits = self.cast("bitcast", x, INT32)
        return self.cast("trunc", self.binary("lshr", bits, literal(bits.kind, 16)), UINT16)

    def rounded(self, x: Register, dtype: DType) -> Register:
        """Return the nearest values of a narrow type, those of even bits if two are as near."""
        if dtype == FLOAT16:
            return self.widened(self.narrowed(x, dtype), dtype)
        bits = self.cast("bitcast", x, INT32)
        number = partial(literal, bits.kind)
        odd = self.binary("and", self.binary("lshr", bits, number(16)), number(1))
        up = self.binary("add", bits, self.binary("add", odd, number(0x7FFF)))
        nan = self.binary("or", self.binary("and", bits, number(-(1 << 31))), number(0x7FC00000))  # without payload
        nearest = self.select(self.compare("uno", x, x), nan, up)
        return self.cast("bitcast", self.binary("and", nearest, number(-0x10000)), FLOAT32)

    # --- memory -------------------------------------------------------------------------------------------------

    def cell(self, kind: Kind) -> str:
        """Return the pointer to a variable of the function; NotCompiled if they need too much of the stack."""
        self.stack += -(-kind.count * kind.dtype.itemsize // ALIGNMENT) * ALIGNMENT
        if self.stack > MAX_STACK:
            raise NotCompiled(f"variables of more than {MAX_STACK} bytes")
        name = f"%{self.name('c')}"
        self.entry.append(f"  {name} = alloca [{kind.count} x {kind.stored.element}], align {ALIGNMENT}")
        return name

    def variable(self, value: Register) -> str:
        """Return the pointer to a variable that holds a value from here on."""
        cell = self.cell(value.kind)
        self.store(value, cell)
        return cell

    def address(self, pointer: str, offset: Register, kind: Kind) -> str:
        """Return the pointer to the element number `offset` of an array."""
        return self.let(f"getelementptr {kind.stored.element}, ptr {pointer}, i64 {offset}", Kind(INDEX)).name

    def integers(self, numbers: Sequence[int]) -> str:
        """Return a pointer to constant integers."""
        name = f"@{self.name('k')}"
        elements = ", ".join(f"i64 {n}" for n in numbers)
        self.declared[name] = f"{name} = private constant [{len(numbers)} x i64] [{elements}]"
        return name

    def load(self, pointer: str, kind: Kind) -> Register:
        loaded = self.let(f"load {kind.stored}, ptr {pointer}, align {kind.dtype.itemsize}", kind.stored)
        if kind.dtype in NARROW:
            return self.widened(loaded, kind.dtype)
        return self.compare("ne", loaded, literal(kind.stored, 0)) if kind.dtype == BOOL else loaded

    def store(self, x: Register, pointer: str, dtype: DType | None = None) -> None:
        """Store a value, of f32 as a narrower `dtype` that has it."""
        stored = self.cast("zext", x, UINT8) if x.kind.dtype == BOOL else x
        if dtype in NARROW:
            stored = self.narrowed(x, dtype)
        self.do(f"store {stored.kind} {stored}, ptr {pointer}, align {stored.kind.dtype.itemsize}")


def _flat(lines: Sequence[Any]) -> Iterator[str]:
    """Yield lines, and those in nested lists, in order."""
    for line in lines:
        yield from (line,) if isinstance(line, str) else _flat(line)


def _arithmetic(instruction: str) -> Callable[[Vectors, Register | float, Register | float], Register]:
    return lambda f, x, y: f.code.binary(instruction, f._operand(x), f._operand(y))


class Vectors:
    """Instructions on vectors of f64."""

    def __init__(self, code: Assembly, count: int) -> None:
        self.code = code
        self.kind = Kind(FLOAT64, count)

    def number(self, value: float) -> Register:
        return literal(self.kind, value)

    def integer(self, value: int) -> Register:
        return literal(self.kind.of(INDEX), value)

    add, subtract, multiply, divide = map(_arithmetic, ("fadd", "fsub", "fmul", "fdiv"))

    def multiply_add(self, x: Register, y: Register | float, z: Register | float) -> Register:
        """Return x*y + z, rounded once where the processor has an instruction for that, else twice."""
        return self.code.intrinsic("fmuladd", x, self._operand(y), self._operand(z))

    def polynomial(self, x: Register, coefficients: Sequence[float]) -> Register:
        """Return a polynomial, from its coefficients in increasing order.

        Horner's scheme computes its even and its odd part, side by side, as each step waits for the one before.
        """
        square = self.multiply(x, x)
        odd, even = self._horner(square, coefficients[1::2]), self._horner(square, coefficients[::2])
        return self.multiply_add(odd, x, even)

    def _horner(self, x: Register, coefficients: Sequence[float]) -> Register:
        result = self.number(coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            result = self.multiply_add(result, x, coefficient)
        return result

    def clamp(self, x: Register, low: float, high: float) -> Register:
        """Return a number within limits; NaN for NaN."""
        code = self.code
        x = code.select(code.compare("olt", x, self.number(low)), self.number(low), x)
        return code.select(code.compare("ogt", x, self.number(high)), self.number(high), x)

    def choose(self, predicate: str, x: Register, limit: float, then: Register, otherwise: Register) -> Register:
        return self.code.select(self.code.compare(predicate, x, self.number(limit)), then, otherwise)

    def bits(self, x: Register) -> Register:
        return self.code.cast("bitcast", x, INDEX)

    def from_bits(self, x: Register) -> Register:
        return self.code.cast("bitcast", x, FLOAT64)

    def _operand(self, x: Register | float) -> Register:
        return x if isinstance(x, Register) else self.number(x)
