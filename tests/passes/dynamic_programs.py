"""Generated programs whose shapes are known only when the arguments are."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from hypothesis import strategies as st


@dataclass
class DynamicText:
    """A function of `%x: tensor<?x3xf32>` and `%y: tensor<?xf32>` that grows.

    `sizes` are scalars of i32 that depend on shapes only; `values` are tensors of f32 by rank.
    """

    draw: st.DrawFn
    lines: list[str] = field(default_factory=list)
    sizes: list[str] = field(default_factory=list)
    values: list[tuple[str, int]] = field(default_factory=lambda: [("%x", 2), ("%y", 1)])
    numbers: count[int] = field(default_factory=count)

    def emit(self, text: str) -> str:
        name = f"%v{next(self.numbers)}"
        self.lines.append(f"{name} = {text}")
        return name

    def pick(self, rank: int | None = None) -> tuple[str, int]:
        return self.draw(st.sampled_from([v for v in self.values if rank in (None, v[1])]))

    def shape(self, sizes: list[str]) -> str:
        """A one-dimensional tensor of sizes."""
        parts = [self.emit(f"stablehlo.reshape {size} : (tensor<i32>) -> tensor<1xi32>") for size in sizes]
        types = ", ".join(["tensor<1xi32>"] * len(parts))
        joined = f"stablehlo.concatenate {', '.join(parts)}, dim = 0 : ({types}) -> tensor<{len(parts)}xi32>"
        return self.emit(joined)

    def constant(self, number: int) -> str:
        return self.emit(f"stablehlo.constant dense<{number}> : tensor<i32>")


def dynamic(rank: int, element: str = "f32") -> str:
    return f"tensor<{'?x' * rank}{element}>"


def typed(name: str, rank: int) -> str:
    return "tensor<?x3xf32>" if name == "%x" else dynamic(rank)


def size(text: DynamicText) -> None:
    name, rank = text.pick()
    axis = text.draw(st.integers(0, rank - 1))
    text.sizes.append(
        text.emit(f"stablehlo.get_dimension_size {name}, dim = {axis} : ({typed(name, rank)}) -> tensor<i32>")
    )


def arithmetic(text: DynamicText) -> None:
    op = text.draw(st.sampled_from(("add", "multiply", "maximum")))
    lhs, rhs = text.draw(st.sampled_from(text.sizes)), text.constant(text.draw(st.integers(0, 3)))
    result = text.emit(f"stablehlo.{op} {lhs}, {rhs} : tensor<i32>")
    limit = text.constant(40)
    text.sizes.append(text.emit(f"stablehlo.minimum {result}, {limit} : tensor<i32>"))


def broadcast(text: DynamicText) -> None:
    name, rank = text.pick()
    sizes = [
        text.emit(f"stablehlo.get_dimension_size {name}, dim = {axis} : ({typed(name, rank)}) -> tensor<i32>")
        for axis in range(rank)
    ]
    if rank > 2:
        return
    shape = text.shape([text.draw(st.sampled_from(text.sizes)), *sizes])
    types = f"({typed(name, rank)}, tensor<{rank + 1}xi32>) -> {dynamic(rank + 1)}"
    dims = list(range(1, rank + 1))
    text.values.append((text.emit(f"stablehlo.dynamic_broadcast_in_dim {name}, {shape}, dims = {dims} : {types}"),
                        rank + 1))  # fmt: skip


def iota(text: DynamicText) -> None:
    shape = text.shape([text.draw(st.sampled_from(text.sizes))])
    types = f"(tensor<1xi32>) -> {dynamic(1)}"
    text.values.append((text.emit(f"stablehlo.dynamic_iota {shape}, dim = 0 : {types}"), 1))


def elementwise(text: DynamicText) -> None:
    name, rank = text.pick()
    op = text.draw(st.sampled_from(("negate", "abs", "exponential")))
    types = f"({typed(name, rank)}) -> {dynamic(rank)}"
    text.values.append((text.emit(f"stablehlo.{op} {name} : {types}"), rank))


def pad(text: DynamicText) -> None:
    name, _ = text.pick(1)
    low = text.shape([text.draw(st.sampled_from(text.sizes))])
    zero = text.emit("stablehlo.constant dense<0> : tensor<1xi32>")
    value = text.emit("stablehlo.constant dense<1.5> : tensor<f32>")
    types = f"({dynamic(1)}, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> {dynamic(1)}"
    text.values.append((text.emit(f"stablehlo.dynamic_pad {name}, {value}, {low}, {zero}, {zero} : {types}"), 1))


def cut(text: DynamicText) -> None:
    name, _ = text.pick(1)
    zero = text.emit("stablehlo.constant dense<0> : tensor<1xi32>")
    limit = text.shape([
        text.emit(f"stablehlo.get_dimension_size {name}, dim = 0 : ({typed(name, 1)}) -> tensor<i32>")
    ])  # fmt: skip
    stride = text.emit(f"stablehlo.constant dense<{text.draw(st.integers(1, 3))}> : tensor<1xi32>")
    types = f"({dynamic(1)}, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> {dynamic(1)}"
    text.values.append((text.emit(f"stablehlo.real_dynamic_slice {name}, {zero}, {limit}, {stride} : {types}"), 1))


def flatten(text: DynamicText) -> None:
    name, rank = text.pick()
    sizes = [
        text.emit(f"stablehlo.get_dimension_size {name}, dim = {axis} : ({typed(name, rank)}) -> tensor<i32>")
        for axis in range(rank)
    ]
    total = sizes[0]
    for other in sizes[1:]:
        total = text.emit(f"stablehlo.multiply {total}, {other} : tensor<i32>")
    types = f"({typed(name, rank)}, tensor<1xi32>) -> {dynamic(1)}"
    text.values.append((text.emit(f"stablehlo.dynamic_reshape {name}, {text.shape([total])} : {types}"), 1))


def helper(text: DynamicText) -> None:
    """A call with a size, which becomes a constant, and a tensor."""
    name, _ = text.pick(1)
    number = text.draw(st.sampled_from(text.sizes[:1]))
    name = "%y"
    types = f"(tensor<i32>, {dynamic(1)}) -> ({dynamic(2)}, tensor<i32>)"
    result = text.emit(f"func.call @helper({number}, {name}) : {types}")
    text.lines[-1] = text.lines[-1].replace(f"{result} =", f"{result}:2 =")
    text.values.append((f"{result}#0", 2))
    text.sizes.append(f"{result}#1")


def loop(text: DynamicText) -> None:
    name, rank = text.pick()
    n, t = next(text.numbers), typed(name, rank)
    zero, limit = text.constant(0), text.constant(2)
    text.lines.append(
        f"%w{n}:2 = stablehlo.while(%i{n} = {zero}, %t{n} = {name}) : tensor<i32>, {t} cond {{\n"
        f"%p{n} = stablehlo.compare LT, %i{n}, {limit} : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        f"stablehlo.return %p{n} : tensor<i1>\n}} do {{\n"
        f"%o{n} = stablehlo.constant dense<1> : tensor<i32>\n%s{n} = stablehlo.add %i{n}, %o{n} : tensor<i32>\n"
        f"%u{n} = stablehlo.add %t{n}, %t{n} : {t}\nstablehlo.return %s{n}, %u{n} : tensor<i32>, {t}\n}}"
    )
    if name != "%x":
        text.values.append((f"%w{n}#1", rank))


HELPER = """
func.func private @helper(%n: tensor<i32>, %t: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<i32>) {
  %0 = stablehlo.get_dimension_size %t, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %2 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
  %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %4 = stablehlo.dynamic_broadcast_in_dim %t, %3, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %4, %n : tensor<?x?xf32>, tensor<i32>
}
"""
MAKERS = (size, arithmetic, broadcast, iota, elementwise, pad, cut, flatten, helper, loop)


@st.composite
def dynamic_programs(draw: st.DrawFn) -> str:
    """The text of a module with `main(%x: tensor<?x3xf32>, %y: tensor<?xf32>)`."""
    text = DynamicText(draw)
    text.sizes.append(text.emit("stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>"))
    for _ in range(draw(st.integers(1, 8))):
        draw(st.sampled_from(MAKERS))(text)
    name, rank = text.values[-1]
    results = f"({typed(name, rank)}, tensor<i32>)"
    body = "\n".join(text.lines)
    return (
        f"func.func @main(%x: tensor<?x3xf32>, %y: tensor<?xf32>) -> {results} {{\n{body}\n"
        f"return {name}, {text.sizes[-1]} : {typed(name, rank)}, tensor<i32>\n}}\n" + HELPER
    )
