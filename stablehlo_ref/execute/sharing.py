"""What is planned once for all ops of a kind: kernels, and the results of ops on constants."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from stablehlo_ref.define.bound import BoundOp
from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.define.definition import Kind, Traits, kind_of, resolve
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import QuantizedType, TensorType

FOLDED_ELEMENTS = 1 << 16  # ops on constants are computed while planning if all tensors are up to this size

CONTIGUOUS_BYTES = 1 << 12  # of constants that are stored element by element although all are equal


class SharedKernel(NamedTuple):
    """The kernel of all ops of a kind; `keys` are the types and attributes whose identities are the kind."""

    kernel: Kernel
    traits: Traits
    keys: tuple[object, ...]
    allocated: int  # bytes of the result, if it is small


class SharedResult(NamedTuple):
    """The result of all ops of a kind on the same constants; `keys` are the objects whose identities are the key."""

    array: Array
    keys: tuple[object, ...]


def kernel_kind(op: Operation, has_canonical_nans: bool, with_regions: bool) -> Kind | None:
    """Return the kind of ops that share a kernel with `op`; None if regions, unless they are recognised, prevent that.

    The kernel of an op with regions runs those of the first op of its kind. Other than recognised ops, which fail
    together with the op around them, those may fail at a place, which would be the wrong one.
    """
    if not op.regions:
        return (kind_of(op), True) if has_canonical_nans else kind_of(op)
    bodies = [recognised_op(region) for region in op.regions] if with_regions else [None]
    inner = [kind_of(body) for body in bodies if body is not None]
    return (kind_of(op), has_canonical_nans, *inner) if len(inner) == len(bodies) else None


def is_shared(bound: BoundOp) -> bool:
    """Return whether the kernel of an op on static types depends on nothing but its kind."""
    definition, traits = bound.definition, bound.definition.traits
    if definition.variant or traits.shape_operands:
        return False
    return not (bound.site.constants if traits.prepares_constants else definition.uses_site("plan"))


def objects_of(ops: Iterable[Operation]) -> tuple[object, ...]:
    """Return the types and attributes of ops, whose identities are unique as long as something refers to them."""
    objects: list[object] = []
    for op in ops:
        objects += op.operand_types
        objects += op.result_types
        objects += op.properties.values()
    return tuple(objects)


def compact(array: Array) -> Array:
    """Return a constant as a contiguous array if it is small; ops on broadcast ones take up to twice as long."""
    if array.nbytes > CONTIGUOUS_BYTES or array.flags.c_contiguous:
        return array
    copy = np.ascontiguousarray(array)
    copy.setflags(write=False)
    return copy


def is_foldable(op: Operation, operands: Iterable[Array]) -> bool:
    """Return whether an op is computed while planning, from operands that are constants."""
    definition = resolve(op)
    if definition is None or "plan" not in definition.roles or definition.traits.effects or op.regions:
        return False
    if len(op.results) != 1 or not isinstance(type := op.results[0].type, TensorType):
        return False
    sizes = [operand.size for operand in operands]
    is_plain = type.is_static and not isinstance(type.element_type, QuantizedType)
    return is_plain and max([type.size, *sizes]) <= FOLDED_ELEMENTS
