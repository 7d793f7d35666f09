"""Chains before they are compiled: the same bits as from their ops in the order of the program."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from math import prod

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from spec_checks.layouts import LAYOUTS
from stablehlo_ref.accelerate import chains
from stablehlo_ref.accelerate.machine.compiler import is_available

DTYPES = {
    "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f16": np.float16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "i32": np.int32, "i8": np.int8, "ui16": np.uint16, "i64": np.int64,
    "i4": ml_dtypes.int4, "i1": np.bool_, "complex<f32>": np.complex64,
}  # fmt: skip
FLOATS = ("f32", "f64", "bf16", "f16", "f8E4M3FN")
INTEGERS = ("i32", "i8", "ui16", "i64", "i4")
COMMON = ("abs", "negate", "sign", "add", "subtract", "multiply", "maximum", "minimum")
UNARY = {
    **dict.fromkeys(
        FLOATS,
        ("abs", "negate", "sign", "floor", "sqrt", "sqrt", "rsqrt", "exponential", "tanh", "logistic", "sine", "log"),
    ),
    **dict.fromkeys(INTEGERS, ("not", "popcnt")),
    "i1": ("not",),
    "complex<f32>": ("negate", "sign"),
}
BINARY = {
    **dict.fromkeys(FLOATS, ("add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder", "power")),
    **dict.fromkeys(INTEGERS, ("add", "subtract", "multiply", "divide", "maximum", "and", "xor", "shift_left")),
    "i1": ("and", "or", "xor"),
    "complex<f32>": ("add", "multiply", "divide"),
}
REDUCTIONS = {
    **dict.fromkeys(FLOATS, ("add", "maximum", "minimum", "multiply")),
    **dict.fromkeys(INTEGERS, ("add", "maximum")),
    "i1": ("or",),
    "complex<f32>": ("add",),
}
SHAPES = [(7, 9), (64,), (65,), (3, 5, 11), (40, 3), (2, 40), (1, 64), (5, 1, 17), (130, 2), (2, 2, 33)]


pytestmark = pytest.mark.skipif(not is_available(), reason="no llvmlite (the extra jit), or no jit")


@pytest.fixture
def small_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make chains of ops on small tensors."""
    monkeypatch.setattr(chains, "SIZE", 32)
    monkeypatch.setattr(chains, "WORK", 0)


def type_text(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


class Writer:
    """Writes a random program of ops on tensors of one shape, and of views and reductions of these.

    Tensors are of one of `elements`, and may be of any element type if there are none.
    """

    def __init__(self, seed: int, elements: Sequence[str] = ()) -> None:
        self.random = random.Random(seed)
        self.converted = [e for e in elements or DTYPES if e != "complex<f32>"]
        self.shape = self.random.choice(SHAPES)
        self.lines: list[str] = []
        self.arguments: list[tuple[str, tuple[int, ...], str]] = []
        self.values: list[tuple[str, tuple[int, ...], str]] = []  # name, shape, element type
        for _ in range(self.random.randint(1, 3)):
            self.argument(self.shape, self.random.choice(elements or [*DTYPES, "f32", "f32", "bf16"]))

    def argument(self, shape: tuple[int, ...], element: str) -> str:
        name = f"%arg{len(self.arguments)}"
        self.arguments.append((name, shape, element))
        self.values.append((name, shape, element))
        return name

    def emit(self, text: str, shape: tuple[int, ...], element: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.values.append((name, shape, element))
        return self.emit(text, shape, element) if self.random.random() < 0.1 else name  # the same again

    def of(self, shape: tuple[int, ...], element: str) -> str:
        """Return the name of a value of this type, recent ones more often, or of a new one."""
        found = [name for name, s, e in self.values if (s, e) == (shape, element)]
        if found and self.random.random() < 0.85:
            return self.random.choice(found[-4:])
        kind = self.random.choice(("argument", "scalar", "row", "column", "convert"))
        if kind == "convert":
            name, _, other = self.random.choice([v for v in self.values if v[1] == self.shape])
            if shape == self.shape and "complex" not in other:
                return self.convert(name, other, element)
        if kind == "argument" or not shape:
            return self.argument(shape, element)
        operand, dims = {
            "row": (shape[-1:], [len(shape) - 1]),
            "column": (shape[:-1], [*range(len(shape) - 1)]),
        }.get(kind, ((), []))
        source = self.argument(operand, element)
        types = f"({type_text(operand, element)}) -> {type_text(shape, element)}"
        return self.emit(f"stablehlo.broadcast_in_dim {source}, dims = {dims} : {types}", shape, element)

    def convert(self, name: str, element: str, to: str) -> str:
        types = f"({type_text(self.shape, element)}) -> {type_text(self.shape, to)}"
        return self.emit(f"stablehlo.convert {name} : {types}", self.shape, to)

    def step(self) -> None:
        name, shape, element = self.random.choice([v for v in self.values if v[1]][-5:])
        text = type_text(shape, element)
        kind = self.random.choice(("unary", "binary", "binary", "select", "clamp", "convert", "reduce", "spread"))
        if kind == "unary":
            self.emit(f"stablehlo.{self.random.choice(UNARY[element])} {name} : {text}", shape, element)
        elif kind == "binary":
            operands = [name, self.of(shape, element)]
            self.random.shuffle(operands)
            op = self.random.choice(BINARY[element])
            self.emit(f"stablehlo.{op} {', '.join(operands)} : {text}", shape, element)
        elif kind == "select":
            pred_shape = self.random.choice((shape, shape, ()))
            pred = self.of(pred_shape, "i1")
            types = f"{type_text(pred_shape, 'i1')}, {text}"
            self.emit(f"stablehlo.select {pred}, {name}, {self.of(shape, element)} : {types}", shape, element)
        elif kind == "clamp" and element not in ("i1", "complex<f32>"):
            low, high = self.of((), element), self.of(shape, element)
            types = f"{type_text((), element)}, {text}, {text}"
            self.emit(f"stablehlo.clamp {low}, {name}, {high} : ({types}) -> {text}", shape, element)
        elif kind == "convert" and shape == self.shape and element != "complex<f32>":
            if self.random.random() < 0.5:
                self.convert(name, element, self.random.choice(self.converted))
            else:
                types = f"({text}, {text}) -> {type_text(shape, 'i1')}"
                self.emit(f"stablehlo.compare LT, {name}, {self.of(shape, element)} : {types}", shape, "i1")
        elif kind == "reduce" and shape == self.shape and len(shape) > 1:
            self.reduce(name, element)
        elif kind == "spread" and shape == self.shape[: len(shape)] != self.shape:
            dims = [*range(len(shape))]
            types = f"({text}) -> {type_text(self.shape, element)}"
            self.emit(f"stablehlo.broadcast_in_dim {name}, dims = {dims} : {types}", self.shape, element)

    def reduce(self, name: str, element: str) -> None:
        rows = self.random.randint(1, len(self.shape) - 1)
        op, scalar, kept = self.random.choice(REDUCTIONS[element]), type_text((), element), self.shape[:rows]
        init = self.of((), element)
        types = f"({type_text(self.shape, element)}, {scalar}) -> {type_text(kept, element)}"
        dims = [*range(rows, len(self.shape))]
        text = f"stablehlo.reduce({name} init: {init}) applies stablehlo.{op} across dimensions = {dims} : {types}"
        self.emit(text, kept, element)

    def program(self) -> str:
        for _ in range(self.random.randint(4, 16)):
            self.step()
        results = self.random.sample(self.values, min(len(self.values), self.random.randint(1, 3)))
        results.append(self.values[-1])
        arguments = ", ".join(f"{name}: {type_text(*rest)}" for name, *rest in self.arguments)
        types = ", ".join(type_text(shape, element) for _, shape, element in results)
        body = "\n  ".join(self.lines)
        names = ", ".join(name for name, _, _ in results)
        return f"func.func @main({arguments}) -> ({types}) {{\n  {body}\n  return {names} : {types}\n}}"


def operand(rng: np.random.Generator, shape: tuple[int, ...], element: str) -> np.ndarray:
    """Return random numbers, some of them special, in a random layout."""
    dtype, size = np.dtype(DTYPES[element]), prod(shape)
    if element in FLOATS:
        x = (rng.standard_normal(size) * 2.0 ** rng.integers(-3, 4, size)).astype(dtype)
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40]).astype(dtype)
        where = rng.random(size) < rng.choice([0, 0.1])
        x[where] = rng.choice(special, int(where.sum()))
    elif element == "complex<f32>":
        x = (rng.standard_normal(size) + 1j * rng.standard_normal(size)).astype(dtype)
    else:
        x = rng.integers(0, 2 if element == "i1" else 8 if element == "i4" else 100, size).astype(dtype)
    x = x.reshape(shape)
    layouts = [layout for name, layout in LAYOUTS.items() if name not in ("unaligned", "stretched")]
    return layouts[rng.integers(len(layouts))](x) if shape and rng.random() < 0.3 else x


def bits(results: tuple[np.ndarray, ...]) -> list[bytes]:
    return [np.asarray(x).tobytes() for x in results]


def pieces(seeds: range) -> Iterator[tuple[str, list[np.ndarray]]]:
    for seed in seeds:
        writer = Writer(seed)
        text, rng = writer.program(), np.random.default_rng(seed)
        yield text, [operand(rng, shape, element) for _, shape, element in writer.arguments]


@pytest.mark.usefixtures("small_chains")
@pytest.mark.parametrize("start", range(0, 240, 40))
def test_generated_programs(start: int) -> None:
    fused = 0
    for text, arrays in pieces(range(start, start + 40)):
        program = sr.parse(text)
        expected = bits(program.run(*arrays, fast=False))
        before = [x.tobytes() for x in arrays]
        assert bits(program.run(*arrays)) == expected, text
        assert [x.tobytes() for x in arrays] == before, f"an input was overwritten: {text}"
        fused += len(program._planned(False, True).block.steps) < len(program._planned(False, False).block.steps)
    assert fused > 10


@pytest.mark.parametrize("element", ["f32", "f64", "bf16", "f16"])
@pytest.mark.parametrize("shape", [(600, 500), (3, 5, 131, 160), (1 << 19,), (2, 1 << 18)])
def test_chains_of_full_size(element: str, shape: tuple[int, ...]) -> None:
    t, kept, scalar = (type_text(s, element) for s in (shape, shape[:-1], ()))
    dims, rows = [*range(len(shape) - 1)], len(shape) - 1
    text = f"""func.func @main(%x: {t}, %c: {scalar}) -> ({t}, {t}, {kept}) {{
      %cb = stablehlo.broadcast_in_dim %c, dims = [] : ({scalar}) -> {t}
      %0 = stablehlo.multiply %x, %cb : {t}
      %1 = stablehlo.tanh %0 : {t}
      %2 = stablehlo.maximum %1, %x : {t}
      %3 = stablehlo.exponential %2 : {t}
      %4 = stablehlo.reduce(%3 init: %c) applies stablehlo.add across dimensions = [{rows}] : ({t}, {scalar}) -> {kept}
      %5 = stablehlo.broadcast_in_dim %4, dims = {dims} : ({kept}) -> {t}
      %6 = stablehlo.divide %3, %5 : {t}
      return %6, %1, %4 : {t}, {t}, {kept}
    }}"""
    program, rng = sr.parse(text), np.random.default_rng(0)
    arrays = operand(rng, shape, element), np.ones((), DTYPES[element])
    assert bits(program.run(*arrays)) == bits(program.run(*arrays, fast=False))
    if element == "f32":  # other types have no machine code for all of these ops
        assert len(program._planned(False, True).block.steps) < len(program._planned(False, False).block.steps)


@pytest.mark.parametrize("to", ["f32", "f64", "bf16", "f16", "f8E4M3FN", "i32", "i8", "i4"])
@pytest.mark.parametrize("element", ["f32", "bf16", "f8E4M3FN", "i64"])
def test_conversions_of_full_size(element: str, to: str) -> None:
    t, u = type_text((600, 500), element), type_text((600, 500), to)
    text = f"""func.func @main(%x: {t}, %low: tensor<{to}>, %high: tensor<{to}>) -> ({u}, {t}) {{
      %0 = stablehlo.convert %x : ({t}) -> {u}
      %1 = stablehlo.add %0, %0 : {u}
      %2 = stablehlo.clamp %low, %1, %high : (tensor<{to}>, {u}, tensor<{to}>) -> {u}
      %3 = stablehlo.sign %2 : {u}
      %4 = stablehlo.multiply %3, %1 : {u}
      %5 = stablehlo.convert %4 : ({u}) -> {t}
      return %4, %5 : {u}, {t}
    }}"""
    program, dtype = sr.parse(text), DTYPES[to]
    x = operand(np.random.default_rng(3), (600, 500), element)
    for low, high in ((1, 3), (-2, 0)):
        arrays = x, np.array(low).astype(dtype), np.array(high).astype(dtype)
        assert bits(program.run(*arrays)) == bits(program.run(*arrays, fast=False))
