"""What dialects demand of their discardable attributes on ops of any dialect, such as `sdy.sharding`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from stablehlo_ref.ir.attributes import Attribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import Type

OpCheck: TypeAlias = Callable[[Operation, Attribute], None]
ParameterCheck: TypeAlias = Callable[[Operation, Attribute, Type, str], None]  # the last is `argument 0` or `result 0`

# By names of attributes; they raise InvalidError.
OP_CHECKS: dict[str, OpCheck] = {}
PARAMETER_CHECKS: dict[str, ParameterCheck] = {}  # of arguments and results of functions
