"""Strip the locations that a program carries along."""

from __future__ import annotations

from stablehlo_ref.ir.core import Operation
from stablehlo_ref.passes.registry import Pass


def strip_debuginfo(module: Operation) -> None:
    """Remove `loc(...)` of all operations and block arguments."""
    for op in module.walk():
        op.debug_location = None
        for block in (block for region in op.regions for block in region.blocks):
            for argument in block.arguments:
                argument.location = None


PASS = Pass("strip-debuginfo", "remove the locations of ops and arguments", strip_debuginfo)
