"""Leave out what takes much room in a printed program: locations, and the elements of large constants."""

from __future__ import annotations

from stablehlo_ref.ir.attributes import DenseElements, DenseResource, rebuilt
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.passes.registry import transformation


@transformation("strip-debuginfo", "remove the locations of ops and arguments")
def strip_debuginfo(module: Operation) -> None:
    """Remove `loc(...)` of all operations and block arguments."""
    for op in module.walk():
        op.debug_location = None
        for block in (block for region in op.regions for block in region.blocks):
            for argument in block.arguments:
                argument.location = None


PLACEHOLDER = "__elided__"  # MLIR's


def elide_constants(module: Operation, larger_than: int) -> None:
    """Replace tensor constants of more than `larger_than` elements by `dense_resource<__elided__>`, except splats.

    The result shows the structure of a program; it parses, but does not run.
    """

    def elided(attribute: object) -> object:
        match attribute:
            case DenseElements(type=type, array=array) if array.size > larger_than and any(array.strides):
                return DenseResource(PLACEHOLDER, type)
        return attribute

    for op in module.walk():
        op.properties, op.attributes = rebuilt(op.properties, elided), rebuilt(op.attributes, elided)
