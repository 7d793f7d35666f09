"""Kinds of ops: what pure roles see of an op, as a key of tables that spare the same work for ops of the same kind.

Programs consist of few kinds: a model of 6,000 ops has about 250. Roles are pure, so what a role returns for one op
holds for all of its kind, unless the role uses the op's site.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

from stablehlo_ref.ir.core import Operation

Kind: TypeAlias = tuple[Hashable, ...]


def kind_of(op: Operation) -> Kind:
    """Return the name, the types and the attribute members of an op, by identity; regions are not part of it.

    Types and attributes that are the same object are equal, and the parser shares them. Those that are equal and not
    the same only make another kind. Identities are unique as long as the objects live: a table outlives the op only if
    it keeps these.
    """
    operands, properties = op.operands, op.properties
    types = [id(v.type) for v in operands + op.results]
    if not properties:
        return op.name, len(operands), *types
    return op.name, len(operands), *types, *properties, *map(id, properties.values())
