"""The irregular pretty forms of StableHLO's ops; the `syntax` of a class refers to them as `custom(name)`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import ClassVar, TypeAlias

from stablehlo_ref.define.attribute_codecs import EnumCodec, ListCodec
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.members import Undecodable
from stablehlo_ref.ir.attributes import Attribute, DenseElements, DenseResource, IntegerAttribute, StructAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.syntax import attribute_text as text
from stablehlo_ref.syntax.directive import (
    Directive,
    Irregular,
    attribute_dictionary,
    give,
    member_value,
    other_attributes,
    print_dictionary,
)
from stablehlo_ref.syntax.draft import Draft
from stablehlo_ref.syntax.function import Function, Module
from stablehlo_ref.syntax.protocols import AsmParser, AsmPrinter
from stablehlo_ref.syntax.regions import Reduce, Scan, While

WindowValue: TypeAlias = "tuple[int, ...] | tuple[tuple[int, ...], ...] | tuple[bool, ...]"


class Constant(Directive):
    """`attr-dict dense<...> : type`, or `() {value = dense<...> : type} : () -> type` if the two types differ."""

    members = ("value",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.accept("("):
            parser.expect(")")
            parser.properties(draft)
            attribute_dictionary(parser, draft)
            parser.expect(":")
            draft.operand_types, draft.result_types = (type := parser.function_type()).inputs, type.outputs
            return
        draft.exclusive = self.members
        attribute_dictionary(parser, draft)
        offset = parser.start
        value = parser.attribute()
        if not isinstance(value, DenseElements | DenseResource):
            raise parser.error("expected a tensor constant such as 'dense<0.0> : tensor<f32>'", offset)
        draft.members["value"] = value
        draft.result_types = (value.type,)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        value = member_value(op, "value")
        if op.result_types != [value.type]:
            raise Irregular
        print_dictionary(printer, other_attributes(op, self.members))
        printer.value(text.attribute_text(value))


class OperandsAndCommas(Directive):
    """Operands, each followed by a comma. MLIR prints `%0, , sizes` if a part of the list is empty."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        while parser.peek()[:1] == "%":
            draft.operands.append(parser.operand())
            parser.expect(",")
        if draft.operands:
            parser.accept(",")

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if not op.operands:
            raise Irregular
        printer.value(printer.operands(op.operands) + ",")


class SliceRanges(Directive):
    """`[start:limit:stride, ...]`, where a stride of 1 is omitted."""

    members = ("start_indices", "limit_indices", "strides")

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        ranges = parser.items(lambda: self._range(parser), "[", "]")
        for index, name in enumerate(self.members):
            draft.members[name] = tuple(r[index] for r in ranges)

    def _range(self, parser: AsmParser) -> tuple[int, int, int]:
        start = parser.integer()
        parser.expect(":")
        limit = parser.integer()
        return start, limit, parser.integer() if parser.accept(":") else 1

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        starts, limits, strides = (member_value(op, name) for name in self.members)
        if not len(starts) == len(limits) == len(strides):
            raise Irregular
        ranges = [f"{a}:{b}" if s == 1 else f"{a}:{b}:{s}" for a, b, s in zip(starts, limits, strides)]
        printer.value(f"[{', '.join(ranges)}]")


class DotDimensions(Directive):
    """`batching_dims = [...] x [...], contracting_dims = [...] x [...]`."""

    members = (
        "lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
        "rhs_contracting_dimensions",
    )  # fmt: skip

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        batching, contracting = self.members[:2], self.members[2:]
        if parser.accept("batching_dims"):
            self._pair(parser, draft, batching)
            parser.expect(",")
        else:
            draft.members.update(dict.fromkeys(batching, ()))
        parser.expect("contracting_dims")
        self._pair(parser, draft, contracting)

    def _pair(self, parser: AsmParser, draft: Draft, names: tuple[str, ...]) -> None:
        for token, name in zip("=x", names):
            parser.expect(token)
            draft.members[name] = parser.dimensions()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        lists = [text.dimensions_text(member_value(op, name)) for name in self.members]
        if lists[:2] != ["[]", "[]"]:
            printer.value(f"batching_dims = {lists[0]} x {lists[1]},")
        printer.value(f"contracting_dims = {lists[2]} x {lists[3]}")


class Precision(Directive):
    """`, precision = [DEFAULT, DEFAULT], algorithm = <...>`, both optional."""

    members = (
        "precision_config", "lhs_precision_type", "rhs_precision_type", "accumulation_type", "lhs_component_count",
        "rhs_component_count", "num_primitive_operations", "allow_imprecise_accumulation",
    )  # fmt: skip

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        while parser.accept(","):
            if "precision_config" not in draft.members and parser.accept("precision"):
                parser.expect("=")
                draft.members["precision_config"] = self._precisions(parser, draft)
            elif parser.accept("algorithm"):
                parser.expect("=")
                give(draft, "algorithm", parser.struct("stablehlo.dot_algorithm"))
                return
            else:
                raise parser.expected("'precision' or 'algorithm'")

    def _precisions(self, parser: AsmParser, draft: Draft) -> tuple[Enum, ...]:
        codec = REGISTRY[draft.name].attributes["precision_config"].codec
        assert isinstance(codec, ListCodec) and isinstance(codec.element, EnumCodec)
        element = codec.element
        return tuple(parser.items(lambda: self._precision(parser, element), "[", "]"))

    def _precision(self, parser: AsmParser, codec: EnumCodec) -> Enum:
        word = parser.peek()
        if word not in codec.enum.__members__:
            raise parser.expected(codec.name)
        parser.advance()
        return codec.enum[word]

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        precisions = op.properties.get("precision_config")
        if isinstance(precisions, Undecodable):
            raise Irregular
        if precisions is not None:
            printer.literal(",")
            printer.value(f"precision = [{', '.join(p.name for p in precisions)}]")
        algorithm = REGISTRY[op.name].encode(op.properties).get("algorithm")
        if isinstance(algorithm, StructAttribute):
            printer.literal(",")
            printer.value(f"algorithm = <{text.struct_text(algorithm.name, algorithm.fields)}>")


class ConvolutionDimensions(Directive):
    """`[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`."""

    members = (
        "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions",
        "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions",
        "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions",
    )  # fmt: skip

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        give(draft, "dimension_numbers", StructAttribute("stablehlo.conv", parser.convolution_lists()))

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        fields = {name: _as_attribute(member_value(op, name)) for name in self.members}
        lists = text.convolution_text(fields)
        if lists is None:
            raise Irregular
        printer.value(lists)


def _as_attribute(value: int | tuple[int, ...]) -> Attribute:
    return tuple(map(IntegerAttribute, value)) if isinstance(value, tuple) else IntegerAttribute(value)


class Window(Directive):
    """`stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = ..., rhs_dilate = ..., reverse = [false, false]`."""

    words: ClassVar[Mapping[str, str]] = {
        "stride": "window_strides",
        "pad": "padding",
        "lhs_dilate": "lhs_dilation",
        "rhs_dilate": "rhs_dilation",
        "reverse": "window_reversal",
    }
    members = tuple(words.values())

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        while parser.peek() != "}":
            offset, word = parser.start, parser.advance()
            if word not in self.words or self.words[word] in draft.members:
                raise parser.error(f"Unexpected keyword {word}", offset)
            parser.expect("=")
            draft.members[self.words[word]] = self._value(parser, word)
            if not parser.accept(","):
                return

    def _value(self, parser: AsmParser, word: str) -> WindowValue:
        if word == "pad":
            return tuple(parser.items(lambda: self._pair(parser), "[", "]"))
        if word == "reverse":
            return tuple(parser.items(lambda: self._flag(parser), "[", "]"))
        return parser.dimensions()

    def _pair(self, parser: AsmParser) -> tuple[int, ...]:
        offset, pair = parser.start, parser.dimensions()
        if len(pair) != 2:
            raise parser.error(f"Expected array with 2 elements, got {len(pair)} elements instead", offset)
        return pair

    def _flag(self, parser: AsmParser) -> bool:
        if parser.peek() in ("true", "false"):
            return parser.advance() == "true"
        return bool(parser.integer())

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        written = []
        for word, name in self.words.items():
            value = op.properties.get(name)
            if isinstance(value, Undecodable):
                raise Irregular
            if value is not None:
                written.append(f"{word} = {self._text(word, value)}")
        printer.value(", ".join(written))

    def _text(self, word: str, value: WindowValue) -> str:
        if word == "pad":
            return f"[{', '.join(text.dimensions_text(pair) for pair in value if isinstance(pair, tuple))}]"
        return text.attribute_text(value) if word == "reverse" else text.dimensions_text(value)


class CallTarget(Directive):
    """`@target`."""

    members = ("call_target_name",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.members["call_target_name"] = parser.symbol_name()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(text.symbol(member_value(op, "call_target_name")))


class ExponentMantissa(Directive):
    """`e5m10`."""

    members = ("exponent_bits", "mantissa_bits")
    _match = re.compile(r"e(\d{1,9})m(\d{1,9})").fullmatch

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        match = self._match(parser.peek())
        if not match:
            raise parser.expected("a format such as 'e5m10'")
        parser.advance()
        draft.members |= zip(self.members, map(int, match.groups()))

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        exponent, mantissa = (member_value(op, name) for name in self.members)
        if exponent < 0 or mantissa < 0:
            raise Irregular
        printer.value(f"e{exponent}m{mantissa}")


class Barrier(Directive):
    """`%0, %1 : type, type`, or `()`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.accept("("):
            parser.expect(")")
            return
        draft.operands = parser.operand_list()
        parser.expect(":")
        offset = parser.start
        types = parser.type_list()
        if len(types) != len(draft.operands):
            raise parser.error(f"{len(draft.operands)} operands present, but expected {len(types)}", offset)
        draft.operand_types = draft.result_types = types

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if op.operand_types != op.result_types:
            raise Irregular
        if not op.operands:
            printer.literal("(")
            printer.literal(")")
            return
        printer.value(f"{printer.operands(op.operands)} : {', '.join(map(str, op.operand_types))}")


FORMS: dict[str, Directive] = {
    "barrier": Barrier(),
    "call_target": CallTarget(),
    "constant": Constant(),
    "convolution_dimensions": ConvolutionDimensions(),
    "dot_dimensions": DotDimensions(),
    "exponent_mantissa": ExponentMantissa(),
    "function": Function(),
    "module": Module(),
    "operands_and_commas": OperandsAndCommas(),
    "precision": Precision(),
    "reduce": Reduce(),
    "scan": Scan(),
    "slice_ranges": SliceRanges(),
    "while": While(),
    "window": Window(),
}
