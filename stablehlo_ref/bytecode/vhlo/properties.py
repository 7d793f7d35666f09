"""The properties of ops of VHLO in bytes."""

from __future__ import annotations

from typing import Any

from stablehlo_ref.bytecode.encoding import Cursor
from stablehlo_ref.bytecode.entries import Entries, EntryReader
from stablehlo_ref.bytecode.vhlo.ops import attribute_names
from stablehlo_ref.bytecode.vhlo.upgrade import known_op


def read_vhlo_properties(name: str, cursor: Cursor, entries: Entries) -> dict[str, Any]:
    """Read the attributes of an op of VHLO from its properties: the index of each, in the order of their names."""
    base, revision = known_op(name, cursor)
    reader = EntryReader(cursor.data, cursor.source, cursor.base, entries, 0)
    attributes = {attribute: reader.attribute() for attribute in attribute_names(base, revision)}
    reader.expect_end(f"the properties of op '{name}'")
    return attributes
