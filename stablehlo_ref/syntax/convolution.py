"""Dimension numbers of convolutions: `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`."""

from __future__ import annotations

from stablehlo_ref.ir.attributes import Attribute, IntegerAttribute
from stablehlo_ref.syntax.locations import LocationParser
from stablehlo_ref.syntax.structs import CONVOLUTION_LISTS


class ConvolutionParser(LocationParser):
    """Parses the dimension numbers of convolutions."""

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
