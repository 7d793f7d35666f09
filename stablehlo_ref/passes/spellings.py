"""Spell a program in StableHLO, mhlo or VHLO; its ops are those of StableHLO in any of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stablehlo_ref.bytecode.encodings import plain
from stablehlo_ref.bytecode.entries import Pool
from stablehlo_ref.bytecode.vhlo.artifact import VhloForm
from stablehlo_ref.bytecode.vhlo.ops import fold_casts, insert_casts, vhlo_name
from stablehlo_ref.bytecode.vhlo.versions import CURRENT, Version
from stablehlo_ref.diagnostics import Diagnostic, InvalidError, MalformedError, UnsupportedError
from stablehlo_ref.ir.attributes import EnumAttribute, OpaqueAttribute, StructAttribute, TypeAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TOKEN, FunctionType, FutureType, TensorType, TokenType, TupleType
from stablehlo_ref.passes.compatibility_expander import version
from stablehlo_ref.passes.emit import cannot_legalize
from stablehlo_ref.passes.registry import PassOption, flag, transformation
from stablehlo_ref.syntax.mhlo import OF_MHLO_ALONE
from stablehlo_ref.syntax.vhlo_printer import SPELLING, spelled_version

# --- mhlo -------------------------------------------------------------------------------------------------------------


@transformation("hlo-legalize-to-stablehlo", "replace ops of mhlo by those of StableHLO and CHLO that they are")
def hlo_legalize_to_stablehlo(module: Operation) -> None:
    """Spell ops, attributes and types of mhlo as those of StableHLO and CHLO; UnsupportedError for others.

    The reader has already replaced ops of mhlo by equivalent ones, so only their spelling changes.
    """
    for op in module.walk():
        if op.name.startswith("mhlo.") or _is_scheduled(op):
            raise cannot_legalize(op)
        for value in (*op.results, *op.block_arguments):
            value.type = in_stablehlo(value.type)
        if op.spelling:
            op.attributes = {name: value for name, value in op.attributes.items() if name not in OF_MHLO_ALONE}
        op.properties, op.attributes, op.spelling = in_stablehlo(op.properties), in_stablehlo(op.attributes), ""


def _is_scheduled(op: Operation) -> bool:
    """Return whether an op is a custom call that may not be moved, which StableHLO cannot say."""
    schedule = op.attributes.get("custom_call_schedule") if op.spelling else None
    return isinstance(schedule, OpaqueAttribute) and "NONE" not in schedule.text


def in_stablehlo(value: Any) -> Any:
    """Return a type, an attribute or a value of a member with everything in it as StableHLO has it."""
    match value:
        case tuple() if type(value) is tuple:
            return tuple(map(in_stablehlo, value))
        case dict():
            return {name: in_stablehlo(inner) for name, inner in value.items()}
        case EnumAttribute() | TensorType():
            return replace(value, spelling="") if value.spelling else value
        case StructAttribute(fields=fields):
            return replace(value, fields=in_stablehlo(dict(fields)), spelling="")
        case TypeAttribute(type=inner):
            return TypeAttribute(in_stablehlo(inner))
        case TokenType():
            return TOKEN
        case TupleType(elements=elements) | FutureType(elements=elements):
            return replace(value, elements=in_stablehlo(elements))
        case FunctionType(inputs=inputs, outputs=outputs):
            return FunctionType(in_stablehlo(inputs), in_stablehlo(outputs))
    return value


# --- VHLO -------------------------------------------------------------------------------------------------------------


@transformation(
    "stablehlo-legalize-to-vhlo",
    "print and write VHLO",
    PassOption("allow-other-dialects", flag, "whether ops that VHLO does not have stay (default false)"),
)
def legalize_to_vhlo(module: Operation, allow_other_dialects: bool = False) -> None:
    """Let the program be printed, and written as bytecode, as VHLO of the newest version.

    It is still one of StableHLO, with the same results. UnsupportedError for ops, attributes and types that VHLO does
    not have: those of other dialects, of CHLO too, which `--chlo-pre-serialization-pipeline` replaces. With
    `allow_other_dialects` these stay as they are, with casts between their types and those of VHLO.
    """
    form = VhloForm(CURRENT, allow_other_dialects)
    for op in module.walk():
        try:
            _check(op, form)
        except UnsupportedError as error:
            refusal = cannot_legalize(op).diagnostics[0].message
            raise UnsupportedError(f"{refusal}: {error.diagnostics[0].message}", op.location) from None
    if allow_other_dialects:
        insert_casts(module)
    module.spelling = f"{SPELLING}{CURRENT}"


def _check(op: Operation, form: VhloForm) -> None:
    """Raise UnsupportedError unless an op can be written in a form."""
    form.check(op)
    made, pool = form.form(op), Pool(plain)
    for attribute in (*made.inherent.values(), *made.discardable.values()):
        pool.attribute(attribute, made.encodings)
    for value in (*op.operands, *op.results, *op.block_arguments) if op.name != "builtin.module" else ():
        pool.type(value.type, made.encodings)


@transformation(
    "vhlo-to-version",
    "print and write VHLO of an earlier version",
    PassOption("target", version, "the version, such as 1.9.0; has to be given"),
)
def to_version(module: Operation, target: Version | None = None) -> None:
    """Let a program that is one of VHLO be that of an earlier version.

    InvalidError, which says what that version lacks, if it cannot be. Other programs stay as they are.
    """
    if target is None:
        message = "No target version specified.\nTarget version must be of the form `#.#.#`."
        raise MalformedError(message)
    if spelled_version(module) is None:
        return
    has_others = any(vhlo_name(op) is None and op.name != "builtin.module" for op in module.walk())
    form, newest = (VhloForm(Version(*of[:2]), has_others) for of in (target, CURRENT))
    for op in module.walk():
        try:
            _check(op, form)
        except UnsupportedError as error:
            name = newest.form(op).name
            refusal = f"failed to legalize operation '{name}' that was explicitly marked illegal"
            reason = Diagnostic(error.diagnostics[0].message, module.location)
            raise InvalidError([reason, Diagnostic(refusal, op.location)]) from None
    module.spelling = f"{SPELLING}{target}"


@transformation("vhlo-legalize-to-stablehlo", "print and write StableHLO, not VHLO")
@transformation("stablehlo-deserialize", "print and write StableHLO, not VHLO")
def vhlo_legalize_to_stablehlo(module: Operation) -> None:
    """Let the program be printed and written as one of StableHLO; those of VHLO become that when they are read."""
    module.spelling = ""
    fold_casts(module)
