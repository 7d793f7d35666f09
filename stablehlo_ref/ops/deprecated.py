"""Ops that the spec left out or dropped, which older programs still hold: read, printed and refused when executed."""

from __future__ import annotations

from stablehlo_ref.define import Attr, In, Op, Out
from stablehlo_ref.kinds import Dims, String, tensor, token
from stablehlo_ref.ops.dot_general import PrecisionConfig


class CreateToken(Op, op="create_token"):
    """A token; `after_all` without inputs took its place."""

    output = Out(token)

    syntax = "attr-dict : type(results)"


class Broadcast(Op, op="broadcast"):
    """Adds major dimensions of sizes `broadcast_sizes`; `broadcast_in_dim` took its place."""

    operand = In(tensor)
    broadcast_sizes = Attr(Dims)
    result = Out(tensor)

    syntax = "operands, sizes = $broadcast_sizes attr-dict : functional_type"


class Dot(Op, op="dot"):
    """A product of vectors or matrices; `dot_general` took its place."""

    lhs = In(tensor)
    rhs = In(tensor)
    precision_config = Attr(PrecisionConfig, default=())
    result = Out(tensor)

    syntax = "operands custom(precision) attr-dict : functional_type"


class Einsum(Op, op="einsum"):
    """A sum of products by Einstein's notation; `dot_general` took its place."""

    lhs = In(tensor)
    rhs = In(tensor)
    einsum_config = Attr(String)
    result = Out(tensor)

    syntax = "operands, config = $einsum_config attr-dict : functional_type"


class UnaryEinsum(Op, op="unary_einsum"):
    """A sum or transposition by Einstein's notation; `reduce` and `transpose` took its place."""

    operand = In(tensor)
    einsum_config = Attr(String)
    result = Out(tensor)

    syntax = "operands, config = $einsum_config attr-dict : functional_type"
