"""The printer: programs as text in pretty or generic form, which parses back to an equal program."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from stablehlo_ref.define.assembly import Irregular
from stablehlo_ref.define.definition import OpDefinition, definition_of
from stablehlo_ref.define.members import Member
from stablehlo_ref.define.op import Bodies, In, Ins, Outs
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import VERBATIM, Attribute, DenseResource, StructAttribute, Verbatim
from stablehlo_ref.ir.core import Block, Operation, Region, Value, location_of
from stablehlo_ref.ir.lexer import is_value_name, key_text, quoted, symbol
from stablehlo_ref.ir.locations import DebugLocation
from stablehlo_ref.ir.types import FunctionType
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.limits.stack import FRAMES, on_enough_stack
from stablehlo_ref.syntax import mhlo, verbatim
from stablehlo_ref.syntax.assembly import assembly_of
from stablehlo_ref.syntax.attribute_text import LocationAliases, attribute_text, dictionary_text, location_text

INDENT = "  "
SHORT_IN_FUNCTIONS = ("func.call", "func.call_indirect", "func.constant", "func.return")


class Printer:
    """Prints an operation and everything inside it."""

    def __init__(self, generic: bool = False, locations: bool = False, aliases: LocationAliases | None = None) -> None:
        self.generic = generic
        self.locations = locations
        self.aliases = aliases  # of locations; None if they are printed in place
        self.parts: list[str] = []
        self.indent = 0
        self.names: dict[Value, str] = {}
        self.used: set[str] = set()
        self.defined: list[str] = []  # the names in `used`, in order
        self.next_number = 0
        self.in_function = False  # whether the op around is a function in pretty form
        self.spaced = True  # whether the next value needs a space before it
        self.after_mark = False  # whether the last part was punctuation

    # --- parts of a line ----------------------------------------------------------------------------------------

    def literal(self, token: str) -> None:
        """Print a token with MLIR's spacing around punctuation."""
        tight = ")}],>" if self.after_mark else ")}],>(<{["
        if (self.spaced or not self.after_mark) and token[0] not in tight:
            self.parts.append(" ")
        self.parts.append(token)
        self.spaced = token[-1] not in "([<{" and (token[-1] != "=" or len(token) == 1)
        self.after_mark = not (token[0].isalpha() or token[0] == "_")

    def value(self, text: str) -> None:
        """Print other text, after a space unless it follows an opening bracket."""
        if self.spaced:
            self.parts.append(" ")
        self.parts.append(text)
        self.spaced, self.after_mark = bool(text) and not text.endswith(" "), False

    def newline(self) -> None:
        """Start an indented line."""
        self.parts.append("\n" + INDENT * self.indent)
        self.spaced = False

    def attribute(self, attribute: Attribute) -> str:
        """Return the text of an attribute."""
        return attribute_text(attribute)

    def symbol(self, name: str) -> str:
        """Return `@name`."""
        return symbol(name)

    def dictionary(self, op: Operation, members: Sequence[str] = (), keyword: str = "") -> None:
        """Print `keyword {...}`, with the attributes except for those of some members, unless there are none."""
        rest = {name: value for name, value in op.properties.items() if name not in members}
        if (rest or op.attributes) and (entries := mhlo.encoded(op.name, rest, op.spelling) | op.attributes):
            self.value(f"{keyword} {dictionary_text(entries)}".lstrip())

    # --- names of values ----------------------------------------------------------------------------------------

    def operand(self, value: Value) -> str:
        """Return `%name`."""
        name = self.names.get(value)
        return f"%{self._new_name(value) if name is None else name}"

    def operands(self, values: Sequence[Value]) -> str:
        """Return `%a, %b`."""
        return ", ".join(map(self.operand, values))

    def _new_name(self, value: Value) -> str:
        """Choose the name of a value: the one it has, if that is unused, or a number."""
        name = self._free_name(value.name if is_value_name(value.name) else "")
        self.names[value] = name
        return name

    def _free_name(self, wanted: str) -> str:
        while not wanted or wanted in self.used:
            wanted = str(self.next_number)
            self.next_number += 1
        self.used.add(wanted)
        self.defined.append(wanted)
        return wanted

    def _result_names(self, op: Operation) -> str:
        """Return `%0 = `, `%0:2 = ` or `%a, %b = `."""
        results = op.results
        if not results:
            return ""
        if len(results) == 1:
            return f"{self.operand(results[0])} = "
        if any(result in self.names for result in results) or all(is_value_name(result.name) for result in results):
            return f"{self.operands(results)} = "
        first = results[0].name.partition("#")[0]
        name = self._free_name(first if is_value_name(first) else "")
        self.names |= {result: f"{name}#{index}" for index, result in enumerate(results)}
        return f"%{name}:{len(results)} = "

    def region_argument_names(self, *lists: Sequence[Value]) -> list[str]:
        """Return unused names for the arguments of a region, or of regions that share them."""
        names: dict[str, None] = {}  # in order
        for values in zip(*lists):
            hint = values[0].name
            taken = hint in self.used or hint in names or not is_value_name(hint)
            names[self._unused(names) if taken else hint] = None
        return list(names)

    def _unused(self, names: Container[str]) -> str:
        while True:
            name, self.next_number = f"arg{self.next_number}", self.next_number + 1
            if name not in self.used and name not in names:
                return name

    # --- operations ---------------------------------------------------------------------------------------------

    def visit(self, op: Operation) -> None:
        """Print an operation, whose location has its place before those inside the operation."""
        self._location(op.debug_location)
        self.operation(op)

    def operation(self, op: Operation) -> None:
        """Print an operation."""
        if isinstance(form := op.properties.get(VERBATIM), Verbatim):
            operands = list(map(self.operand, op.operands))
            written = verbatim.printed(form, operands, self.used, INDENT * self.indent)
            self.parts += (self._result_names(op), op.name, written)
            return
        self.parts.append(self._result_names(op))
        in_function = self.in_function
        if self.generic or not self._pretty(op):
            self.in_function = False
            self._generic(op)
        self.in_function = in_function
        self.parts.append(self._location(op.debug_location))

    def _location(self, location: DebugLocation | None) -> str:
        """Return ` loc(...)`; "" if that is unknown, or not printed."""
        if location is None or not self.locations:
            return ""
        return f" loc({self.aliases.mark(location)})" if self.aliases else f" {location_text(location)}"

    def _pretty(self, op: Operation) -> bool:
        """Print the pretty form of `op`, if it has one that can express it; return whether it has."""
        definition = definition_of(op)
        if definition is None or not definition.syntax or not _is_regular(op, definition):
            return False
        if op.spelling == "mhlo" and not mhlo.has_same_form(op.name):
            return False
        kept = len(self.parts), len(self.defined), self.indent
        self.parts.append(self._name(op))
        self.in_function = op.name == "func.func"
        self.spaced, self.after_mark = True, False
        try:
            assembly_of(definition).print(self, op)
        except Irregular:
            del self.parts[kept[0] :]
            self._leave(kept[1])
            self.indent = kept[2]
            return False
        return True

    def op_name(self, op: Operation) -> str:
        """Return the name of an op in the dialect in which it is printed."""
        return mhlo.name_of(op)

    def _name(self, op: Operation) -> str:
        """Return the name of an op in pretty form: without the dialect for modules, and for func's ops in functions."""
        if op.name == "builtin.module":
            return "module"
        return op.name.removeprefix("func.") if self.in_function and op.name in SHORT_IN_FUNCTIONS else mhlo.name_of(op)

    def _generic(self, op: Operation) -> None:
        self.parts.append(f"{quoted(mhlo.name_of(op))}({self.operands(op.operands)})")
        if op.successors:
            self.parts.append(f"[{', '.join(f'^{label}' for label in op.successors)}]")
        definition = definition_of(op)
        written = mhlo.encoded(op.name, op.properties, op.spelling) if definition else op.properties
        properties = {name: value for name, value in written.items() if "." not in name}
        if properties:
            self.parts.append(f" <{dictionary_text(properties)}>")
        if op.regions:
            self._generic_regions(op.regions)
        # Members with the name of a dialect, such as mhlo.backend_config, are discardable attributes in MLIR.
        attributes = {name: value for name, value in written.items() if "." in name} | op.attributes
        if attributes:
            self.parts.append(f" {dictionary_text(attributes)}")
        self.parts.append(f" : {self.functional_type(op)}")

    def _generic_regions(self, regions: Sequence[Region]) -> None:
        self.parts.append(" (")
        for index, region in enumerate(regions):
            self.parts.append(", " if index else "")
            self.region(region)
        self.parts.append(")")

    def functional_type(self, op: Operation) -> str:
        """Return `(operand types) -> result types`."""
        return str(FunctionType(tuple(op.operand_types), tuple(op.result_types)))

    # --- regions ------------------------------------------------------------------------------------------------

    def region(self, region: Region, names: Sequence[str] | None = None, implied: str = "") -> None:
        """Print `{...}`; `names` are those of the arguments of the first block, if they are printed elsewhere.

        The terminator `implied`, if it has no operands and the region is one block, is omitted.
        """
        first_defined = len(self.defined)
        self.parts.append("{")
        self.indent += 1
        for index, block in enumerate(region.blocks):
            self._block(block, names if index == 0 else None, bool(index), implied if len(region.blocks) == 1 else "")
        self.indent -= 1
        self.newline()
        self.parts.append("}")
        self.spaced, self.after_mark = True, False
        self._leave(first_defined)

    def _leave(self, first_defined: int) -> None:
        self.used.difference_update(self.defined[first_defined:])
        del self.defined[first_defined:]

    def _block(self, block: Block, names: Sequence[str] | None, labelled: bool, implied: str) -> None:
        if names is not None:
            for argument, name in zip(block.arguments, names):
                self.names[argument] = self._free_name(name)
        elif block.arguments or labelled or block.label or not block.operations:
            self._label(block)
        shown = block.operations
        if implied and shown and shown[-1].name == implied and not (shown[-1].operands or shown[-1].attributes):
            shown = shown[:-1]
        for op in within_time(shown, "printing", location_of):
            self.newline()
            self.visit(op)

    def _label(self, block: Block) -> None:
        arguments = []
        for argument, free in zip(block.arguments, self.region_argument_names(block.arguments)):
            name = self.names.get(argument) or self._free_name(free)  # an earlier block may have used it
            self.names[argument] = name
            arguments.append(self.argument_text(argument, name))
        self.indent -= 1
        self.newline()
        self.indent += 1
        listed = f"({', '.join(arguments)})" if arguments else ""
        self.parts.append(f"^{block.label or 'bb0'}{listed}:")

    def argument_text(self, argument: Value, name: str, attributes: str = "") -> str:
        """Return `%name: type`, with attributes and location."""
        return f"%{name}: {argument.type}{attributes}{self._argument_location(argument)}"

    def _argument_location(self, argument: Value) -> str:
        if self.aliases is None or argument.location is None:
            return self._location(argument.location)
        return f" loc({self.aliases.argument(argument.location)})"


def _is_regular(op: Operation, definition: OpDefinition) -> bool:
    """Return whether an op has as many operands, results and regions as its class, as pretty forms require."""
    lists = (definition.operands, op.operands), (definition.results, op.results), (definition.regions, op.regions)
    has_branches = not op.successors or "forwarded" in definition.roles
    return has_branches and all(_is_variadic(members) or len(members) == len(xs) for members, xs in lists)


def _is_variadic(members: Sequence[Member]) -> bool:
    return any(isinstance(m, Ins | Outs | Bodies) or (isinstance(m, In) and m.optional) for m in members)


def print_operation(op: Operation, generic: bool = False, locations: bool = False, local_scope: bool = False) -> str:
    """Return the text of an operation, in generic form or with `loc(...)` if asked for, with a final newline.

    Locations are aliases, which are defined in front of the op and after it, or with `local_scope` in place.
    The text of a module includes its resources, which get distinct keys.
    """
    aliases = LocationAliases() if locations and not local_scope else None
    return on_enough_stack(op.location, FRAMES, _text_of, op, generic, locations, aliases)


def _printer(op: Operation, generic: bool, locations: bool, aliases: LocationAliases | None) -> Printer:
    from stablehlo_ref.syntax import vhlo_printer  # which is a printer of this module

    version = vhlo_printer.spelled_version(op)
    if version is None:
        return Printer(generic, locations, aliases)
    return vhlo_printer.VhloPrinter(version, generic, locations, aliases)


def _text_of(op: Operation, generic: bool, locations: bool, aliases: LocationAliases | None) -> str:
    is_module = op.name == "builtin.module"
    if is_module:
        separate_resources(op)
    printer = _printer(op, generic, locations, aliases)
    printer.visit(op)
    text = "".join(printer.parts) + "\n"
    return (aliases.defined(text) if aliases else text) + (resource_section(op) if is_module else "")


# --- resources --------------------------------------------------------------------------------------------------------


def resource_section(module: Operation) -> str:
    """Return the section with the blobs of all resources in a module; "" if there are none."""
    blobs = {resource.key: resource for op in module.walk() for resource in _resources_of(op)}
    entries = [f"      {key_text(key)}: {_blob_text(resource)}" for key, resource in blobs.items()]
    if not entries:
        return ""
    listed = ",\n".join(entries)
    return f"\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{listed}\n    }}\n  }}\n#-}}\n"


def _resources_of(op: Operation) -> Iterator[DenseResource]:
    """Yield the resources with data in the attributes of an op."""
    for value in (*op.properties.values(), *op.attributes.values()):
        yield from _resources_in(value)


def _resources_in(value: object) -> Iterator[DenseResource]:
    match value:
        case DenseResource(array=array) if array is not None:
            yield value
        case tuple():
            for element in value:
                yield from _resources_in(element)
        case dict() | StructAttribute(fields=dict()):
            fields = value if isinstance(value, dict) else value.fields
            for element in fields.values():
                yield from _resources_in(element)


def _blob_text(resource: DenseResource) -> str:
    """Return a blob as MLIR writes it: the alignment in four bytes, then the data."""
    data = blob_alignment(resource).to_bytes(4, "little") + blob_elements(resource).tobytes()
    return f'"0x{data.hex().upper()}"'


def blob_elements(resource: DenseResource) -> Array:
    """Return the elements that a blob has: all of them, or one if all are the same one."""
    array: Array = resource.array
    return array[(slice(1),) * array.ndim] if array.size and not any(array.strides) else array


def blob_alignment(resource: DenseResource) -> int:
    """Return the alignment of a blob in bytes: the one that it was read with, or that of its elements."""
    array: Array = resource.array
    return resource.alignment or (array.itemsize // 2 if array.dtype.kind == "c" else array.itemsize)


# --- keys -----------------------------------------------------------------------------------------------------------


def separate_resources(module: Operation) -> None:
    """Rename resources that have the key of another resource with other data, as in modules that were merged."""
    known: dict[str, DenseResource] = {}
    for op in module.walk():
        renamed = {id(r): key for r in _resources_of(op) if (key := _unique_key(r, known)) != r.key}
        if renamed:
            op.properties = {name: _with_keys(value, renamed) for name, value in op.properties.items()}
            op.attributes = {name: _with_keys(value, renamed) for name, value in op.attributes.items()}


def _unique_key(resource: DenseResource, known: dict[str, DenseResource]) -> str:
    """Return the key of a resource, with a number if the key is that of other data."""
    key, number = resource.key, 0
    while key in known and not _same_data(known[key], resource):
        number += 1
        key = f"{resource.key}_{number}"
    known.setdefault(key, resource)
    return key


def _same_data(a: DenseResource, b: DenseResource) -> bool:
    if a.array is b.array:
        return True
    return a.array.nbytes == b.array.nbytes and bool(np.array_equal(_octets(a.array), _octets(b.array)))


def _octets(array: Array) -> Array:
    return np.ascontiguousarray(array).view(np.uint8)


def _with_keys(value: object, keys: Mapping[int, str]) -> object:
    """Return an attribute whose resources have new keys, by their ids."""
    match value:
        case DenseResource() if id(value) in keys:
            return replace(value, key=keys[id(value)])
        case tuple():
            return tuple(_with_keys(element, keys) for element in value)
        case dict():
            return {name: _with_keys(element, keys) for name, element in value.items()}
        case StructAttribute(name, fields):
            return StructAttribute(name, {field: _with_keys(element, keys) for field, element in fields.items()})
    return value
