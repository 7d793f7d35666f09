"""MLIR's ub dialect: values of undefined behaviour."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft
from stablehlo_ref.define.attribute_codecs import Opaque
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.op import Attr, Op, Out
from stablehlo_ref.define.spec import element_type, is_tensor, shape
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.ir.attributes import OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import Type
from stablehlo_ref.numerics.dtypes import numpy_dtype


class PoisonValue(Directive):
    """`<#attribute>`: the value of a poison, unless it is `#ub.poison`."""

    members = ("value",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.accept("<"):
            draft.members["value"] = parser.attribute()
            parser.expect(">")

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        value = op.properties.get("value")
        if value is not None and value != OpaqueAttribute("#ub.poison"):
            printer.value(f"<{printer.attribute(value)}>")


class Poison(Op, op="poison", dialect="ub", computes_on_storage=True):
    """Return a value that a program must not depend on, here zeros."""

    value = Attr(Opaque, default=OpaqueAttribute("#ub.poison"))
    result = Out(anything)

    syntax = ("attr-dict", PoisonValue(), ": type(results)")

    @staticmethod
    def plan(result: Type) -> Run:
        zeros = np.zeros(shape(result) if is_tensor(result) else (), numpy_dtype(element_type(result)))
        return lambda: zeros if zeros.ndim else zeros[()]
