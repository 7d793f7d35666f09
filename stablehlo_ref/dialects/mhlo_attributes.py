"""Attributes of mhlo on functions: aliases of arguments and results, and which arguments are replicated."""

from __future__ import annotations

import re

from stablehlo_ref.define.dialect_attributes import OP_CHECKS, PARAMETER_CHECKS
from stablehlo_ref.define.spec import compatible
from stablehlo_ref.diagnostics import InvalidError
from stablehlo_ref.ir.attributes import Attribute, OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import FunctionType, TupleType, Type

ALIAS, REPLICATION = "mhlo.result_alias", "mhlo.parameter_replication"

_match_alias = re.compile(r"#mhlo\.result_alias<(.*)>", re.DOTALL).fullmatch
_find_integers = re.compile(r"-?\d+").findall
_find_lists = re.compile(r"(tuple_indices|result_index)\s*=\s*\[([-\d,\s]*)\]").findall


def check_alias(op: Operation, attribute: Attribute, type: Type, where: str) -> None:
    """Check that the part of an argument that `#mhlo.result_alias<...>` names is as large as that of the result."""
    match = _match_alias(attribute.text) if isinstance(attribute, OpaqueAttribute) else None
    function_type = op.properties.get("function_type")
    if not match or not where.startswith("argument") or not isinstance(function_type, FunctionType):
        return
    lists = {name: [int(index) for index in _find_integers(text)] for name, text in _find_lists(match[1])}
    argument, result = lists.get("tuple_indices", []), lists.get("result_index", [])
    if not result or min((*argument, *result)) < 0:
        raise _invalid(op, f"attribute '{ALIAS}' of {where}: expected a result_index, and no negative indices", ALIAS)
    aliased = _part(type, argument), _part(TupleType(function_type.outputs), result)
    if None in aliased or not compatible(*aliased):
        types = " and ".join("no type" if part is None else str(part) for part in aliased)
        raise _invalid(op, f"attribute '{ALIAS}' of {where}: expected indices of compatible types, got {types}", ALIAS)


def check_is_of_argument(op: Operation, attribute: Attribute) -> None:
    """Reject an alias that is not of an argument."""
    raise _invalid(op, f"attribute '{ALIAS}' is one of arguments of functions", ALIAS)


def check_replication(op: Operation, attribute: Attribute, type: Type, where: str) -> None:
    """Check that a list says for each leaf of an argument, or for all, whether it is replicated."""
    leaves = _leaves(type)
    if where.startswith("argument") and not (isinstance(attribute, tuple) and len(attribute) in (0, 1, leaves)):
        raise _invalid(op, f"attribute '{REPLICATION}' of {where}: expected a list of {leaves} elements", REPLICATION)


def _part(type: Type, indices: list[int]) -> Type | None:
    """Return the type of a part of nested tuples; None if there is no such part."""
    for index in indices:
        if not isinstance(type, TupleType) or index >= len(type.elements):
            return None
        type = type.elements[index]
    return type


def _leaves(type: Type) -> int:
    return sum(map(_leaves, type.elements)) if isinstance(type, TupleType) else 1


def _invalid(op: Operation, message: str, name: str) -> InvalidError:
    return InvalidError(f"'{op.name}' op {message}", op.location, subjects=(name,))


OP_CHECKS[ALIAS] = check_is_of_argument
PARAMETER_CHECKS[ALIAS] = check_alias
PARAMETER_CHECKS[REPLICATION] = check_replication
