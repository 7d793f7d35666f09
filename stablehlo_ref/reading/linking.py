"""Several programs as one."""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.passes.link import link as link_modules
from stablehlo_ref.program import Program


@checks_arguments
def link(programs: Sequence[Program], *, entry: str | None = None) -> Program:
    """Return one verified program with the functions of all: bodies replace declarations of the same name.

    Private symbols that collide are renamed with all their uses. Its entry is `entry`, else `main`, else the only
    function. InvalidError, with both places, for a function that is defined twice or declared with another type.

    >>> model = sr.link([sr.load("model.mlir"), sr.load("kernels.mlir")])
    """
    return Program(link_modules([program.module for program in programs]), entry).verify()
