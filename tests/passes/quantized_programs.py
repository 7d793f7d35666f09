"""Generated programs on quantized tensors."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from hypothesis import strategies as st

PER_TENSOR = (
    "i8:f32, 5.000000e-01:3", "i8:f32, 2.000000e+00",
    "i8<-100:100>:f32, 2.500000e-01:-7", "i8<-100:100>:f32, 2.000000e+00:9",
    "u8:f32, 1.300000e-02:128", "i4:f32, 1.500000e+00",
    "i16:f32, 1.000000e-03:-300", "i32:f32, 1.000000e-04:70000", "i8:f16, 3.000000e-01:5", "i8:bf16, 7.000000e-01:-2",
)  # fmt: skip
PER_AXIS = ("i8:f32:1, {5.000000e-01:3, 1.250000e-01:-1, 3.000000e+00}", "i32:f32:1, {1.000000e-03, 0.3:-9, 7.0:12}")
UNARY = ("abs", "negate", "sign", "floor", "tanh", "exponential", "sqrt")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum")
SHAPE = "2x3"


def expressed(parameters: str) -> str:
    return next(name for name in ("bf16", "f16", "f32") if f":{name}" in parameters)


def storage(parameters: str) -> str:
    return parameters.partition(":")[0].partition("<")[0]


def tensor(parameters: str, shape: str = SHAPE) -> str:
    return f"tensor<{shape}x!quant.uniform<{parameters}>>" if shape else f"tensor<!quant.uniform<{parameters}>>"


@dataclass
class QuantizedText:
    """A function of one tensor of numbers of each format that grows; `values` are quantized tensors of one shape."""

    draw: st.DrawFn
    lines: list[str] = field(default_factory=list)
    values: list[tuple[str, str]] = field(default_factory=list)
    numbers: count[int] = field(default_factory=count)

    def emit(self, text: str) -> str:
        name = f"%v{next(self.numbers)}"
        self.lines.append(f"{name} = {text}")
        return name

    def add(self, text: str, parameters: str) -> None:
        self.values.append((self.emit(text), parameters))

    def pick(self, like: str = "") -> tuple[str, str]:
        """A value quantized per tensor, stored in the same integers and of the same range as `like`, if given."""
        allowed = self.all_like(like) if like else PER_TENSOR
        fitting = [(name, q) for name, q in self.values if q in allowed]
        return self.draw(st.sampled_from(fitting)) if fitting else self.entered(self.draw(st.sampled_from(allowed)))

    def all_like(self, like: str) -> list[str]:
        return [q for q in PER_TENSOR if q.partition(",")[0] == like.partition(",")[0]]

    def parameters(self, like: str) -> str:
        return self.draw(st.sampled_from(self.all_like(like)))

    def entered(self, q: str) -> tuple[str, str]:
        """A quantized input."""
        number = expressed(q)
        return self.emit(f"stablehlo.uniform_quantize %{number} : (tensor<{SHAPE}x{number}>) -> {tensor(q)}"), q


def quantize(text: QuantizedText) -> None:
    text.values.append(text.entered(text.draw(st.sampled_from((*PER_TENSOR, *PER_AXIS)))))


def requantize(text: QuantizedText) -> None:
    name, q = text.draw(st.sampled_from(text.values))
    to = text.draw(st.sampled_from([p for p in (*PER_TENSOR, *PER_AXIS) if expressed(p) == expressed(q)]))
    text.add(f"stablehlo.uniform_quantize {name} : ({tensor(q)}) -> {tensor(to)}", to)


def elementwise(text: QuantizedText) -> None:
    name, q = text.pick()
    to = text.parameters(q)
    if text.draw(st.booleans()):
        op = text.draw(st.sampled_from(UNARY))
        text.add(f"stablehlo.{op} {name} : ({tensor(q)}) -> {tensor(to)}", to)
        return
    op, (other, p) = text.draw(st.sampled_from(BINARY)), text.pick(q)
    text.add(f"stablehlo.{op} {name}, {other} : ({tensor(q)}, {tensor(p)}) -> {tensor(to)}", to)


def select(text: QuantizedText) -> None:
    name, q = text.pick()
    t, b = tensor(q), f"tensor<{SHAPE}xi1>"
    other = text.draw(st.sampled_from([n for n, p in text.values if p == q] or [name]))
    predicate = text.emit(f"stablehlo.compare LT, {name}, {other} : ({t}, {t}) -> {b}")
    text.add(f"stablehlo.select {predicate}, {other}, {name} : {b}, {t}", q)


def matrix_product(text: QuantizedText) -> None:
    name, q = text.entered("i8:f32, 5.000000e-01:3")
    other, p = text.entered("i8:f32, 2.000000e+00")
    to = text.parameters(q)
    turned = text.emit(f"stablehlo.transpose {other}, dims = [1, 0] : ({tensor(p)}) -> {tensor(p, '3x2')}")
    types = f"({tensor(q)}, {tensor(p, '3x2')}) -> {tensor(to, '2x2')}"
    product = text.emit(f"stablehlo.dot_general {name}, {turned}, contracting_dims = [1] x [0] : {types}")
    edge = text.emit(f"stablehlo.slice {product} [0:2, 0:1] : ({tensor(to, '2x2')}) -> {tensor(to, '2x1')}")
    types = f"({tensor(to, '2x2')}, {tensor(to, '2x1')}) -> {tensor(to)}"
    text.add(f"stablehlo.concatenate {product}, {edge}, dim = 1 : {types}", to)


def fold(text: QuantizedText) -> None:
    """A reduction in the quantized type, broadcast again.

    Sums that saturate depend on their order, which is free: of two elements and the zero point there is only one sum.
    """
    name, q = text.pick()
    op, scalar = text.draw(st.sampled_from(("add", "maximum"))), tensor(q, "")
    zero_point = q.partition("f32, ")[2].partition(":")[2] or "0"
    init = text.emit(f"stablehlo.constant() <{{value = dense<{zero_point}> : tensor<{storage(q)}>}}>"
                     f" : () -> {scalar}".replace("tensor<u8>", "tensor<ui8>"))  # fmt: skip
    types = f"({tensor(q)}, {scalar}) -> {tensor(q, '3')}"
    row = text.emit(f"stablehlo.reduce({name} init: {init}) applies stablehlo.{op} across dimensions = [0] : {types}")
    text.add(f"stablehlo.broadcast_in_dim {row}, dims = [1] : ({tensor(q, '3')}) -> {tensor(q)}", q)


def loop(text: QuantizedText) -> None:
    """Two turns of a `while` that adds a value to itself."""
    name, q = text.pick()
    n, t = next(text.numbers), tensor(q)
    zero, one, two = (text.emit(f"stablehlo.constant dense<{i}> : tensor<i32>") for i in range(3))
    text.lines.append(
        f"%w{n}:2 = stablehlo.while(%i{n} = {zero}, %x{n} = {name}) : tensor<i32>, {t} cond {{\n"
        f"%p{n} = stablehlo.compare LT, %i{n}, {two} : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        f"stablehlo.return %p{n} : tensor<i1>\n}} do {{\n%n{n} = stablehlo.add %i{n}, {one} : tensor<i32>\n"
        f"%y{n} = stablehlo.add %x{n}, %x{n} : {t}\nstablehlo.return %n{n}, %y{n} : tensor<i32>, {t}\n}}"
    )
    text.values.append((f"%w{n}#1", q))


def move(text: QuantizedText) -> None:
    name, q = text.pick()
    text.add(f"stablehlo.reverse {name}, dims = [{text.draw(st.integers(0, 1))}] : {tensor(q)}", q)


MAKERS = (quantize, requantize, elementwise, elementwise, select, matrix_product, fold, loop, move)


@st.composite
def quantized_programs(draw: st.DrawFn) -> str:
    """The text of a module with `main`, of three tensors of 2x3 numbers, that returns stored and expressed values."""
    text = QuantizedText(draw)
    quantize(text)
    for maker in draw(st.lists(st.sampled_from(MAKERS), max_size=7)):
        maker(text)
    name, q = text.values[-1]
    number = expressed(q)
    text.lines.append(f"%floats = stablehlo.uniform_dequantize {name} : ({tensor(q)}) -> tensor<{SHAPE}x{number}>")
    arguments = ", ".join(f"%{number}: tensor<{SHAPE}x{number}>" for number in ("f32", "f16", "bf16"))
    types = f"{tensor(q)}, tensor<{SHAPE}x{number}>"
    body = "\n".join(text.lines)
    return f"func.func @main({arguments}) -> ({types}) {{\n{body}\nreturn {name}, %floats : {types}\n}}\n"
