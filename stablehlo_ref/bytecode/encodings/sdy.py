"""Attributes of the Shardy dialect, which programs here keep as MLIR's text; they are also written as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stablehlo_ref.bytecode.entries import EntryReader
from stablehlo_ref.ir.attributes import OpaqueAttribute, SymbolReference
from stablehlo_ref.ir.lexer import quoted
from stablehlo_ref.syntax.attribute_text import attribute_text

REDUCTIONS = ("", "max", "min")  # of unreduced axes; the first is a sum
LETTERS = "ijklmnopqrstuvwxyz"  # of factors of a sharding rule


def _text(mnemonic: str, body: str) -> OpaqueAttribute:
    return OpaqueAttribute(f"#sdy.{mnemonic}{body}" if body.startswith("<") else f"#sdy<{mnemonic}{body}>")


def _body(reader: EntryReader, mnemonic: str) -> str:
    """Read an attribute and return its text without dialect and mnemonic."""
    offset, found = reader.offset, reader.a(OpaqueAttribute, f"a {mnemonic} of dialect 'sdy'").text
    if found.startswith(f"#sdy.{mnemonic}<"):
        return str(found.removeprefix(f"#sdy.{mnemonic}"))
    if not found.startswith(f"#sdy<{mnemonic}"):
        reader.expected(f"a {mnemonic} of dialect 'sdy'", found, offset)
    return str(found.removeprefix(f"#sdy<{mnemonic}")[:-1])


def _bodies(reader: EntryReader, mnemonic: str) -> str:
    return ", ".join([_body(reader, mnemonic) for _ in range(reader.count("attributes"))])


def _manual_axes(reader: EntryReader) -> str:
    return f"{{{', '.join([quoted(reader.a(str, 'a string')) for _ in range(reader.count('axes'))])}}}"


def _mesh_axis(reader: EntryReader) -> str:
    return f"{quoted(reader.string())}={reader.signed_varint()}"


def _mesh(reader: EntryReader) -> str:
    axes, devices = _bodies(reader, "mesh_axis"), reader.signed_varints()
    order = f", device_ids=[{', '.join(map(str, devices))}]" if devices else ""
    return f"<[{axes}]{order}>"


def _sub_axis(reader: EntryReader) -> str:
    return f"({reader.signed_varint()}){reader.signed_varint()}"


def _axis(reader: EntryReader) -> str:
    name, part = quoted(reader.string()), reader.optional_attribute()
    if part is None:
        return name
    return f"{name}:{attribute_text(part).removeprefix('#sdy<sub_axis_info').removesuffix('>')}"


def _dimension(reader: EntryReader) -> str:
    axes = _bodies(reader, "axis_ref")
    is_closed = reader.byte()
    priority, has_priority = reader.flagged_varint()
    entries = [text for text in (axes, "" if is_closed else "?") if text]
    return f"{{{', '.join(entries)}}}" + (f"p{priority}" if has_priority else "")


def _sharding(reader: EntryReader, has_unreduced: bool = False, has_reduction: bool = False) -> str:
    mesh = reader.attribute()
    text = attribute_text(mesh)
    parts = [text if isinstance(mesh, SymbolReference) else text.removeprefix("#sdy.")]
    parts.append(f"[{_bodies(reader, 'dimension_sharding')}]")
    if replicated := _bodies(reader, "axis_ref"):
        parts.append(f"replicated={{{replicated}}}")
    if has_unreduced:
        unreduced = _bodies(reader, "axis_ref")
        parts.append(f"unreduced={_reduction(reader) if has_reduction else ''}{{{unreduced}}}")
    return f"<{', '.join(parts)}>"


def _reduction(reader: EntryReader) -> str:
    offset, reduction = reader.offset, reader.signed_varint()
    if not 0 <= reduction < len(REDUCTIONS):
        raise reader.error(f"unknown reduction {reduction}", offset)
    return REDUCTIONS[reduction]


def _per_value(reader: EntryReader) -> str:
    return f"<[{_bodies(reader, 'sharding')}]>"


def factor(index: int) -> str:
    """Return the letter of a factor: `i` to `z`, then `z_1`, `z_2`, ..."""
    return LETTERS[index] if index < len(LETTERS) else f"z_{index - len(LETTERS) + 1}"


def _factors(reader: EntryReader) -> Sequence[str]:
    offset, indexes = reader.offset, reader.signed_varints()
    if any(index < 0 for index in indexes):
        raise reader.error(f"negative factor in {indexes}", offset)
    return [factor(index) for index in indexes]


def _rule(reader: EntryReader) -> str:
    sizes = ", ".join(f"{factor(index)}={size}" for index, size in enumerate(reader.signed_varints()))
    operands, results = _bodies(reader, "tensor_mapping"), _bodies(reader, "tensor_mapping")
    text = f"({operands})->({results})" + (f" {{{sizes}}}" if sizes else "")
    for kind in ("reduction", "need_replication", "permutation", "blocked_propagation"):
        if factors := _factors(reader):
            text += f" {kind}={{{', '.join(factors)}}}"
    return f"<{text}{', custom' if reader.byte() else ''}>"


def _exchange(reader: EntryReader) -> str:
    return f"{{{_bodies(reader, 'axis_ref')}}}: {reader.signed_varint()}->{reader.signed_varint()}"


_ATTRIBUTES: Sequence[tuple[str, Callable[[EntryReader], str]]] = (
    ("manual_axes", _manual_axes),
    ("mesh_axis", _mesh_axis),
    ("mesh", _mesh),
    ("sub_axis_info", _sub_axis),
    ("axis_ref", _axis),
    ("dimension_sharding", _dimension),
    ("sharding", _sharding),
    ("sharding_per_value", _per_value),
    ("dim_mapping", lambda reader: "".join(_factors(reader))),
    ("tensor_mapping", lambda reader: f"[{_bodies(reader, 'dim_mapping')}]"),
    ("op_sharding_rule", _rule),
    ("axis_ref_list", lambda reader: f"{{{_bodies(reader, 'axis_ref')}}}"),
    ("list_of_axis_ref_lists", lambda reader: f"[{_bodies(reader, 'axis_ref_list')}]"),
    ("all_to_all_param", _exchange),
    ("all_to_all_param_list", lambda reader: f"[{_bodies(reader, 'all_to_all_param')}]"),
    ("sharding", lambda reader: _sharding(reader, has_unreduced=True)),
    ("sharding_per_value", _per_value),
    ("sharding", lambda reader: _sharding(reader, has_unreduced=True, has_reduction=True)),
)


def read_attribute(reader: EntryReader) -> OpaqueAttribute:
    offset, code = reader.offset, reader.varint()
    if code >= len(_ATTRIBUTES):
        raise reader.unsupported(f"unknown attribute {code} of dialect 'sdy'", offset)
    mnemonic, decode = _ATTRIBUTES[code]
    return _text(mnemonic, decode(reader))
