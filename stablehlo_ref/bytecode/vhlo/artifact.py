"""Portable artifacts: a program as VHLO in MLIR bytecode, for a version of StableHLO and all later ones."""

from __future__ import annotations

from mmap import mmap

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.bytecode.encoding import Cursor
from stablehlo_ref.bytecode.sections import MAGIC, read_header
from stablehlo_ref.bytecode.vhlo.downgrade import VhloForm
from stablehlo_ref.bytecode.vhlo.ops import insert_casts
from stablehlo_ref.bytecode.vhlo.versions import CURRENT, FIRST, Version, bytecode_version, parse_version
from stablehlo_ref.bytecode.writer import write_program
from stablehlo_ref.diagnostics import Source, UnsupportedError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import clone

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
