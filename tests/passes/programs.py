"""Generated programs, and the property of passes: the program computes the same before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from hypothesis import HealthCheck
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.examples import examples
from spec_checks.strategies import arrays, same
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.passes.catalog import PASSES
from stablehlo_ref.program import Program

Shape = tuple[int, ...]
# Programs for each property; `STABLEHLO_REF_EXAMPLES=50 pytest tests/passes` draws 2000.
PROPERTY = examples(everyday=12, all=40, suppress_health_check=list(HealthCheck))
ARITHMETIC = ("add", "subtract", "multiply", "maximum", "minimum")
FOR_FLOATS = ("abs", "negate", "floor", "sign", "exponential", "tanh", "rsqrt")
FOR_INTEGERS = ("abs", "negate", "sign", "not", "popcnt")
FOR_BITS = ("and", "or", "xor")


def is_float(element: str) -> bool:
    return element.startswith(("f", "bf"))


def tensor(shape: Shape, element: str) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


@dataclass
class Text:
    """A program that grows: lines of the function at hand, and the values that it may use."""

    draw: st.DrawFn
    elements: Sequence[str]
    depth: int = 0
    lines: list[str] = field(default_factory=list)
    values: list[tuple[str, Shape, str]] = field(default_factory=list)
    functions: dict[str, tuple[list[tuple[Shape, str]], tuple[Shape, str]]] = field(default_factory=dict)
    numbers: count[int] = field(default_factory=count)

    def pick(self, *wanted: Callable[[Shape, str], bool]) -> tuple[str, Shape, str]:
        fitting = [v for v in self.values if all(holds(v[1], v[2]) for holds in wanted)]
        return self.draw(st.sampled_from(fitting))

    def of_type(self, shape: Shape, element: str) -> str:
        """A value of a type: one that there is, or a constant."""
        fitting = [name for name, s, e in self.values if (s, e) == (shape, element)]
        if fitting and self.draw(st.booleans()):
            return self.draw(st.sampled_from(fitting))
        return self.constant(shape, element)

    def latest(self, shape: Shape, element: str) -> str:
        """The latest value of a type, or a constant."""
        fitting = [name for name, s, e in self.values if (s, e) == (shape, element)]
        return fitting[-1] if fitting else self.constant(shape, element)

    def constant(self, shape: Shape, element: str) -> str:
        number = self.draw(st.integers(0, 3))
        float_text = ("0.0", "-0.0", "1.0", "2.5")[number]
        text = ("false", "true")[number % 2] if element == "i1" else float_text if is_float(element) else number
        return self.emit(f"stablehlo.constant dense<{text}> : {tensor(shape, element)}", shape, element)

    def emit(self, text: str, shape: Shape, element: str) -> str:
        name = f"%v{next(self.numbers)}"
        self.lines.append(f"{name} = {text}")
        self.values.append((name, shape, element))
        return name

    def nested(self) -> Text:
        return Text(self.draw, self.elements, self.depth + 1, [], list(self.values), self.functions, self.numbers)


def elementwise(text: Text) -> None:
    name, shape, element = text.pick()
    t = tensor(shape, element)
    if element == "i1":
        op = text.draw(st.sampled_from(FOR_BITS))
    elif is_float(element):
        op = text.draw(st.sampled_from(ARITHMETIC + FOR_FLOATS))
    else:
        op = text.draw(st.sampled_from(ARITHMETIC + FOR_BITS + FOR_INTEGERS[2 if element.startswith("ui") else 0 :]))
        op = "not" if op == "sign" and element.startswith("ui") else op
    if op in ARITHMETIC + FOR_BITS:
        text.emit(f"stablehlo.{op} {name}, {text.of_type(shape, element)} : {t}", shape, element)
    else:
        text.emit(f"stablehlo.{op} {name} : {t}", shape, element)


def compare_and_select(text: Text) -> None:
    name, shape, element = text.pick()
    t, other = tensor(shape, element), text.of_type(shape, element)
    direction = text.draw(st.sampled_from(("EQ", "NE", "LT", "GE")))
    predicate = text.emit(
        f"stablehlo.compare {direction}, {name}, {other} : ({t}, {t}) -> {tensor(shape, 'i1')}", shape, "i1"
    )
    text.emit(f"stablehlo.select {predicate}, {name}, {other} : {tensor(shape, 'i1')}, {t}", shape, element)


def convert(text: Text) -> None:
    name, shape, element = text.pick(lambda s, e: not is_float(e))
    to = text.draw(st.sampled_from(list(text.elements)))
    text.emit(f"stablehlo.convert {name} : ({tensor(shape, element)}) -> {tensor(shape, to)}", shape, to)


def reshape(text: Text) -> None:
    name, shape, element = text.pick()
    to = text.draw(st.sampled_from([(*shape, 1), (1, *shape), (int(np.prod(shape, dtype=int)),)]))
    text.emit(f"stablehlo.reshape {name} : ({tensor(shape, element)}) -> {tensor(to, element)}", to, element)


def transpose(text: Text) -> None:
    name, shape, element = text.pick()
    order = text.draw(st.permutations(range(len(shape))))
    to = tuple(shape[axis] for axis in order)
    types = f"({tensor(shape, element)}) -> {tensor(to, element)}"
    text.emit(f"stablehlo.transpose {name}, dims = {list(order)} : {types}", to, element)


def broadcast(text: Text) -> None:
    name, shape, element = text.pick()
    to = (text.draw(st.integers(0, 3)), *shape)
    types = f"({tensor(shape, element)}) -> {tensor(to, element)}"
    text.emit(f"stablehlo.broadcast_in_dim {name}, dims = {list(range(1, len(to)))} : {types}", to, element)


def piece(text: Text) -> None:
    name, shape, element = text.pick(lambda s, e: len(s) > 0)
    limit = text.draw(st.integers(0, shape[0]))
    start = text.draw(st.integers(0, limit))
    ranges = ", ".join([f"{start}:{limit}", *(f"0:{n}" for n in shape[1:])])
    to = (limit - start, *shape[1:])
    text.emit(f"stablehlo.slice {name} [{ranges}] : ({tensor(shape, element)}) -> {tensor(to, element)}", to, element)


def joined(text: Text) -> None:
    name, shape, element = text.pick(lambda s, e: len(s) > 0)
    t, to = tensor(shape, element), (2 * shape[0], *shape[1:])
    other = text.of_type(shape, element)
    text.emit(f"stablehlo.concatenate {name}, {other}, dim = 0 : ({t}, {t}) -> {tensor(to, element)}", to, element)


def reduce(text: Text) -> None:
    name, shape, element = text.pick(lambda s, e: len(s) > 0)
    init, to = text.constant((), element), shape[1:]
    op = "or" if element == "i1" else text.draw(st.sampled_from(("add", "maximum")))
    types = f"({tensor(shape, element)}, {tensor((), element)}) -> {tensor(to, element)}"
    text.emit(
        f"stablehlo.reduce({name} init: {init}) applies stablehlo.{op} across dimensions = [0] : {types}", to, element
    )


def branches(text: Text) -> None:
    """An `if` or a `case` whose branches use values from around them."""
    _, shape, element = text.pick()
    t = tensor(shape, element)
    if text.draw(st.booleans()):
        kind, selector, index = "if", text.of_type((), "i1"), "i1"
    else:
        kind, selector, index = "case", text.of_type((), "i32"), "i32"
    bodies = []
    for _ in range(2):
        body = grown(text.nested(), 2)
        result = body.latest(shape, element)
        bodies.append("\n".join([*body.lines, f"stablehlo.return {result} : {t}"]))
    text.emit(
        f'"stablehlo.{kind}"({selector}) ({{\n' + "\n}, {\n".join(bodies) + f"\n}}) : (tensor<{index}>) -> {t}",
        shape, element,
    )  # fmt: skip


def loop(text: Text) -> None:
    """A `while` of three turns."""
    name, shape, element = text.pick()
    t, start = tensor(shape, element), text.emit("stablehlo.constant dense<0> : tensor<i32>", (), "i32")
    limit = text.emit("stablehlo.constant dense<3> : tensor<i32>", (), "i32")
    one = text.emit("stablehlo.constant dense<1> : tensor<i32>", (), "i32")
    number = next(text.numbers)
    inner = text.nested()
    inner.values.append((f"%x{number}", shape, element))
    body = grown(inner, 2)
    result = body.latest(shape, element)
    text.lines.append(
        f"%w{number}:2 = stablehlo.while(%i{number} = {start}, %x{number} = {name}) : tensor<i32>, {t} cond {{\n"
        f"%p{number} = stablehlo.compare LT, %i{number}, {limit} : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        f"stablehlo.return %p{number} : tensor<i1>\n}} do {{\n" + "\n".join(body.lines) + "\n"
        f"%n{number} = stablehlo.add %i{number}, {one} : tensor<i32>\n"
        f"stablehlo.return %n{number}, {result} : tensor<i32>, {t}\n}}"
    )
    text.values.append((f"%w{number}#1", shape, element))


def call(text: Text) -> None:
    if not text.functions:
        return
    name = text.draw(st.sampled_from(sorted(text.functions)))
    inputs, (shape, element) = text.functions[name]
    operands = [text.of_type(*parameter) for parameter in inputs]
    types = ", ".join(tensor(*parameter) for parameter in inputs)
    text.emit(f"func.call @{name}({', '.join(operands)}) : ({types}) -> {tensor(shape, element)}", shape, element)


def composite(text: Text) -> None:
    """A composite whose decomposition is a function of the program."""
    if not text.functions:
        return
    name = text.draw(st.sampled_from(sorted(text.functions)))
    inputs, (shape, element) = text.functions[name]
    operands = [text.of_type(*parameter) for parameter in inputs]
    types = f"({', '.join(tensor(*parameter) for parameter in inputs)}) -> {tensor(shape, element)}"
    members = f"{{decomposition = @{name}, composite_attributes = {{n = 1 : i64}}}}"
    text.emit(f'stablehlo.composite "test.{name}" {", ".join(operands)} {members} : {types}', shape, element)


def deprecated_op(text: Text) -> None:
    name, shape, element = text.pick()
    size = text.draw(st.integers(0, 2))
    to = (size, *shape)
    types = f"({tensor(shape, element)}) -> {tensor(to, element)}"
    text.emit(f"stablehlo.broadcast {name}, sizes = [{size}] : {types}", to, element)


def product(text: Text) -> None:
    """A `dot` of whole numbers, whose sums are the same in any order."""
    name, shape, element = text.pick(lambda s, e: len(s) == 1 and not is_float(e) and e != "i1")
    other = text.of_type(shape, element)
    t = tensor(shape, element)
    text.emit(f"stablehlo.dot {name}, {other} : ({t}, {t}) -> {tensor((), element)}", (), element)


def broadcasting_op(text: Text) -> None:
    """An op of CHLO on a value and a scalar, or on two values."""
    name, shape, element = text.pick(lambda s, e: e != "i1")
    other = text.draw(st.sampled_from(((), shape)))
    op = text.draw(st.sampled_from(ARITHMETIC))
    types = f"({tensor(shape, element)}, {tensor(other, element)}) -> {tensor(shape, element)}"
    text.emit(f"chlo.broadcast_{op} {name}, {text.of_type(other, element)} : {types}", shape, element)


FLAT = (elementwise, elementwise, elementwise, compare_and_select, convert, reshape, transpose, broadcast, piece,
        joined, reduce)  # fmt: skip
NESTED = (*FLAT, deprecated_op, product, broadcasting_op, branches, loop, call, composite)


def grown(text: Text, most: int, makers: Sequence[Callable[[Text], None]] = NESTED) -> Text:
    for _ in range(text.draw(st.integers(1, most))):
        choices = [m for m in makers if text.depth < 2 or m not in (branches, loop)]
        maker = text.draw(st.sampled_from(choices))
        if sum(int(np.prod(s, dtype=int)) for _, s, _ in text.values) < 4000 and _applies(maker, text):
            maker(text)
    return text


def _applies(maker: Callable[[Text], None], text: Text) -> bool:
    if maker is convert:
        return any(not is_float(e) for _, _, e in text.values)
    if maker is product:
        return any(len(s) == 1 and not is_float(e) and e != "i1" for _, s, e in text.values)
    if maker is broadcasting_op:
        return any(e != "i1" for _, _, e in text.values)
    return maker not in (piece, joined, reduce) or any(s for _, s, _ in text.values)


@st.composite
def programs(
    draw: st.DrawFn,
    elements: Sequence[str] = ("f32", "i32", "ui8", "i1"),
    makers: Sequence[Callable[[Text], None]] = NESTED,
    most: int = 8,
) -> str:
    """The text of a module with `main`, and perhaps a private function that it calls."""
    functions: dict[str, tuple[list[tuple[Shape, str]], tuple[Shape, str]]] = {}
    texts = []
    for name in draw(st.sampled_from((("main",), ("helper", "main")))):
        parameters = draw(st.lists(st.tuples(st.sampled_from(((), (3,), (2, 2))), st.sampled_from(list(elements))),
                                   min_size=1, max_size=3))  # fmt: skip
        text = Text(draw, elements, functions=dict(functions))
        text.values = [(f"%arg{i}", s, e) for i, (s, e) in enumerate(parameters)]
        grown(text, most, makers)
        returned = text.values[-2:] if name == "main" else text.values[-1:]
        types = ", ".join(tensor(s, e) for _, s, e in returned)
        arguments = ", ".join(f"%arg{i}: {tensor(s, e)}" for i, (s, e) in enumerate(parameters))
        private = "" if name == "main" else "private "
        texts.append(
            f"func.func {private}@{name}({arguments}) -> ({types}) {{\n" + "\n".join(text.lines)
            + f"\nreturn {', '.join(v for v, _, _ in returned)} : {types}\n}}\n"
        )  # fmt: skip
        functions[name] = parameters, (returned[-1][1], returned[-1][2])
    return "\n".join(texts)


# --- the property ---------------------------------------------------------------------------------------------------


def inputs_of(draw: st.DrawFn, program: Program) -> list[np.ndarray]:
    """Arrays for the arguments of a program: any bit patterns."""
    types = [parameter.type for parameter in program.inputs]
    return [draw(arrays(numpy_dtype(t.element_type), t.shape)) for t in types if isinstance(t, TensorType)]


def transformed(program: Program, name: str, **options: str) -> Program:
    """The program after a pass, printed and read again."""
    PASSES[name].bind(options)(program.module)
    return sr.parse(str(Program(program.module)), allow_unregistered_dialect=True).verify()


def assert_same_results(
    text: str, names: Sequence[str], inputs: Callable[[Program], Sequence[np.ndarray]], **options: str
) -> list[Program]:
    """Run a program before and after each of several passes; return it as it is after each."""
    before = sr.load(text)
    arguments = inputs(before)
    expected = before.run(*arguments)
    programs = [transformed(before.transform(), name, **options) for name in names]
    for name, after in zip(names, programs):
        for result, wanted in zip(after.run(*arguments), expected, strict=True):
            assert same(np.asarray(result), np.asarray(wanted)), f"{text}\n--- after {name} ---\n{after}"
    return programs
