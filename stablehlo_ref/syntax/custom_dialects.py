"""The irregular pretty forms of ops of arith, cf, ml_program, shape and tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

from stablehlo_ref.define.definition import WITHOUT_MEANING
from stablehlo_ref.define.spec import element_type, with_element_type
from stablehlo_ref.ir.attributes import UNIT, Attribute, IntegerAttribute, OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import BOOLEAN, INDEX, ComplexType, OpaqueType, TensorType, Type, integer_type
from stablehlo_ref.syntax import attribute_text as text
from stablehlo_ref.syntax.directive import (
    Directive,
    Irregular,
    attribute_dictionary,
    member_value,
    other_attributes,
    print_dictionary,
)
from stablehlo_ref.syntax.draft import Draft
from stablehlo_ref.syntax.protocols import AsmParser, AsmPrinter

Types: TypeAlias = Sequence[Type]

DYNAMIC = -(1 << 63)  # MLIR's mark for a size that is not in the attribute but an operand

WITNESS = OpaqueType("!shape.witness")
SHAPE = OpaqueType("!shape.shape")
SIZE = OpaqueType("!shape.size")

# --- types ----------------------------------------------------------------------------------------------------------


class Deduced(Directive):
    """One type, from which all others follow.

    `shown` returns it, given the types of the operands and of the results; `follow` returns those, given the type and
    the number of operands.
    """

    def __init__(
        self, shown: Callable[[Types, Types], Type], follow: Callable[[Type, int], tuple[Types, Types]]
    ) -> None:
        self.shown = shown
        self.follow = follow

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        operands, results = self.follow(parser.type(), len(draft.operands))
        draft.operand_types, draft.result_types = tuple(operands), tuple(results)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        type = self.shown(op.operand_types, op.result_types)
        operands, results = self.follow(type, len(op.operands))
        if list(operands) != op.operand_types or list(results) != op.result_types:
            raise Irregular
        printer.value(str(type))


class Implied(Directive):
    """No text. `results` are the types of the results, `operands` those of a number of operands if they are implied."""

    def __init__(self, results: Types, operands: Callable[[int], Types] | None = None) -> None:
        self.results = results
        self.operands = operands

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.result_types = tuple(self.results)
        if self.operands:
            draft.operand_types = tuple(self.operands(len(draft.operands)))

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if op.result_types != list(self.results):
            raise Irregular
        if self.operands and op.operand_types != list(self.operands(len(op.operands))):
            raise Irregular


class Converted(Directive):
    """`type to type`, or the same with another word.

    Operands after the first have type `index`, except the second if it `updates` that: then it has the result's type.
    """

    def __init__(self, word: str, updates: bool = False) -> None:
        self.word = word
        self.updates = updates

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        first = parser.type()
        parser.expect(self.word)
        draft.result_types = (parser.type(),)
        draft.operand_types = (first, *self._rest(draft.result_types, len(draft.operands) - 1))

    def _rest(self, results: Types, count: int) -> list[Type]:
        return [*results[: self.updates], *[INDEX] * (count - self.updates)]

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if op.operand_types[1:] != self._rest(op.result_types, len(op.operands) - 1):
            raise Irregular
        printer.value(f"{op.operand_types[0]} {self.word} {op.result_types[0]}")


class ConditionAndType(Directive):
    """The type of the condition, unless it is `i1`, and the type of the other values."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        first = parser.type()
        condition, type = (first, parser.type()) if parser.accept(",") else (BOOLEAN, first)
        draft.operand_types, draft.result_types = (condition, type, type), (type,)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        condition, type, other = op.operand_types
        if not type == other == op.result_types[0]:
            raise Irregular
        printer.value(str(type) if condition == BOOLEAN else f"{condition}, {type}")


def boolean_like(type: Type) -> Type:
    """Return `i1`, or for a tensor type the same with element type `i1`."""
    return with_element_type(type, BOOLEAN) if isinstance(type, TensorType) else BOOLEAN


def part_type(type: Type) -> Type:
    """Return the type of the parts of a complex type; any other type itself."""
    return type.element if isinstance(type, ComplexType) else type


def first_operand(operands: Types, results: Types) -> Type:
    """Return the type of the first operand."""
    return operands[0]


def first_result(operands: Types, results: Types) -> Type:
    """Return the type of the first result."""
    return results[0]


# --- operands and attributes ----------------------------------------------------------------------------------------


class Flags(Directive):
    """`upward`, `exact`, `nneg`, `overflow<nsw, nuw>` and `fastmath<fast>`, all optional."""

    rounding_modes = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")
    words: ClassVar[dict[str, tuple[str, Attribute]]] = {
        "exact": ("is_exact", UNIT),
        "nneg": ("non_negative", UNIT),
        **{word: ("rounding_mode", IntegerAttribute(i, integer_type(32))) for i, word in enumerate(rounding_modes)},
    }
    with_values = ("overflow", "fastmath")
    members: tuple[str, ...] = ("is_exact", "non_negative", "rounding_mode", *with_values)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        name, value = self.words.get(parser.peek(), ("", None))
        if draft.definition is not None and name in draft.definition.attributes:
            parser.advance()
            draft.members[name] = value
        for name in self.with_values:
            if parser.accept(name):
                draft.members[name] = OpaqueAttribute(f"#arith.{name}{parser.balanced_text('flags')}")

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        for name in self.members[: -len(self.with_values)]:
            if (value := op.properties.get(name)) is not None:
                word = next((w for w, known in self.words.items() if known == (name, value)), None)
                if word is None:
                    raise Irregular
                printer.value(word)
        for name in self.with_values:
            flags = op.properties.get(name)
            if flags is not None and not isinstance(flags, OpaqueAttribute):
                raise Irregular
            if flags is not None:
                printer.value(flags.text.removeprefix("#arith."))


class LaterFlags(Flags):
    """Flags that earlier versions of MLIR have in the dictionary: what both read is the generic form."""

    members = ()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if any(op.properties.get(name) is not None for name in Flags.members):
            raise Irregular


class TypedValue(Directive):
    """`dense<...> : type`, `5 : index`, `true`: a constant, whose type is that of the result."""

    members = ("value",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        offset, value = parser.start, parser.attribute()
        type = BOOLEAN if isinstance(value, bool) else getattr(value, "type", None)
        if type is None:
            raise parser.error("expected a constant with a type", offset)
        draft.members["value"], draft.result_types = value, (type,)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        value = member_value(op, "value")
        if op.result_types != [BOOLEAN if isinstance(value, bool) else value.type]:
            raise Irregular
        printer.value(text.attribute_text(value))


class BaseAndPower(Directive):
    """The types of a base, which the result has too, and of a power."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        base = parser.type()
        parser.expect(",")
        draft.operand_types, draft.result_types = (base, parser.type()), (base,)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if op.result_types != op.operand_types[:1]:
            raise Irregular
        printer.value(", ".join(map(str, op.operand_types)))


class ConstantShape(Directive):
    """`[1, 2]`, which MLIR does not allow in the dictionary too."""

    members = ("sizes",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.members["sizes"] = parser.dimensions()
        draft.exclusive = ("shape",)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(text.dimensions_text(member_value(op, "sizes")))


class PoisonValue(Directive):
    """`<#attribute>`: the value of a poison, unless it is `#ub.poison`."""

    members = ("value",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.accept("<"):
            draft.members["value"] = parser.attribute()
            parser.expect(">")

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        value = op.properties.get("value")
        if value is not None and value != OpaqueAttribute("#ub.poison"):
            printer.value(f"<{text.attribute_text(value)}>")


class Indexed(Directive):
    """`%tensor[%i, %j]`; with `into`, `%scalar into %tensor[%i, %j]`."""

    def __init__(self, into: bool = False) -> None:
        self.into = into

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands.append(parser.operand())
        if self.into:
            parser.expect("into")
            draft.operands.append(parser.operand())
        if parser.peek() == "[":
            draft.operands += parser.items(parser.operand, "[", "]")

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if self.into:
            printer.value(f"{printer.operand(op.operands[0])} into")
        first, *indices = op.operands[self.into :]
        printer.value(f"{printer.operand(first)}[{printer.operands(indices)}]")


class Called(Directive):
    """`%x(%y)`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands.append(parser.operand())
        draft.operands += parser.items(parser.operand, "(", ")")

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        first, *rest = op.operands
        printer.value(f"{printer.operand(first)}({printer.operands(rest)})")


class NoInline(Directive):
    """`<no_inline>`, or nothing. Earlier versions of MLIR write `{no_inline}`: what both read is the generic form."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.accept("<"):
            parser.expect("no_inline")
            parser.expect(">")
            draft.attributes["no_inline"] = UNIT

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if not op.attributes.keys().isdisjoint(WITHOUT_MEANING[op.name]):
            raise Irregular


class Reassociation(Directive):
    """`[[0, 1], [2]]`, followed by `output_shape [2, %n, 3]` if dimensions are expanded."""

    def __init__(self, expands: bool) -> None:
        self.expands = expands
        self.members = ("reassociation", "static_output_shape") if expands else ("reassociation",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.members["reassociation"] = tuple(parser.items(parser.dimensions, "[", "]"))
        if self.expands:
            parser.expect("output_shape")
            sizes = parser.items(lambda: self._size(parser, draft), "[", "]")
            draft.members["static_output_shape"] = tuple(sizes)

    def _size(self, parser: AsmParser, draft: Draft) -> int:
        if parser.peek()[:1] != "%":
            return parser.integer()
        draft.operands.append(parser.operand())
        return DYNAMIC

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        groups = member_value(op, "reassociation")
        printer.value(f"[{', '.join(map(text.dimensions_text, groups))}]")
        if self.expands:
            dynamic = iter(op.operands[1:])
            sizes = member_value(op, "static_output_shape")
            sizes = op.results[0].type.shape if sizes is None else sizes  # type: ignore[attr-defined]
            written = [printer.operand(next(dynamic)) if n == DYNAMIC else str(n) for n in sizes]
            printer.value(f"output_shape [{', '.join(written)}]")


class FirstOperand(Directive):
    """`%x`: the first operand of several."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands.append(parser.operand())

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(printer.operand(op.operands[0]))


# --- regions and symbols --------------------------------------------------------------------------------------------


class Assuming(Directive):
    """`%witness -> (types) {...}`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands, draft.operand_types = [parser.operand()], (WITNESS,)
        if parser.accept("->"):
            draft.result_types = tuple(parser.items(parser.type, "(", ")"))
        draft.regions = [parser.region()]
        attribute_dictionary(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if op.operand_types != [WITNESS] or len(op.regions) != 1:
            raise Irregular
        printer.value(printer.operand(op.operands[0]))
        if op.results:
            printer.value(f"-> ({', '.join(map(str, op.result_types))})")
        printer.value("")
        printer.region(op.regions[0])
        print_dictionary(printer, other_attributes(op, ()))


class Global(Directive):
    """`visibility mutable @name(value) : type`; the visibility, `mutable` and the value are optional."""

    members = ("sym_visibility", "is_mutable", "sym_name", "value", "type")

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.peek() in ("public", "private", "nested"):
            draft.members["sym_visibility"] = parser.advance()
        if parser.accept("mutable"):
            draft.members["is_mutable"] = True
        draft.members["sym_name"] = parser.symbol_name()
        if parser.accept("("):
            draft.members["value"] = parser.attribute()
            parser.expect(")")
        parser.expect(":")
        draft.members["type"] = parser.type()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        visibility = op.properties.get("sym_visibility") or ""
        mutable = "mutable" if op.properties.get("is_mutable") else ""
        value = op.properties.get("value")
        symbol = text.symbol(member_value(op, "sym_name")) + (
            f"({text.attribute_text(value)})" if value is not None else ""
        )
        printer.value(
            " ".join(part for part in (visibility, mutable, symbol, ":", str(member_value(op, "type"))) if part)
        )


DIALECT_FORMS: dict[str, Directive] = {
    "arith_flags": Flags(),
    "assuming": Assuming(),
    "base_and_power": BaseAndPower(),
    "boolean_operands": Implied((), lambda n: [BOOLEAN] * n),
    "called": Called(),
    "cast_type": Converted("to"),
    "collapsed": Reassociation(expands=False),
    "constant_shape": ConstantShape(),
    "compared_type": Deduced(first_operand, lambda t, n: ([t] * n, [boolean_like(t)])),
    "condition_type": ConditionAndType(),
    "dim_type": Deduced(first_operand, lambda t, n: ([t, INDEX], [INDEX])),
    "elements_type": Deduced(first_result, lambda t, n: ([element_type(t)] * n, [t])),
    "expanded": Reassociation(expands=True),
    "extracted_type": Deduced(first_operand, lambda t, n: ([t] + [INDEX] * (n - 1), [element_type(t)])),
    "first_operand": FirstOperand(),
    "global": Global(),
    "index_type": Deduced(first_operand, lambda t, n: ([t] * n, [INDEX])),
    "indexed": Indexed(),
    "inserted": Indexed(into=True),
    "inserted_type": Deduced(first_result, lambda t, n: ([element_type(t), t] + [INDEX] * (n - 2), [t])),
    "into_type": Converted("into"),
    "updated_type": Converted("into", updates=True),
    "later_flags": LaterFlags(),
    "no_inline": NoInline(),
    "poison_value": PoisonValue(),
    "sizes_type": Deduced(first_result, lambda t, n: ([INDEX] * n, [t])),
    "splat_type": Deduced(first_result, lambda t, n: ([element_type(t)] + [INDEX] * (n - 1), [t])),
    "type_of_number": Deduced(first_operand, lambda t, n: ([t] * n, [part_type(t)])),
    "type_of_parts": Deduced(first_result, lambda t, n: ([part_type(t)] * n, [t])),
    "typed_value": TypedValue(),
    "witness": Implied((WITNESS,)),
    "witness_of_booleans": Implied((WITNESS,), lambda n: [BOOLEAN] * n),
    "witness_of_witnesses": Implied((WITNESS,), lambda n: [WITNESS] * n),
    "yields_boolean": Implied((BOOLEAN,)),
    "yields_index": Implied((INDEX,)),
    "yields_shape": Implied((SHAPE,)),
    "yields_size": Implied((SIZE,), lambda n: [INDEX] * n),
}
