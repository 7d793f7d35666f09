"""MLIR's ub dialect: values of undefined behaviour."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.define.attribute_codecs import Opaque
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.op import Attr, Op, Out
from stablehlo_ref.define.spec import element_type, is_tensor, shape
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.ir.attributes import OpaqueAttribute
from stablehlo_ref.ir.types import Type
from stablehlo_ref.numerics.dtypes import numpy_dtype


class Poison(Op, op="poison", dialect="ub", computes_on_storage=True):
    """Return a value that a program must not depend on, here zeros."""

    value = Attr(Opaque, default=OpaqueAttribute("#ub.poison"))
    result = Out(anything)

    syntax = "attr-dict (< $value >)? : type(results)"

    @staticmethod
    def plan(result: Type) -> Run:
        zeros = np.zeros(shape(result) if is_tensor(result) else (), numpy_dtype(element_type(result)))
        return lambda: zeros if zeros.ndim else zeros[()]
