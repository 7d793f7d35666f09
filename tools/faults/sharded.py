"""Random programs whose values have shardings on meshes of 4 to 8 devices, as text."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import prod

MESHES = ((("x", 2), ("y", 4)), (("x", 2), ("y", 2)), (("x", 4),), (("x", 2), ("y", 2), ("z", 2)))
SHAPES = ((8, 16), (16, 32), (32, 16), (8, 32), (16, 16), (32,))


class Drawn:
    """A random program whose values have shardings, as text."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.axes = dict(self.random.choice(MESHES))
        self.values: list[tuple[str, tuple[int, ...]]] = []
        self.lines = ["%zero = stablehlo.constant dense<0.0> : tensor<f32>"]
        arguments = []
        for number in range(self.random.randint(2, 4)):
            shape = self.random.choice(SHAPES)
            arguments.append(f"%a{number}: {text(shape)} {{sdy.sharding = #sdy.sharding{self.sharding(shape)}}}")
            self.values.append((f"%a{number}", shape))
        for _ in range(self.random.randint(3, 8)):
            self.random.choice(OPS)(self, *self.random.choice(self.values[-4:]))
        outputs = self.values[-2:]
        results = ", ".join(f"{text(s)} {{sdy.sharding = #sdy.sharding{self.sharding(s)}}}" for _, s in outputs)
        returned = f"{', '.join(name for name, _ in outputs)} : {', '.join(text(shape) for _, shape in outputs)}"
        axes = ", ".join(f'"{name}"={size}' for name, size in self.axes.items())
        head = f"  sdy.mesh @mesh = <[{axes}]>\n  func.func @main({', '.join(arguments)}) -> ({results}) {{"
        body = [f"    {line}" for line in (*self.lines, f"return {returned}")]
        self.text = "\n".join(["module {", head, *body, "  }", "}", ""])

    def sharding(self, shape: Sequence[int]) -> str:
        """Return a random sharding that splits a shape into equal parts."""
        while True:
            dimensions: list[list[str]] = [[] for _ in shape]
            for name in self.random.sample(list(self.axes), len(self.axes)):
                if self.random.random() < 0.6:
                    self.random.choice(dimensions).append(name)
            if all(n % prod(self.axes[name] for name in names) == 0 for n, names in zip(shape, dimensions)):
                lists = (", ".join(f'"{name}"' for name in names) for names in dimensions)
                return f"<@mesh, [{', '.join(f'{{{names}}}' for names in lists)}]>"

    def add(self, op: str, shape: tuple[int, ...], types: str = "") -> str:
        """Add an op on values, often with a sharding of its result, and return the name of that."""
        name = f"%v{len(self.lines)}"
        given = f" {{sdy.sharding = #sdy.sharding_per_value<[{self.sharding(shape)}]>}}" * (self.random.random() < 0.35)
        self.lines.append(f"{name} = stablehlo.{op}{given} : {types or text(shape)}")
        self.values.append((name, shape))
        return name


def text(shape: Sequence[int]) -> str:
    """Return the type of f32 tensors."""
    return f"tensor<{''.join(f'{n}x' for n in shape)}f32>"


def _tanh(drawn: Drawn, name: str, shape: tuple[int, ...]) -> None:
    drawn.add(f"tanh {name}", shape)


def _multiply(drawn: Drawn, name: str, shape: tuple[int, ...]) -> None:
    other = drawn.random.choice([value for value, other in drawn.values if other == shape])
    drawn.add(f"multiply {name}, {other}", shape)


def _dot(drawn: Drawn, name: str, shape: tuple[int, ...]) -> None:
    others = [(v, s) for v, s in drawn.values if len(s) == len(shape) == 2 and s[0] == shape[1]]
    if others:
        other, right = drawn.random.choice(others)
        result = shape[0], right[1]
        types = f"({text(shape)}, {text(right)}) -> {text(result)}"
        drawn.add(f"dot_general {name}, {other}, contracting_dims = [1] x [0]", result, types)


def _reduce(drawn: Drawn, name: str, shape: tuple[int, ...]) -> None:
    if len(shape) > 1:
        dimension, body = drawn.random.randrange(len(shape)), drawn.random.choice(("add", "add", "maximum"))
        result = tuple(n for d, n in enumerate(shape) if d != dimension)
        op = f"reduce({name} init: %zero) applies stablehlo.{body} across dimensions = [{dimension}]"
        drawn.add(op, result, f"({text(shape)}, tensor<f32>) -> {text(result)}")


def _broadcast(drawn: Drawn, name: str, shape: tuple[int, ...]) -> None:
    if len(shape) == 1:
        result = (8, *shape)
        drawn.add(f"broadcast_in_dim {name}, dims = [1]", result, f"({text(shape)}) -> {text(result)}")


def _transpose(drawn: Drawn, name: str, shape: tuple[int, ...]) -> None:
    if len(shape) == 2:
        drawn.add(f"transpose {name}, dims = [1, 0]", shape[::-1], f"({text(shape)}) -> {text(shape[::-1])}")


def _reshape(drawn: Drawn, name: str, shape: tuple[int, ...]) -> None:
    flat, result = (prod(shape),), (8, prod(shape) // 8)
    name = drawn.add(f"reshape {name}", flat, f"({text(shape)}) -> {text(flat)}")
    drawn.add(f"reshape {name}", result, f"({text(flat)}) -> {text(result)}")


def _concatenate(drawn: Drawn, name: str, shape: tuple[int, ...]) -> None:
    result = (2 * shape[0], *shape[1:])
    types = f"({text(shape)}, {text(shape)}) -> {text(result)}"
    name = drawn.add(f"concatenate {name}, {name}, dim = 0", result, types)
    ranges = ", ".join(f"0:{n}" for n in shape)
    drawn.add(f"slice {name} [{ranges}]", shape, f"({text(result)}) -> {text(shape)}")


OPS = (_tanh, _multiply, _dot, _dot, _reduce, _broadcast, _transpose, _reshape, _concatenate)
