"""Random programs of loops, branches and calls on values of all kinds of element types, as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hypothesis import strategies as st

SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("ui8", "ui16", "ui32", "ui64")
INTEGERS = (*SIGNED, *UNSIGNED)
FLOATS = ("f16", "bf16", "f32", "f64")
ELEMENTS = ("i1", *INTEGERS, *FLOATS, "i4")
COMPILED = ("i1", *INTEGERS, "f32", "f64")  # the element types of machine code
SHAPES = ("", "4x")

BINARY = {
    "i1": ("add", "multiply", "maximum", "minimum", "and", "or", "xor"),
    "integer": (
        "add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor", "shift_left",
        "shift_right_arithmetic", "shift_right_logical",
    ),
    "float": ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power"),
}  # fmt: skip
RING = ("add", "subtract", "multiply", "and", "or", "xor")  # on integers: of each bit, higher ones do not matter
UNARY = {
    "i1": ("not",),
    "integer": ("negate", "not", "popcnt", "count_leading_zeros"),
    "float": (
        "negate",
        "abs",
        "sqrt",
        "floor",
        "ceil",
        "sign",
        "exponential",
        "tanh",
        "round_nearest_even",
        "log",
        "sine",
    ),
}
NOT_COMPILED = {  # by element type: never in machine code
    "f32": frozenset({"remainder", "power"}),
    "f64": frozenset({"remainder", "power", "exponential", "tanh", "log", "sine"}),
}
FORMS = ("unary", "binary", "binary", "binary", "compare", "select", "clamp", "convert", "shape")
COUNTERS = (  # start, comparison, bound and step for a number of turns
    lambda turns: (0, "LT", turns, 1), lambda turns: (-3, "LE", 2 * turns - 4, 2), lambda turns: (turns, "GT", 0, -1),
    lambda turns: (2**31 - 4, "GE", 2**31 - 1 - 3 * turns, -3), lambda turns: (0, "NE", turns, 1),
)  # fmt: skip
DIRECTIONS = ("EQ", "NE", "GE", "GT", "LE", "LT")


def kind(element: str) -> str:
    """Return the kind of an element type, a key of the tables of ops."""
    return "i1" if element == "i1" else "float" if element in FLOATS else "integer"


@dataclass
class Text:
    """The text of a function while it is drawn."""

    draw: st.DrawFn
    lines: list[str] = field(default_factory=list)
    count: int = 0
    budget: int = 30  # ops that may still be drawn
    functions: list[str] = field(default_factory=list)
    elements: tuple[str, ...] = ELEMENTS
    without: Mapping[str, frozenset[str]] = field(default_factory=dict)  # ops that are not drawn, by element type of
    # their operands; if there are any, no scatter is either

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def op(self, text: str) -> str:
        """Append an op with one result; return the name of that."""
        name = self.name()
        self.lines.append(f"{name} = {text}")
        self.budget -= 1
        return name


Scope = dict[str, str]  # types by name


def pick(text: Text, scope: Scope, type: str) -> str:
    """Return the name of a value of a type, which is made if there is none."""
    known = [name for name, t in scope.items() if t == type]
    if known and text.draw(st.integers(0, 5)):
        return text.draw(st.sampled_from(known))
    element = type[len("tensor<") : -1].split("x")[-1]
    literals = {"i1": ("true", "false"), "float": ("1.5", "-0.0", "3.0", "-2.25"), "integer": ("0", "1", "3", "7")}
    literal = text.draw(st.sampled_from(literals[kind(element)]))
    name = text.op(f"stablehlo.constant dense<{literal}> : {type}")
    scope[name] = type
    return name


def draw_type(text: Text) -> str:
    return f"tensor<{text.draw(st.sampled_from(SHAPES))}{text.draw(st.sampled_from(text.elements))}>"


def names_of(text: Text, table: dict[str, tuple[str, ...]], element: str) -> list[str]:
    """Return the ops of a table on elements of a type."""
    without = text.without.get(element, frozenset())
    return [name for name in table[kind(element)] if name not in without]


def draw_op(text: Text, scope: Scope) -> None:
    """Append an op on values in scope."""
    type = text.draw(st.sampled_from(sorted(set(scope.values()))))
    shape, element = ("4x", type[9:-1]) if type.startswith("tensor<4x") else ("", type[7:-1])
    a, draw = pick(text, scope, type), text.draw
    form = draw(st.sampled_from(FORMS))
    result = type
    if form == "unary":
        made = text.op(f"stablehlo.{draw(st.sampled_from(names_of(text, UNARY, element)))} {a} : {type}")
    elif form == "binary":
        op = draw(st.sampled_from(names_of(text, BINARY, element)))
        made = text.op(f"stablehlo.{op} {a}, {pick(text, scope, type)} : {type}")
    elif form == "compare":
        result = f"tensor<{shape}i1>"
        is_total = kind(element) == "float" and not text.without and not draw(st.integers(0, 3))
        order = ", TOTALORDER" if is_total else ""
        b, direction = pick(text, scope, type), draw(st.sampled_from(DIRECTIONS))
        made = text.op(f"stablehlo.compare {direction}, {a}, {b}{order} : ({type}, {type}) -> {result}")
    elif form == "select":
        pred = f"tensor<{draw(st.sampled_from(('', shape)))}i1>"
        made = text.op(f"stablehlo.select {pick(text, scope, pred)}, {a}, {pick(text, scope, type)} : {pred}, {type}")
    elif form == "clamp":
        made = text.op(f"stablehlo.clamp {a}, {pick(text, scope, type)}, {pick(text, scope, type)} : {type}")
    elif form == "convert":
        result = f"tensor<{shape}{draw(st.sampled_from(text.elements))}>"
        made = text.op(f"stablehlo.convert {a} : ({type}) -> {result}")
    else:
        made, result = draw_shape_op(text, scope, a, element, bool(shape))
    scope[made] = result


def draw_shape_op(text: Text, scope: Scope, a: str, element: str, is_vector: bool) -> tuple[str, str]:
    """Append an op that takes elements out of a vector, or puts them in; return its result's name and type."""
    scalar, one, vector = (f"tensor<{shape}{element}>" for shape in ("", "1x", "4x"))
    if not is_vector:
        return text.op(f"stablehlo.broadcast_in_dim {a}, dims = [] : ({scalar}) -> {vector}"), vector
    index_type = f"tensor<{text.draw(st.sampled_from(INTEGERS))}>"
    index = pick(text, scope, index_type)
    forms = ("take", "put", "parts") if text.without else ("take", "put", "parts", "reverse", "scatter")
    form = text.draw(st.sampled_from(forms))
    if form == "reverse":
        return text.op(f"stablehlo.reverse {a}, dims = [0] : {vector}"), vector
    if form == "parts":
        b, three = pick(text, scope, vector), f"tensor<3x{element}>"
        first = text.op(f"stablehlo.slice {a} [2:3] : ({vector}) -> {one}")
        rest = text.op(f"stablehlo.slice {b} [1:4] : ({vector}) -> {three}")
        return text.op(f"stablehlo.concatenate {first}, {rest}, dim = 0 : ({one}, {three}) -> {vector}"), vector
    if form == "take":
        made = text.op(f"stablehlo.dynamic_slice {a}, {index}, sizes = [1] : ({vector}, {index_type}) -> {one}")
        if text.draw(st.booleans()):
            made = text.op(f"stablehlo.{text.draw(st.sampled_from(names_of(text, UNARY, element)))} {made} : {one}")
        if text.draw(st.booleans()):
            op = text.draw(st.sampled_from(names_of(text, BINARY, element)))
            made = text.op(f"stablehlo.{op} {made}, {made} : {one}")
        return text.op(f"stablehlo.reshape {made} : ({one}) -> {scalar}"), scalar
    if form == "scatter":
        return draw_scatter(text, a, index, pick(text, scope, scalar), index_type, element), vector
    update = text.op(f"stablehlo.reshape {pick(text, scope, scalar)} : ({scalar}) -> {one}")
    made = text.op(
        f"stablehlo.dynamic_update_slice {a}, {update}, {index} : ({vector}, {one}, {index_type}) -> {vector}"
    )
    return made, vector


def draw_scatter(text: Text, a: str, index: str, update: str, index_type: str, element: str) -> str:
    """Append an op that replaces an element of a vector, or adds to it; return its result's name."""
    vector, scalar, indices = f"tensor<4x{element}>", f"tensor<{element}>", f"tensor<1x{index_type[7:]}"
    index = text.op(f"stablehlo.reshape {index} : ({index_type}) -> {indices}")
    old, new, result = text.name(), text.name(), text.name()
    numbers = "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]"
    added = f"{result} = stablehlo.add {old}, {new} : {scalar}\n"
    added, result = (added, result) if text.draw(st.booleans()) else ("", new)
    body = f"^bb0({old}: {scalar}, {new}: {scalar}): {added}stablehlo.return {result} : {scalar}"
    return text.op(
        f'"stablehlo.scatter"({a}, {index}, {update}) ({{{body}}}) '
        f"{{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}} : ({vector}, {indices}, {scalar}) -> {vector}"
    )


def draw_block(text: Text, scope: Scope, depth: int) -> None:
    """Append a few ops, some of them with regions."""
    for _ in range(text.draw(st.integers(1, 6))):
        if text.budget <= 0:
            return
        form = text.draw(st.sampled_from(("op",) * 5 + ("if", "case", "while", "call")))
        if form == "op" or depth == 0:
            draw_op(text, scope)
        elif form == "while":
            draw_loop(text, scope, depth - 1)
        elif form == "call":
            draw_call(text, scope, depth - 1)
        else:
            draw_branches(text, scope, depth - 1, form)


def returned(text: Text, scope: Scope, types: list[str]) -> str:
    return ", ".join(pick(text, scope, type) for type in types)


def draw_branches(text: Text, scope: Scope, depth: int, form: str) -> None:
    types = [draw_type(text) for _ in range(text.draw(st.integers(1, 2)))]
    count = 2 if form == "if" else text.draw(st.integers(1, 3))
    chosen = pick(text, scope, "tensor<i1>" if form == "if" else "tensor<i32>")
    name = text.name()
    text.lines.append(f'{name}:{len(types)} = "stablehlo.{form}"({chosen}) (' + "{")
    for number in range(count):
        inner = dict(scope)
        draw_block(text, inner, depth)
        text.lines.append(f"stablehlo.return {returned(text, inner, types)} : {', '.join(types)}")
        text.lines.append("}, {" if number < count - 1 else "})")
    listed = ", ".join(types)
    text.lines.append(f": ({'tensor<i1>' if form == 'if' else 'tensor<i32>'}) -> ({listed})")
    scope.update({f"{name}#{i}": type for i, type in enumerate(types)})


def draw_loop(text: Text, scope: Scope, depth: int, turns: str | None = None) -> None:
    """Append a loop of a few turns, with state of which parts may stay or be exchanged."""
    types = ["tensor<i32>", *(draw_type(text) for _ in range(text.draw(st.integers(1, 3))))]
    turns = turns or str(text.draw(st.sampled_from((0, 1, 3, 6))))
    first, direction, bound, step = text.draw(st.sampled_from(COUNTERS))(int(turns))
    start = text.op(f"stablehlo.constant dense<{first}> : tensor<i32>")
    initial = ", ".join([start, *(pick(text, scope, type) for type in types[1:])])
    name, arguments = text.name(), [text.name() for _ in types]
    listed = ", ".join(types)
    header = ", ".join(f"{a}: {t}" for a, t in zip(arguments, types))
    text.lines.append(f'{name}:{len(types)} = "stablehlo.while"({initial}) (' + "{")
    limit, test = text.name(), text.name()
    text.lines += [
        f"^bb0({', '.join(f'{a}c: {t}' for a, t in zip(arguments, types))}):",
        f"{limit} = stablehlo.constant dense<{bound}> : tensor<i32>",
        f"{test} = stablehlo.compare {direction}, {arguments[0]}c, {limit} : (tensor<i32>, tensor<i32>) -> tensor<i1>",
        f"stablehlo.return {test} : tensor<i1>",
        "}, {",
        f"^bb0({header}):",
    ]
    inner = scope | dict(zip(arguments, types))
    following = draw_recurrences(text, inner, arguments[1:])
    draw_block(text, inner, depth)
    one = text.op(f"stablehlo.constant dense<{step}> : tensor<i32>")
    counted = text.op(f"stablehlo.add {arguments[0]}, {one} : tensor<i32>")
    states = [following.get(a) or pick(text, inner, t) for a, t in zip(arguments[1:], types[1:])]
    text.lines.append(f"stablehlo.return {', '.join([counted, *states])} : {listed}")
    text.lines.append("}) : (" + listed + ") -> (" + listed + ")")
    scope.update({f"{name}#{i}": type for i, type in enumerate(types)})


def draw_recurrences(text: Text, scope: Scope, arguments: list[str]) -> dict[str, str]:
    """Append the next state of some integers, which only those ops read, as in generators of random numbers."""
    following = {}
    for argument in arguments:
        type = scope[argument]
        if type[len("tensor<") : -1] in INTEGERS and text.draw(st.booleans()):
            made = argument
            for op in text.draw(st.lists(st.sampled_from(RING), min_size=1, max_size=2)):
                made = text.op(f"stablehlo.{op} {made}, {pick(text, scope, type)} : {type}")
            del scope[argument]
            scope[made] = type
            following[argument] = made
    return following


def draw_call(text: Text, scope: Scope, depth: int) -> None:
    """Append a call of a new function."""
    types = [draw_type(text) for _ in range(text.draw(st.integers(0, 2)))]
    result, symbol = draw_type(text), f"@f{len(text.functions)}"
    text.functions.append("")
    callee = Text(text.draw, budget=8, functions=text.functions, elements=text.elements, without=text.without)
    inner = {f"%a{i}": type for i, type in enumerate(types)}
    pick(callee, inner, "tensor<i32>")
    draw_block(callee, inner, depth)
    header = ", ".join(f"%a{i}: {type}" for i, type in enumerate(types))
    value = pick(callee, inner, result)
    body = "\n".join([*callee.lines, f"return {value} : {result}"])
    text.functions[int(symbol[2:])] = f"func.func private {symbol}({header}) -> {result} {{\n{body}\n}}\n"
    operands = [pick(text, scope, type) for type in types]
    scope[text.op(f"func.call {symbol}({', '.join(operands)}) : ({', '.join(types)}) -> {result}")] = result


@st.composite
def programs(draw: st.DrawFn, may_compile: bool = False, elements: tuple[str, ...] = ELEMENTS) -> tuple[str, list[str]]:
    """Draw a program with a loop at its top; return its text and the types of its arguments.

    If `may_compile` is set, all ops of the program can become machine code.
    """
    text = Text(draw, elements=elements)
    if may_compile:
        text.elements, text.without = COMPILED, NOT_COMPILED
    types = [draw_type(text) for _ in range(draw(st.integers(1, 4)))]
    scope = {f"%arg{i}": type for i, type in enumerate(types)}
    before = set(scope)
    draw_loop(text, scope, 2, turns="8")
    results = {name: type for name, type in scope.items() if name not in before and "#" in name}
    header = ", ".join(f"%arg{i}: {type}" for i, type in enumerate(types))
    listed = ", ".join(results.values())
    body = "\n".join([*text.lines, f"return {', '.join(results)} : {listed}"])
    return f"func.func @main({header}) -> ({listed}) {{\n{body}\n}}\n" + "".join(text.functions), types
