"""Read a program from MLIR bytecode: its operations, in blocks in regions of operations.

The attributes of ops with the same name, attributes and properties are decoded once. Portable artifacts of any version
are upgraded on the way.
"""

from __future__ import annotations

from dataclasses import replace
from mmap import mmap

from stablehlo_ref.bytecode.encoding import ByteLocation, Cursor
from stablehlo_ref.bytecode.file import BytecodeFile, Template
from stablehlo_ref.bytecode.sections import FormatVersion, Header, Section, read_header, read_section
from stablehlo_ref.bytecode.vhlo.ops import CAST, fold_casts
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.diagnostics import Diagnostic, MalformedError, Source, UnsupportedError
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.lexer import MAX_NESTING
from stablehlo_ref.ir.locations import DebugLocation
from stablehlo_ref.ir.types import NONE, Type
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.limits.stack import FRAMES, collection_paused, on_enough_stack

# What an op has, as bits of a byte.
HAS_ATTRIBUTES, HAS_RESULTS, HAS_OPERANDS, HAS_SUCCESSORS = 1, 2, 4, 8
HAS_REGIONS, HAS_USE_LIST_ORDERS, HAS_PROPERTIES = 16, 32, 64

# How many integers follow that byte: a location, then what the op has of attributes, properties and results.
HEAD_LENGTHS = [1 + (mask & HAS_ATTRIBUTES) + (mask >> 6 & 1) + (mask >> 1 & 1) for mask in range(256)]

NORMALISED = frozenset(("builtin.module", "func.func"))  # ops that `build_operation` may change


class Forward(Value):
    """A value that is used before its definition: the operands to set once it is defined."""

    __slots__ = ("offset", "uses")

    def __init__(self, offset: int) -> None:
        super().__init__(NONE, None, 0)
        self.offset = offset
        self.uses: list[tuple[Operation, int]] = []


class OperationReader:
    """Reads operations whose values are numbered together: those outside of, or in one, region isolated from above."""

    def __init__(self, file: BytecodeFile, cursor: Cursor, depth: int) -> None:
        self.file = file
        self.cursor = cursor
        self.depth = depth
        self.values: list[Value | None] = []
        self.next_value = 0
        self.has_forward = False

    def top_level(self) -> list[Operation]:
        """Read the operations of the section, which is a block without arguments or values."""
        count, has_arguments = self.cursor.flagged_varint()
        if has_arguments:
            raise self.cursor.error("the outermost block has arguments")
        operations = self._operations(count, 0, "")
        self.cursor.expect_end(Section.IR.title)
        return operations

    # --- operations ---------------------------------------------------------------------------------------------

    def _operations(self, count: int, blocks: int, parent: str) -> list[Operation]:
        """Read the operations of a block in a region of `blocks` blocks, of an op of name `parent`."""
        if count > self.cursor.remaining:
            raise self.cursor.error(
                f"{count} operations do not fit into the {self.cursor.remaining} bytes that are left"
            )
        in_function = parent == "func.func"
        places = within_time(range(count), "parsing", lambda _: ByteLocation(self.file.source, self.cursor.offset))
        return [self._operation(blocks, in_function) for _ in places]

    def _operation(self, blocks: int, in_function: bool) -> Operation:
        cursor, file = self.cursor, self.file
        offset = cursor.base + cursor.position
        name, mask = cursor.varint(), cursor.byte()
        head = cursor.varints(HEAD_LENGTHS[mask])
        debug_location = file.location(head[0], cursor)
        attributes = head[1] if mask & HAS_ATTRIBUTES else -1
        properties = head[1 + (mask & HAS_ATTRIBUTES)] if mask & HAS_PROPERTIES else -1
        template = file.template(name, attributes, properties, in_function, cursor)
        types = file.types(cursor.varints(head[-1]), cursor) if mask & HAS_RESULTS else []
        operands = self._operands() if mask & HAS_OPERANDS else []
        successors = self._successors(blocks) if mask & HAS_SUCCESSORS else []
        if mask & HAS_USE_LIST_ORDERS:
            self._skip_use_list_orders(len(types))
        location = ByteLocation(file.source, offset, debug_location)
        op = _build(template, operands, types, location, debug_location, successors)
        if self.has_forward:
            self._note_forward(op)
        if mask & HAS_REGIONS:
            self._regions(op)
        if types:
            self._define(op.results)
        return op

    def _operands(self) -> list[Value]:
        cursor, values = self.cursor, self.values
        indexes = cursor.varints(cursor.varint())
        try:
            operands = [values[index] for index in indexes]
        except IndexError:
            raise cursor.error(f"value {max(indexes)} does not exist; there are {len(values)}") from None
        if None in operands:
            return [values[index] or self._forward(index) for index in indexes]
        return operands  # type: ignore[return-value]

    def _successors(self, blocks: int) -> list[str]:
        cursor = self.cursor
        return [block_label(cursor.index(blocks, "block")) for _ in range(cursor.count("successors"))]

    def _skip_use_list_orders(self, values: int) -> None:
        """Skip the orders in which values are used, which do not matter here."""
        cursor = self.cursor
        for _ in range(cursor.count("orders of uses") if values > 1 else 1):
            if values > 1:
                cursor.index(values, "value")
            count, _ = cursor.flagged_varint()
            if count > cursor.remaining:
                raise cursor.error(f"{count} uses do not fit into the {cursor.remaining} bytes that are left")
            for _ in range(count):
                cursor.varint()

    # --- values -------------------------------------------------------------------------------------------------

    def _define(self, defined: list[Value]) -> None:
        """Give values the next numbers; outside of all regions they have none."""
        values = self.values
        if self.next_value + len(defined) > len(values):
            if not values:
                return
            raise self.cursor.error(f"the region defines more than the {len(values)} values that it announces")
        for index, value in enumerate(defined, self.next_value):
            if values[index] is not None:
                self._resolve(values[index], value)
            values[index] = value
        self.next_value += len(defined)

    def _forward(self, index: int) -> Value:
        self.has_forward = True
        forward = self.values[index] = Forward(self.cursor.offset)
        return forward

    def _note_forward(self, op: Operation) -> None:
        for index, operand in enumerate(op.operands):
            if isinstance(operand, Forward):
                operand.uses.append((op, index))

    def _resolve(self, forward: Value | None, value: Value) -> None:
        assert isinstance(forward, Forward)
        for op, index in forward.uses:
            op.operands[index] = value

    # --- regions and blocks -------------------------------------------------------------------------------------

    def _regions(self, op: Operation) -> None:
        cursor = self.cursor
        if self.depth >= MAX_NESTING:
            raise cursor.error(f"regions nested more than {MAX_NESTING} levels deep")
        count, is_isolated = cursor.flagged_varint()
        if count > cursor.remaining:
            raise cursor.error(f"{count} regions do not fit into the {cursor.remaining} bytes that are left")
        content = self._section() if is_isolated and self.file.version >= FormatVersion.LAZY_LOADING else cursor
        reader = OperationReader(self.file, content, self.depth) if is_isolated else self
        reader.depth += 1
        regions = [reader._region(op.name) for _ in range(count)]
        reader.depth -= 1
        if content is not cursor:
            content.expect_end("the regions of an op")
        if op.name == "builtin.module" and regions and not regions[0].blocks:
            regions[0] = Region([Block([], [])])  # which a module always has
        for region in regions:
            region.parent = op
        op.regions = regions

    def _section(self) -> Cursor:
        """Return the section of regions that see no values from above."""
        offset = self.cursor.offset
        section, content = read_section(self.cursor)
        if section != Section.IR:
            raise self.cursor.error(f"expected {Section.IR.title}, got {section.title}", offset)
        return content

    def _region(self, parent: str) -> Region:
        cursor = self.cursor
        count = cursor.count("blocks")
        if not count:
            return Region([])
        first, outer = len(self.values), self.next_value
        self.values += [None] * cursor.count("values")
        self.next_value = first
        region = Region([self._block(index, count, parent) for index in range(count)])
        self._check_defined(first)
        del self.values[first:]
        self.next_value = outer
        return region

    def _check_defined(self, first: int) -> None:
        """Refuse a region that uses a value which it does not define."""
        for value in self.values[first:] if self.has_forward else ():
            if isinstance(value, Forward):
                raise self.cursor.error("an operand is a value that is not defined", value.offset)

    def _block(self, index: int, blocks: int, parent: str) -> Block:
        count, has_arguments = self.cursor.flagged_varint()
        arguments = self._arguments() if has_arguments else []
        operations = self._operations(count, blocks, parent)
        return Block(arguments, operations, block_label(index) if index else "")

    def _arguments(self) -> list[Value]:
        cursor = self.cursor
        arguments = [self._argument(index) for index in range(cursor.count("arguments of a block"))]
        self._define(arguments)
        if self.file.version >= FormatVersion.USE_LIST_ORDERS and cursor.byte():
            self._skip_use_list_orders(len(arguments))
        return arguments

    def _argument(self, index: int) -> Value:
        cursor, file = self.cursor, self.file
        if file.version >= FormatVersion.ELIDED_LOCATIONS:
            type, has_location = cursor.flagged_varint()
        else:
            type, has_location = cursor.varint(), True
        argument = Value(file.types([type], cursor)[0], None, index)
        argument.location = file.location(cursor.varint(), cursor) if has_location else None
        return argument


def block_label(index: int) -> str:
    return f"bb{index}"


def _build(
    template: Template,
    operands: list[Value],
    types: list[Type] | tuple[Type, ...],
    location: ByteLocation,
    debug_location: DebugLocation | None,
    successors: list[str],
) -> Operation:
    name, members, attributes, _ = template
    if name in NORMALISED:
        return build_operation(
            name, operands, types, location, members=members, attributes=attributes, debug_location=debug_location
        )
    op = Operation(name, operands, types, {**members}, {**attributes}, [], location)
    op.debug_location = debug_location
    op.successors = successors
    return op


def read(data: bytes | memoryview | mmap, filename: str, allow_unregistered_dialect: bool = False) -> Operation:
    """Return the module that `data` encodes; its arrays are views of `data`, which must not change.

    Raises MalformedError for malformed bytecode and UnsupportedError for unknown encodings, both with the offset.
    """
    source = Source("", filename)
    cursor = Cursor(memoryview(data), source)
    header = read_header(cursor)
    try:
        with collection_paused():
            return on_enough_stack(ByteLocation(source, 0), FRAMES, _read, cursor, header, allow_unregistered_dialect)
    except (MalformedError, UnsupportedError) as error:
        raise type(error)([_with_note(diagnostic, header) for diagnostic in error.diagnostics]) from error


def _read(cursor: Cursor, header: Header, allow_unregistered_dialect: bool) -> Operation:
    try:
        file = BytecodeFile(cursor, header.version, allow_unregistered_dialect)
        operations = OperationReader(file, Cursor(bytes(file.ir.data), file.source, file.ir.base), 0).top_level()
    except RecursionError as error:  # Python's recursion limit is low
        message = "nested too deeply for what is left of Python's stack"
        raise MalformedError(message, ByteLocation(cursor.source, 0)) from error
    module = operations[0] if len(operations) == 1 else None
    if module is None or module.name != "builtin.module":
        location = ByteLocation(file.source, file.ir.base)
        module = build_operation("builtin.module", [], [], location, regions=[Region([Block([], operations)])])
    if CAST in (op.name for op in file.ops):
        fold_casts(module)
    return module


def _with_note(diagnostic: Diagnostic, header: Header) -> Diagnostic:
    """Add what a file says about its version and origin to an error."""
    note = f"in version {header.version} of MLIR bytecode, written by '{header.producer}'"
    return replace(diagnostic, notes=(*diagnostic.notes, note))
