"""Bytes to program: MLIR bytecode of StableHLO, and portable artifacts of any version, which are upgraded on the way.

Constants and resources stay where they are in the file: their arrays are views of it. An op's attributes are decoded
once for all ops that have the same name, attributes and properties.
"""

from __future__ import annotations

from dataclasses import replace
from mmap import mmap

from stablehlo_ref.bytecode.encoding import ByteLocation, Cursor
from stablehlo_ref.bytecode.file import BytecodeFile
from stablehlo_ref.bytecode.operations import OperationReader
from stablehlo_ref.bytecode.sections import Header, Section, read_header
from stablehlo_ref.bytecode.vhlo.casts import CAST, fold_casts
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.diagnostics import Diagnostic, MalformedError, Source, UnsupportedError
from stablehlo_ref.ir.core import Block, Operation, Region
from stablehlo_ref.limits.stack import FRAMES, collection_paused, on_enough_stack


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
        return _module(BytecodeFile(cursor, header.version, allow_unregistered_dialect))
    except RecursionError as error:  # Python's recursion limit is low
        message = "nested too deeply for what is left of Python's stack"
        raise MalformedError(message, ByteLocation(cursor.source, 0)) from error


def _with_note(diagnostic: Diagnostic, header: Header) -> Diagnostic:
    """Add what a file says about its version and origin to an error."""
    note = f"in version {header.version} of MLIR bytecode, written by '{header.producer}'"
    return replace(diagnostic, notes=(*diagnostic.notes, note))


def _module(file: BytecodeFile) -> Operation:
    """Return the only operation of a file, or a module around all of them."""
    module = _module_as_written(file)
    if CAST in (op.name for op in file.dialects.ops):
        fold_casts(module)
    return module


def _module_as_written(file: BytecodeFile) -> Operation:
    cursor = Cursor(bytes(file.ir.data), file.source, file.ir.base)
    operations = OperationReader(file, cursor, 0).top_level()
    cursor.expect_end(Section.IR.title)
    if len(operations) == 1 and operations[0].name == "builtin.module":
        return operations[0]
    location = ByteLocation(file.source, file.ir.base)
    return build_operation("builtin.module", [], [], location, regions=[Region([Block([], operations)])])
