"""Replace signed and unsigned integer types by signless ones."""

from __future__ import annotations

from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import IntegerType, Type, integer_type
from stablehlo_ref.passes.element_types import replace_element_types
from stablehlo_ref.passes.registry import Pass


def convert_to_signless(module: Operation) -> None:
    """Replace `ui8` and `si8` by `i8` in all types, and the same for other widths; the bits of constants stay.

    Consumers of such programs know from elsewhere which integers have a sign. Here signless integers are signed, so the
    program computes the same bits only where the sign does not matter: `add`, `multiply`, `xor`, but not `divide`,
    `compare` or `convert` of unsigned integers. Quantized types are kept.
    """
    replace_element_types(module, signless)


def signless(type: Type) -> Type:
    """Return a type without a sign if it is an integer type."""
    return integer_type(type.width) if isinstance(type, IntegerType) else type


PASS = Pass(
    "stablehlo-convert-to-signless", "replace signed and unsigned integer types by signless ones", convert_to_signless
)
