"""Portable artifacts: a program as VHLO in MLIR bytecode, for a version of StableHLO and all later ones.

Ops of StableHLO become ops of VHLO of that version: all attributes are spelled out, and new ones must say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from mmap import mmap

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.bytecode.encoding import Cursor
from stablehlo_ref.bytecode.encodings import plain, vhlo
from stablehlo_ref.bytecode.entries import Encodings, EntryWriter
from stablehlo_ref.bytecode.properties import Property
from stablehlo_ref.bytecode.sections import MAGIC, read_header
from stablehlo_ref.bytecode.vhlo.ops import (
    DEFAULTS,
    I64,
    NO_TYPE,
    NOT_MEMBERS,
    TO_VHLO,
    TYPED_FFI,
    WINDOWS,
    attribute_names,
    default_window,
    insert_casts,
    vhlo_name,
)
from stablehlo_ref.bytecode.vhlo.versions import (
    ATTRIBUTES,
    CURRENT,
    FIRST,
    FUTURES_IN_CUSTOM_CALLS,
    MIXED_REDUCTIONS,
    RULES,
    TYPED_CUSTOM_CALLS,
    TYPES,
    History,
    Version,
    bytecode_version,
    history_of,
    parse_version,
)
from stablehlo_ref.bytecode.writer import OpForm, PlainForm, write_program
from stablehlo_ref.define.definition import OpDefinition, definition_of
from stablehlo_ref.diagnostics import Source, UnsupportedError
from stablehlo_ref.ir.attributes import (
    UNIT,
    Attribute,
    DenseArray,
    DenseElements,
    EnumAttribute,
    FloatAttribute,
    IntegerAttribute,
    StructAttribute,
    TypeAttribute,
)
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.types import (
    BufferType,
    ComplexType,
    FunctionType,
    FutureType,
    QuantizedType,
    TensorType,
    TupleType,
    Type,
    UnrankedBufferType,
    UnrankedTensorType,
    integer_type,
)

PRODUCER = "StableHLO_v"


@checks_arguments
def serialize(module: Operation, target: str = str(CURRENT), allow_other_dialects: bool = False) -> bytes:
    """Return `module` as a portable artifact of a version such as `1.9.0`; `current` is the newest.

    With `allow_other_dialects`, ops and attributes that VHLO does not have are in it as in other bytecode, for which
    nothing is promised: other versions of MLIR need not read them.

    Raises UnsupportedError where the version is unknown, or the program has something that it does not have; the
    message says what that is and from which version on there is such a thing.
    """
    version = target_version(target)
    opset = Version(version.major, version.minor)
    if allow_other_dialects:
        module = clone(module, {})
        insert_casts(module)
    form = VhloForm(opset, allow_other_dialects)
    return write_program(module, form, bytecode_version(opset), f"{PRODUCER}{version}")


def target_version(text: str) -> Version:
    """Return the version that a text states; UnsupportedError unless artifacts of it can be written."""
    version = parse_version(text)
    if version is None:
        raise UnsupportedError(f"Invalid target version argument '{text}'; expected three numbers such as {CURRENT}")
    if version < FIRST:
        raise UnsupportedError(f"target version {version} is less than minimum supported {FIRST}")
    if version > CURRENT:
        raise UnsupportedError(f"target version {version} is greater than current version {CURRENT}")
    return version


def artifact_version(data: bytes | memoryview | mmap) -> Version | None:
    """Return the version of StableHLO that a portable artifact was made for; None for other data."""
    if data[: len(MAGIC)] != MAGIC:
        return None
    producer = read_header(Cursor(memoryview(data), Source("", "<bytes>"))).producer
    return parse_version(producer.removeprefix(PRODUCER)) if producer.startswith(PRODUCER) else None


REDUCTIONS = frozenset((
    "all_reduce", "reduce", "reduce_scatter", "reduce_window", "scatter", "select_and_scatter",
))  # fmt: skip


def unavailable(what: str, since: Version, target: Version) -> UnsupportedError:
    """Return the error for what a target does not have."""
    return UnsupportedError(f"failed to convert VHLO to v{target}: {what} needs version {since} or later")


# --- ops ------------------------------------------------------------------------------------------------------------


def check_op(op: Operation, base: str, target: Version) -> None:
    """Refuse an op, or a form of it, that the target does not have; attributes are checked elsewhere."""
    history = history_of(base)
    if history.since > target:
        raise unavailable(f"op '{op.name}'", history.since, target)
    for since, revision in history.later(history.revision_at(target)):
        if revision.is_variadic and len(op.operands) != 1:
            raise unavailable(f"'{op.name}' with {len(op.operands)} operands", since, target)
        if revision.has_regions and op.regions:
            raise unavailable(f"'{op.name}' with regions", since, target)
    for rule in _rules(op, base):
        if RULES[rule] > target:
            raise unavailable(rule, RULES[rule], target)


def _rules(op: Operation, base: str) -> Iterable[str]:
    """Yield the rules of later versions that an op needs."""
    if base in REDUCTIONS and any(map(_differ, op.operand_types, op.result_types)):
        yield MIXED_REDUCTIONS
    if base != "custom_call":
        return
    if isinstance(op.properties.get("backend_config"), dict) or op.properties.get("api_version") == 4:
        yield TYPED_CUSTOM_CALLS
    if any(isinstance(type, FutureType) for type in op.operand_types):
        yield FUTURES_IN_CUSTOM_CALLS


def _differ(operand: Type, result: Type) -> bool:
    return getattr(operand, "element_type", None) != getattr(result, "element_type", None)


# --- attributes and types -------------------------------------------------------------------------------------------


def check_value(value: object, target: Version) -> None:
    """Refuse an attribute or a type that the target does not have, or that is made of one."""
    match value:
        case StructAttribute(name) if (since := ATTRIBUTES.get(name.removeprefix("stablehlo."), FIRST)) > target:
            raise unavailable(f"attribute '#{name}'", since, target)
        case Type() if (since := TYPES.get(_kind(value), FIRST)) > target:
            raise unavailable(f"type {value}", since, target)
    for part in _parts(value):
        check_value(part, target)


def _kind(type: Type) -> str:
    """Return the name under which the table of versions has a type."""
    match type:
        case BufferType() | UnrankedBufferType():
            return "memref"
        case FutureType():
            return "future"
        case QuantizedType(quantization_dimension=int()):
            return "quantized per axis"
        case TensorType() | TupleType() | FunctionType() | QuantizedType():
            return ""
    return str(type)


def _parts(value: object) -> Iterable[object]:
    match value:
        case tuple():
            return value
        case dict():
            return value.values()
        case StructAttribute(fields=fields):
            return fields.values()
        case IntegerAttribute(type=part) | FloatAttribute(type=part) | TypeAttribute(part):
            return (part,)
        case DenseElements(type=part) | DenseArray(element_type=part):
            return (part,)
        case TensorType(element_type=part) | UnrankedTensorType(part) | ComplexType(part):
            return (part,)
        case BufferType(element_type=part) | UnrankedBufferType(part):
            return (part,)
        case TupleType(parts) | FutureType(parts):
            return parts
        case FunctionType(inputs, outputs):
            return (*inputs, *outputs)
        case QuantizedType(storage, expressed):
            return integer_type(storage.width), expressed
    return ()


class MixedEncodings:
    """Attributes and types as in VHLO, and those that VHLO does not have as in MLIR."""

    def write_attribute(self, writer: EntryWriter, attribute: object) -> None:
        """Write an attribute."""
        try:
            vhlo.write_attribute(writer, attribute)
        except UnsupportedError:
            plain.write_attribute(writer, attribute)

    def write_type(self, writer: EntryWriter, type: Type) -> None:
        """Write a type."""
        try:
            vhlo.write_type(writer, type)
        except UnsupportedError:
            plain.write_type(writer, type)


class VhloForm(PlainForm):
    """Ops as those of VHLO that a version of StableHLO has; UnsupportedError for what it does not have.

    With `other_dialects`, ops that VHLO does not have stay as they are, and so do such attributes.
    """

    def __init__(self, target: Version, other_dialects: bool = False) -> None:
        self.target = target
        self.encodings: Encodings | None = MixedEncodings() if other_dialects else None
        self._accepted: set[Type] = set()

    def check(self, op: Operation) -> None:
        """Refuse an op whose operands, results or regions the target does not have."""
        if op.name == "builtin.module":
            return
        if self.encodings is not None and vhlo_name(op) is None:
            super().check(op)
            return
        check_op(op, _base(op), self.target)
        arguments = [argument.type for argument in op.block_arguments]
        for type in (*op.operand_types, *op.result_types, *arguments):
            if type not in self._accepted:
                check_value(type, self.target)
                self._accepted.add(type)

    def form(self, op: Operation) -> OpForm:
        """Return the op of VHLO that stands for an op; the module stays as it is."""
        definition = definition_of(op)
        if op.name == "builtin.module" or definition is None:
            return super().form(op)
        if self.encodings is not None and vhlo_name(op) is None:
            as_written = super().form(op)
            return as_written._replace(encodings=self.encodings) if op.spelling == TO_VHLO else as_written
        base = _base(op)
        history = history_of(base)
        revision, newest = history.revision_at(self.target), 1 + len(history.revisions)
        own = _own_attributes(op, base, definition, attribute_names(base, newest))
        discardable = {**op.attributes, **_discardable_members(op, definition)}
        for name in NOT_MEMBERS.get(base, ()):
            own[name] = discardable.pop(name, ())
        _forget_later(op, own, history, revision, self.target)
        for attribute in (*own.values(), *discardable.values()):
            check_value(attribute, self.target)
        properties = [Property(name, False) for name in attribute_names(base, revision)]
        encodings = self.encodings or vhlo
        return OpForm(f"vhlo.{base}_v{revision}", own, discardable, properties, encodings, (), revision < newest)


def _base(op: Operation) -> str:
    """Return the name of an op in VHLO, without dialect and revision; UnsupportedError if it has none."""
    base = vhlo_name(op)
    if base is None:
        raise UnsupportedError(f"portable artifacts have no op '{op.name}'", op.location)
    return base


def _discardable_members(op: Operation, definition: OpDefinition) -> dict[str, Attribute]:
    """Return members that are discardable attributes of MLIR's op, such as `mhlo.backend_config`."""
    return {
        member.spelling: member.encode(op.properties[member.name])
        for member in definition.attributes.values()
        if "." in member.spelling and member.name in op.properties
    }


def _own_attributes(op: Operation, base: str, definition: OpDefinition, names: tuple[str, ...]) -> dict[str, Attribute]:
    """Return all attributes of the newest revision of an op, those that are left out with their defaults."""
    own: dict[str, Attribute] = {}
    for member in definition.attributes.values():
        if member.spelling not in names:
            continue
        if member.name in op.properties:
            own[member.spelling] = _as_vhlo(member.spelling, member.encode(op.properties[member.name]))
        else:
            own[member.spelling] = _default(op, base, member.spelling, member.default)
    return own


def _as_vhlo(name: str, attribute: Attribute) -> Attribute:
    """Return an attribute in the form that VHLO has: flags are booleans, the version of an API is an enumeration."""
    if attribute == UNIT:
        return True
    if name == "api_version" and isinstance(attribute, IntegerAttribute):
        return EnumAttribute("vhlo", "api_version", str(attribute.value))
    return attribute


def _default(op: Operation, base: str, name: str, default: object) -> Attribute:
    """Return what leaving out an attribute means; UnsupportedError for an attribute that must be given."""
    if name in DEFAULTS:
        return DEFAULTS[name]
    if name in WINDOWS:
        return default_window(name, _window_rank(op, base))
    if name == "backend_config":
        return {} if op.properties.get("api_version") == TYPED_FFI else ""
    match default:
        case bool() | str():
            return default
        case Mapping():
            return dict(default)
        case ():
            return ()
        case int():
            return IntegerAttribute(default, I64)
    raise UnsupportedError(f"'{op.name}' has no attribute '{name}', which portable artifacts need")


def _window_rank(op: Operation, base: str) -> int:
    """Return the number of dimensions of an op's windows."""
    name = "window_dimensions" if base in ("reduce_window", "select_and_scatter") else "input_spatial_dimensions"
    return len(op.properties.get(name, ()))


# --- earlier revisions ----------------------------------------------------------------------------------------------


def _forget_later(op: Operation, own: dict[str, Attribute], history: History, revision: int, target: Version) -> None:
    """Take out attributes that the target does not have; UnsupportedError unless they have their defaults."""
    for since, later in history.later(revision):
        for name in later.adds:
            if not _says_nothing(own.pop(name)):
                raise unavailable(f"attribute '{name}' of '{op.name}'", since, target)
        for name in later.drops:
            own[name] = default_window(name, _window_rank(op, later.op))


def _says_nothing(attribute: object) -> bool:
    match attribute:
        case StructAttribute(fields=fields):
            return all(_is_zero(value) for value in fields.values())
        case DenseElements(array=array):
            return bool(array.size == 0)
        case TypeAttribute():
            return bool(attribute == NO_TYPE)
    values = getattr(attribute, "values", attribute)
    return values in (False, ())


def _is_zero(value: object) -> bool:
    return getattr(value, "value", None) in (0, "DEFAULT")
