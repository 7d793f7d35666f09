"""Struct attributes and enumerations of StableHLO and CHLO: their fields, the defaults of those, and a parser."""

from __future__ import annotations

from typing import TypeAlias

from stablehlo_ref.ir.attributes import Attribute, EnumAttribute, IntegerAttribute, StructAttribute
from stablehlo_ref.syntax.types import TypeParser

Bounds: TypeAlias = "tuple[int | None, ...]"  # of dimensions; None where one is unbounded

ZERO = IntegerAttribute(0)

# Fields with their defaults; a field that equals its default is not printed.
STRUCTS: dict[str, dict[str, object]] = {
    "stablehlo.gather": {
        "offset_dims": (),
        "collapsed_slice_dims": (),
        "operand_batching_dims": (),
        "start_indices_batching_dims": (),
        "start_index_map": (),
        "index_vector_dim": ZERO,
    },
    "stablehlo.scatter": {
        "update_window_dims": (),
        "inserted_window_dims": (),
        "input_batching_dims": (),
        "scatter_indices_batching_dims": (),
        "scatter_dims_to_operand_dims": (),
        "index_vector_dim": ZERO,
    },
    "stablehlo.dot": {
        "lhs_batching_dimensions": (),
        "rhs_batching_dimensions": (),
        "lhs_contracting_dimensions": (),
        "rhs_contracting_dimensions": (),
    },
    "chlo.ragged_dot": {
        "lhs_batching_dimensions": (),
        "rhs_batching_dimensions": (),
        "lhs_contracting_dimensions": (),
        "rhs_contracting_dimensions": (),
        "lhs_ragged_dimensions": (),
        "rhs_group_dimensions": (),
    },
    "stablehlo.conv": {
        "input_batch_dimension": ZERO,
        "input_feature_dimension": ZERO,
        "input_spatial_dimensions": (),
        "kernel_input_feature_dimension": ZERO,
        "kernel_output_feature_dimension": ZERO,
        "kernel_spatial_dimensions": (),
        "output_batch_dimension": ZERO,
        "output_feature_dimension": ZERO,
        "output_spatial_dimensions": (),
    },
}

# The letters in the three lists of a convolution with their fields, and the field of the spatial dimensions (numbers).
CONVOLUTION_LISTS = (
    ({"b": "input_batch_dimension", "f": "input_feature_dimension"}, "input_spatial_dimensions"),
    ({"i": "kernel_input_feature_dimension", "o": "kernel_output_feature_dimension"}, "kernel_spatial_dimensions"),
    ({"b": "output_batch_dimension", "f": "output_feature_dimension"}, "output_spatial_dimensions"),
)


class StructParser(TypeParser):
    """Parses what follows the name of a struct attribute or enumeration."""

    # enum ::= # dialect < kind value >
    def enum(self, dialect: str) -> EnumAttribute | StructAttribute:
        self.expect("<")
        kind = self.word("the name of an enumeration")
        value: EnumAttribute | StructAttribute
        if self.peek() == "<":  # the older spelling of a struct
            value = self.struct(f"{dialect}.{kind}")
        else:
            value = EnumAttribute(dialect, kind, self.word(f"a {kind}"))
        self.expect(">")
        return value

    # struct ::= < field (, field)* > | < value >
    def struct(self, name: str) -> EnumAttribute | StructAttribute:
        """Parse what follows `#name`."""
        if name == "stablehlo.conv":
            return self.convolution()
        self.expect("<")
        if name == "stablehlo.bounds":
            return StructAttribute(name, {"bounds": self._bounds(">")})
        fields: dict[str, object] = {}
        while not self.accept(">"):
            offset, field = self.start, self.word("a field name")
            if not fields and self.accept(">"):  # #stablehlo.result_accuracy_mode<DEFAULT>
                dialect, _, kind = name.partition(".")
                return EnumAttribute(dialect, kind, field)
            self.field(name, field, fields, offset)
            self.separator(">")
        return StructAttribute(name, STRUCTS.get(name, {}) | fields)

    def separator(self, closing: str) -> None:
        """Parse the comma after an item of a list, which is optional after the last one."""
        if not self.accept(",") and self.peek() != closing:
            raise self.expected(f"',' or '{closing}'")

    # field ::= word = attribute
    def field(self, name: str, field: str, fields: dict[str, object], offset: int) -> None:
        """Parse the rest of a field whose name is at `offset`, and add it to `fields`."""
        known = STRUCTS.get(name)
        if known is not None and field not in known:
            expected = ", ".join(f"`{name}`" for name in known)
            raise self.error(f"expected one of: {expected}, got '{field}'", offset)
        if field in fields:
            raise self.error(f"duplicated `{field}` entry", offset)
        self.expect("=")
        if field == "bounds":
            self.expect("[")
            fields[field] = self._bounds("]")
        elif field == "sub_axis_info":
            fields[field] = self._sub_axis()
        elif name == "stablehlo.mesh" and field == "axes":
            fields[field] = tuple(self.items(self._mesh_axis, "[", "]"))
        else:
            fields[field] = self._field_value(known[field] if known else None)

    def _field_value(self, example: object) -> Attribute:
        """Parse a field; `example` is its default, which determines the kind of value, or None."""
        if isinstance(example, IntegerAttribute):
            return IntegerAttribute(self.integer())
        if example == ():
            return tuple(map(IntegerAttribute, self.dimensions()))
        return self.attribute()

    def _mesh_axis(self) -> Attribute:
        return self.struct("stablehlo.mesh_axis") if self.peek() == "<" else self.attribute()

    # sub-axis ::= ( integer ) integer
    def _sub_axis(self) -> StructAttribute:
        self.expect("(")
        before = self.integer()
        self.expect(")")
        sizes = {"pre_size": IntegerAttribute(before), "size": IntegerAttribute(self.integer())}
        return StructAttribute("stablehlo.sub_axis_info", sizes)

    # bounds ::= (bound (, bound)*)? ; bound ::= ? | integer
    def _bounds(self, closing: str) -> Bounds:
        bounds: list[int | None] = []
        while not self.accept(closing):
            bounds.append(None if self.accept("?") else self.integer())
            self.separator(closing)
        return tuple(None if bound is not None and bound < 0 else bound for bound in bounds)

    # convolution ::= < raw field (, field)* > | < list x list -> list >
    def convolution(self, with_unused: bool = False) -> StructAttribute:
        """Parse what follows `#stablehlo.conv` or `#mhlo.conv`."""
        self.expect("<")
        fields: dict[str, object] = {}
        if not self.accept("raw"):
            lists = self.convolution_lists(with_unused)
            self.expect(">")
            return StructAttribute("stablehlo.conv", lists)
        while not self.accept(">"):
            offset = self.start
            self.field("stablehlo.conv", self.word("a field name"), fields, offset)
            self.separator(">")
        return StructAttribute("stablehlo.conv", STRUCTS["stablehlo.conv"] | fields)

    # convolution-lists ::= list x list -> list ; list ::= [ label (, label)* ] ; label ::= letter | integer | ?
    def convolution_lists(self, with_unused: bool = False) -> dict[str, Attribute]:
        """Parse the dimension numbers of a convolution in the form `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.

        Those of mhlo may leave dimensions unused: `?`.
        """
        fields: dict[str, Attribute] = {}
        for (letters, spatial), separator in zip(CONVOLUTION_LISTS, ("x", "->", "")):
            self._convolution_list(letters, spatial, fields, with_unused)
            if separator:
                self.expect(separator)
        return fields

    def _convolution_list(
        self, letters: dict[str, str], spatial: str, fields: dict[str, Attribute], with_unused: bool
    ) -> None:
        """Parse one list into `fields`, given the fields of its letters and the field of its spatial dimensions."""
        offset = self.start
        positions: dict[int, int] = {}
        for position, (label, place) in enumerate(self.items(self._convolution_label, "[", "]")):
            if label in letters and letters[label] not in fields:
                fields[letters[label]] = IntegerAttribute(position)
            elif label == "?" and with_unused:
                continue
            elif not label.isdecimal() or len(label) > 4:
                expecting = ", ".join(letter for letter, field in letters.items() if field not in fields)
                raise self.error(f"Unexpected dimension {label}, expecting {expecting or 'integer value'}", place)
            elif int(label) in positions:
                raise self.error(f"Duplicate entries for spatial dimension {label}", place)
            else:
                positions[int(label)] = position
        self._check_complete([letter for letter, field in letters.items() if field not in fields], "", offset)
        self._check_complete([str(d) for d in range(len(positions)) if d not in positions], "spatial ", offset)
        fields[spatial] = tuple(IntegerAttribute(positions[d]) for d in range(len(positions)))

    def _convolution_label(self) -> tuple[str, int]:
        """Parse a letter or a number, and return it with its offset."""
        offset, label = self.start, self.advance()
        return (f"-{self.advance()}" if label == "-" else label), offset

    def _check_complete(self, missing: list[str], kind: str, offset: int) -> None:
        if missing:
            raise self.error(f"Expected {kind}dimensions {', '.join(missing)} not specified", offset)
