"""The few irregular pretty forms, as pairs of a parse and a print; a class's `syntax` names them as `custom(name)`."""

from __future__ import annotations

import re
from typing import Any

from stablehlo_ref.define import Op, Undecodable
from stablehlo_ref.ir.attributes import DenseElements, DenseResource, IntegerAttribute, StructAttribute
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import TensorType, tensor_type
from stablehlo_ref.kinds import OneOf
from stablehlo_ref.syntax import attribute_text as text
from stablehlo_ref.syntax.directive import Directive, Draft, Irregular
from stablehlo_ref.syntax.function import Function, Module


def attribute_dictionary(parser: Any, draft: Draft, keyword: str = "") -> None:
    """`(attributes)? {...}`, if it stands there."""
    if keyword and not parser.accept(keyword):
        return
    if keyword or parser.peek() == "{":
        draft.attributes |= parser.dictionary()


def other_attributes(op: Operation, members: tuple[str, ...]) -> dict[str, Any]:
    """The attributes of `op`, as written, less some of its members."""
    rest = {name: value for name, value in op.properties.items() if name not in members}
    return op.definition.encode(rest) | op.attributes  # type: ignore[union-attr]


def print_dictionary(printer: Any, entries: dict[str, Any], keyword: str = "") -> None:
    if entries:
        printer.value(f"{keyword} {text.dictionary_text(entries)}".lstrip())


def struct_of(op: Operation, name: str) -> Any:
    """The fields of a group of members, as they are written; Irregular where there are none."""
    struct = op.definition.encode(op.properties).get(name)  # type: ignore[union-attr]
    if not isinstance(struct, StructAttribute):
        raise Irregular
    return struct


def integers(values: Any) -> tuple[int, ...]:
    """The values of a list of integer attributes."""
    if not isinstance(values, tuple) or not all(isinstance(v, IntegerAttribute) for v in values):
        return tuple(values.values) if hasattr(values, "values") else ()
    return tuple(v.value for v in values)


def member(op: Operation, name: str) -> Any:
    """The value of an attribute member; Irregular where there is none."""
    value = op.properties.get(name)
    if value is None or isinstance(value, Undecodable):
        raise Irregular
    return value


class Constant(Directive):
    """`attr-dict dense<...> : type`, or `() {value = dense<...> : type} : () -> type`, where the two types differ."""

    members = ("value",)

    def parse(self, parser: Any, draft: Draft) -> None:
        if parser.accept("("):
            parser.expect(")")
            parser.properties(draft)
            attribute_dictionary(parser, draft)
            parser.expect(":")
            draft.operand_types, draft.result_types = (type := parser.function_type()).inputs, type.outputs
            return
        attribute_dictionary(parser, draft)
        offset = parser.start
        value = parser.attribute()
        if not isinstance(value, DenseElements | DenseResource):
            raise parser.error("expected a tensor constant such as 'dense<0.0> : tensor<f32>'", offset)
        draft.members["value"] = value
        draft.result_types = (value.type,)

    def print(self, printer: Any, op: Operation) -> None:
        value = member(op, "value")
        if op.result_types != [value.type]:
            raise Irregular
        print_dictionary(printer, other_attributes(op, self.members))
        printer.value(text.attribute_text(value))


class OperandsAndCommas(Directive):
    """Every operand with a comma behind it; `%0, , sizes` is what upstream prints for an empty part of the list."""

    def parse(self, parser: Any, draft: Draft) -> None:
        while parser.peek()[:1] == "%":
            draft.operands.append(parser.operand())
            parser.expect(",")
        if draft.operands:
            parser.accept(",")

    def print(self, printer: Any, op: Operation) -> None:
        printer.value(printer.operands(op.operands) + ",")


class SliceRanges(Directive):
    """`[start:limit:stride, ...]`, where a stride of 1 is left out."""

    members = ("start_indices", "limit_indices", "strides")

    def parse(self, parser: Any, draft: Draft) -> None:
        ranges = parser.items(lambda: self._range(parser), "[", "]")
        for index, name in enumerate(self.members):
            draft.members[name] = tuple(r[index] for r in ranges)

    def _range(self, parser: Any) -> tuple[int, int, int]:
        start = parser.integer()
        parser.expect(":")
        limit = parser.integer()
        return start, limit, parser.integer() if parser.accept(":") else 1

    def print(self, printer: Any, op: Operation) -> None:
        starts, limits, strides = (member(op, name) for name in self.members)
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

    def parse(self, parser: Any, draft: Draft) -> None:
        batching: list[tuple[int, ...]] = [(), ()]
        if parser.accept("batching_dims"):
            batching = self._pair(parser)
            parser.expect(",")
        parser.expect("contracting_dims")
        draft.members |= zip(self.members, batching + self._pair(parser))

    def _pair(self, parser: Any) -> list[tuple[int, ...]]:
        parser.expect("=")
        lhs = parser.dimensions()
        parser.expect("x")
        return [lhs, parser.dimensions()]

    def print(self, printer: Any, op: Operation) -> None:
        lists = [text.dimensions_text(member(op, name)) for name in self.members]
        if lists[:2] != ["[]", "[]"]:
            printer.value(f"batching_dims = {lists[0]} x {lists[1]},")
        printer.value(f"contracting_dims = {lists[2]} x {lists[3]}")


class Precision(Directive):
    """`, precision = [DEFAULT, DEFAULT], algorithm = <...>`, each if it is there."""

    members = ("precision_config",)

    def parse(self, parser: Any, draft: Draft) -> None:
        while parser.accept(","):
            if "precision_config" not in draft.members and parser.accept("precision"):
                parser.expect("=")
                kind = draft.definition.attributes["precision_config"].kind.element  # type: ignore[union-attr]
                draft.members["precision_config"] = tuple(parser.items(lambda: self._precision(parser, kind), "[", "]"))
            elif parser.accept("algorithm"):
                parser.expect("=")
                draft.attributes["algorithm"] = parser.struct("stablehlo.dot_algorithm")
                return
            else:
                raise parser.expected("'precision' or 'algorithm'")

    def _precision(self, parser: Any, kind: OneOf) -> Any:
        word = parser.peek()
        if word not in kind.enum.__members__:
            raise parser.expected(kind.name)
        parser.advance()
        return kind.enum[word]

    def print(self, printer: Any, op: Operation) -> None:
        precisions = op.properties.get("precision_config")
        if isinstance(precisions, Undecodable):
            raise Irregular
        if precisions is not None and (precisions or op.definition.attributes["precision_config"].default != ()):  # type: ignore[union-attr]
            printer.literal(",")
            printer.value(f"precision = [{', '.join(p.name for p in precisions)}]")


class ConvolutionDimensions(Directive):
    """`[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`."""

    members = (
        "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions",
        "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions",
        "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions",
    )  # fmt: skip

    def parse(self, parser: Any, draft: Draft) -> None:
        draft.attributes["dimension_numbers"] = StructAttribute("stablehlo.conv", parser.convolution_lists())

    def print(self, printer: Any, op: Operation) -> None:
        fields = {name: _as_attribute(member(op, name)) for name in self.members}
        lists = text.convolution_text(fields)
        if lists is None:
            raise Irregular
        printer.value(lists)


def _as_attribute(value: Any) -> Any:
    return tuple(map(IntegerAttribute, value)) if isinstance(value, tuple) else IntegerAttribute(value)


class Window(Directive):
    """`stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = ..., rhs_dilate = ..., reverse = [false, false]`."""

    words = {
        "stride": "window_strides",
        "pad": "padding",
        "lhs_dilate": "lhs_dilation",
        "rhs_dilate": "rhs_dilation",
        "reverse": "window_reversal",
    }
    members = tuple(words.values())

    def parse(self, parser: Any, draft: Draft) -> None:
        while parser.peek() in self.words:
            offset, word = parser.start, parser.advance()
            if self.words[word] in draft.members:
                raise parser.error(f"'{word}' stands twice", offset)
            parser.expect("=")
            draft.members[self.words[word]] = self._value(parser, word)
            if not parser.accept(","):
                return

    def _value(self, parser: Any, word: str) -> Any:
        if word == "pad":
            return tuple(parser.items(lambda: self._pair(parser), "[", "]"))
        if word == "reverse":
            return tuple(parser.items(lambda: self._flag(parser), "[", "]"))
        return parser.dimensions()

    def _pair(self, parser: Any) -> tuple[int, ...]:
        offset, pair = parser.start, parser.dimensions()
        if len(pair) != 2:
            raise parser.error(f"expected two numbers, found {len(pair)}", offset)
        return pair  # type: ignore[no-any-return]

    def _flag(self, parser: Any) -> bool:
        if parser.peek() in ("true", "false"):
            return bool(parser.advance() == "true")
        return bool(parser.integer())

    def print(self, printer: Any, op: Operation) -> None:
        written = []
        for word, name in self.words.items():
            value = op.properties.get(name)
            if isinstance(value, Undecodable):
                raise Irregular
            if value is not None:
                written.append(f"{word} = {self._text(word, value)}")
        printer.value(", ".join(written))

    def _text(self, word: str, value: Any) -> str:
        if word == "pad":
            return f"[{', '.join(map(text.dimensions_text, value))}]"
        if word == "reverse":
            return text.attribute_text(tuple(value))
        return text.dimensions_text(value)


class CallTarget(Directive):
    """`@target`."""

    members = ("call_target_name",)

    def parse(self, parser: Any, draft: Draft) -> None:
        draft.members["call_target_name"] = parser.symbol_name()

    def print(self, printer: Any, op: Operation) -> None:
        printer.value(text.symbol(member(op, "call_target_name")))


class CompositeName(Directive):
    """`"namespace.name"`."""

    members = ("composite_name",)

    def parse(self, parser: Any, draft: Draft) -> None:
        draft.attributes["name"] = parser.string()

    def print(self, printer: Any, op: Operation) -> None:
        printer.value(text.quoted(member(op, "composite_name")))


class ExponentMantissa(Directive):
    """`e5m10`."""

    members = ("exponent_bits", "mantissa_bits")
    _match = re.compile(r"e(\d{1,9})m(\d{1,9})").fullmatch

    def parse(self, parser: Any, draft: Draft) -> None:
        match = self._match(parser.peek())
        if not match:
            raise parser.expected("a format such as 'e5m10'")
        parser.advance()
        draft.members |= zip(self.members, map(int, match.groups()))

    def print(self, printer: Any, op: Operation) -> None:
        exponent, mantissa = (member(op, name) for name in self.members)
        printer.value(f"e{exponent}m{mantissa}")


class Barrier(Directive):
    """`%0, %1 : type, type`, or `()`."""

    def parse(self, parser: Any, draft: Draft) -> None:
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

    def print(self, printer: Any, op: Operation) -> None:
        if op.operand_types != op.result_types:
            raise Irregular
        if not op.operands:
            printer.value("()")
            return
        printer.value(f"{printer.operands(op.operands)} : {', '.join(map(str, op.operand_types))}")


class While(Directive):
    """`(%arg = %init, ...) : types attributes {...} cond {...} do {...}`."""

    def parse(self, parser: Any, draft: Draft) -> None:
        pairs = parser.items(lambda: self._pair(parser), "(", ")")
        draft.operands = [init for _, init in pairs]
        draft.operand_types = ()
        if pairs:
            parser.expect(":")
            offset = parser.start
            draft.operand_types = parser.type_list()
            if len(draft.operand_types) != len(pairs):  # type: ignore[arg-type]
                raise parser.error(f"{len(pairs)} operands present, but expected {len(draft.operand_types)}", offset)  # type: ignore[arg-type]
        draft.result_types = draft.operand_types  # type: ignore[assignment]
        attribute_dictionary(parser, draft, "attributes")
        for keyword in ("cond", "do"):
            parser.expect(keyword)
            draft.regions.append(parser.region(parser.arguments([arg for arg, _ in pairs], draft.operand_types)))

    def _pair(self, parser: Any) -> tuple[tuple[str, int], tuple[str, int]]:
        argument = parser.operand()
        parser.expect("=")
        return argument, parser.operand()

    def print(self, printer: Any, op: Operation) -> None:
        if len(op.regions) != 2 or op.operand_types != op.result_types or not all(map(_is_plain, op.regions)):
            raise Irregular
        cond, body = (region.block.arguments for region in op.regions)
        if not op.operand_types == [v.type for v in cond] == [v.type for v in body]:
            raise Irregular
        names = printer.region_argument_names(cond, body)
        pairs = (f"%{name} = {printer.operand(init)}" for name, init in zip(names, op.operands))
        printer.value(f"({', '.join(pairs)})")
        if op.operands:
            printer.value(f": {', '.join(map(str, op.operand_types))}")
        print_dictionary(printer, other_attributes(op, ()), "attributes")
        for keyword, region in zip(("cond", "do"), op.regions):
            if keyword == "cond":
                printer.newline()
            printer.value(f"{keyword} ")
            printer.region(region, names)


def _is_plain(region: Region) -> bool:
    """Whether a region can be printed without its block's arguments."""
    return len(region.blocks) == 1 and bool(region.block.operations)


class Reduce(Directive):
    """`(%input init: %init), ... applies op across dimensions = [...] attr-dict : functional_type`, or without `applies`
    and with `reducer(%a: type, %b: type) ... {...}` behind the type."""

    members = ("dimensions",)

    def parse(self, parser: Any, draft: Draft) -> None:
        pairs = [self._pair(parser)]
        while parser.accept(","):
            pairs.append(self._pair(parser))
        draft.operands = [x for x, _ in pairs] + [init for _, init in pairs]
        offset = parser.start
        inner = parser.op_name() if parser.accept("applies") else None
        for token in ("across", "dimensions", "="):
            parser.expect(token)
        draft.members["dimensions"] = parser.dimensions()
        attribute_dictionary(parser, draft)
        parser.expect(":")
        parser.functional_type(draft)
        draft.regions = [self._applied(parser, draft, inner, offset) if inner else self._reducer(parser)]

    def _pair(self, parser: Any) -> tuple[tuple[str, int], tuple[str, int]]:
        parser.expect("(")
        operand = parser.operand()
        parser.expect("init")
        parser.expect(":")
        init = parser.operand()
        parser.expect(")")
        return operand, init

    def _applied(self, parser: Any, draft: Draft, inner: str, offset: int) -> Region:
        definition = Op.registry.get(inner)
        if definition is None or not definition.commutative or len(definition.operands) != 2:
            raise parser.error(f"'{inner}' is not a commutative op of two operands", offset)
        element = draft.operand_types[0] if draft.operand_types else None
        if not isinstance(element, TensorType):
            raise parser.error("'applies' needs an operand that is a tensor", offset)
        scalar, location = tensor_type((), element.element_type), parser.location(draft.offset)
        arguments = [Value(scalar, None, index) for index in range(2)]
        applied = Operation(inner, definition, list(arguments), [scalar], {}, {}, [], location)
        name = f"{draft.name.partition('.')[0]}.return"
        returned = Operation(name, Op.registry.get(name), list(applied.results), [], {}, {}, [], location)
        return Region([Block(arguments, [applied, returned])])

    def _reducer(self, parser: Any) -> Region:
        parser.expect("reducer")
        pairs = []
        while parser.accept("("):
            first = parser.argument()
            parser.expect(",")
            pairs.append((first, parser.argument()))
            parser.expect(")")
        arguments = [a for a, _ in pairs] + [b for _, b in pairs]
        for index, argument in enumerate(arguments):
            argument.index = index
        return parser.region(arguments)  # type: ignore[no-any-return]

    def print(self, printer: Any, op: Operation) -> None:
        count = len(op.operands) // 2
        if not count or len(op.operands) % 2 or len(op.regions) != 1 or not _is_plain(op.regions[0]):
            raise Irregular
        dimensions = text.dimensions_text(member(op, "dimensions"))
        names = list(map(printer.operand, op.operands))
        printer.value(", ".join(f"({x} init: {init})" for x, init in zip(names, names[count:])))
        inner = applied_op(op)
        if inner:
            printer.value(f"applies {inner}")
        printer.value(f"across dimensions = {dimensions}")
        print_dictionary(printer, other_attributes(op, self.members))
        printer.value(f": {printer.functional_type(op)}")
        if not inner:
            self._print_reducer(printer, op.regions[0])

    def _print_reducer(self, printer: Any, region: Region) -> None:
        arguments = region.block.arguments
        count = len(arguments) // 2
        if len(arguments) % 2:
            raise Irregular
        names = printer.region_argument_names(arguments)
        written = [printer.argument_text(a, name) for a, name in zip(arguments, names)]
        printer.newline()
        pairs = "".join(f"({a}, {b}) " for a, b in zip(written, written[count:]))
        printer.value(f"reducer{pairs} ")
        printer.region(region, names)


def applied_op(op: Operation) -> str | None:
    """The op that a reduction's body is no more than, if the short form can say so."""
    block = op.regions[0].block
    if len(block.operations) != 2 or len(op.operands) != 2 or len(block.arguments) != 2:
        return None
    inner, returned = block.operations
    definition, dialect = inner.definition, op.name.partition(".")[0]
    if definition is None or not definition.commutative or inner.name.partition(".")[0] != dialect:
        return None
    operand = op.operands[0].type
    scalar = tensor_type((), operand.element_type) if isinstance(operand, TensorType) else None
    same_types = {scalar} == {*inner.operand_types, *inner.result_types}
    bare = not (inner.properties or inner.attributes or inner.regions or returned.attributes)
    forwards = inner.operands == block.arguments and returned.operands == inner.results
    return inner.name if same_types and bare and forwards and returned.name == f"{dialect}.return" else None


class Scan(Directive):
    """`(%inputs) inits (%inits) dimension = 0 attributes {...} {...} : functional_type`."""

    members = ("dimension",)
    segments = ("operandSegmentSizes", "resultSegmentSizes")

    def parse(self, parser: Any, draft: Draft) -> None:
        inputs = parser.items(parser.operand, "(", ")")
        parser.expect("inits")
        inits = parser.items(parser.operand, "(", ")")
        draft.operands = inputs + inits
        parser.expect("dimension")
        parser.expect("=")
        draft.members["dimension"] = parser.integer()
        attribute_dictionary(parser, draft, "attributes")
        draft.regions = [parser.region()]
        parser.expect(":")
        parser.functional_type(draft)
        outputs = len(draft.result_types) - len(inits)
        if outputs < 0:
            raise parser.error(f"{len(inits)} carries, but {len(draft.result_types)} results", draft.offset)
        sizes = ((len(inputs), len(inits)), (outputs, len(inits)))
        draft.attributes |= zip(self.segments, map(_segments, sizes))

    def print(self, printer: Any, op: Operation) -> None:
        sizes = op.attributes.get("operandSegmentSizes")
        if len(op.regions) != 1 or sizes is None or len(getattr(sizes, "values", ())) != 2:
            raise Irregular
        inputs, inits = op.operands[: sizes.values[0]], op.operands[sizes.values[0] :]
        printer.value(f"({printer.operands(inputs)}) inits ({printer.operands(inits)})")
        printer.value(f"dimension = {member(op, 'dimension')}")
        rest = {k: v for k, v in other_attributes(op, self.members).items() if k not in self.segments}
        print_dictionary(printer, rest, "attributes")
        printer.value("")
        printer.region(op.regions[0])
        printer.value(f": {printer.functional_type(op)}")


def _segments(sizes: tuple[int, int]) -> Any:
    from stablehlo_ref.ir.attributes import DenseArray
    from stablehlo_ref.ir.types import IntegerType

    return DenseArray(IntegerType(32), sizes)


FORMS: dict[str, Directive] = {
    "barrier": Barrier(),
    "call_target": CallTarget(),
    "composite_name": CompositeName(),
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
