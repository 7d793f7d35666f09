"""Backends that `diff` and `reduce` compare the interpreter with, each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any, Protocol, runtime_checkable

import numpy as np

from stablehlo_ref.debug.backends import compilers, others
from stablehlo_ref.define.processes import Grid

ENTRY_POINTS = "stablehlo_ref.backends"


@runtime_checkable
class Backend(Protocol):
    """Runs programs. An object of this kind lives in a process of its own, and may crash or hang there.

    `switches` maps descriptions of settings that turn parts of the backend off, such as `optimization level 0`, to
    values that the option `setting` of `run` takes; it may be left out. If a value is a list, such as names of passes,
    `run` takes the description and a list of some of them, and `diff` looks for the fewest. `versions`, which may
    be left out too, maps names of packages or devices to their versions. `run` raises any exception to refuse a
    program.
    """

    name: str

    def run(self, program: str, inputs: Sequence[np.ndarray[Any, Any]]) -> Sequence[np.ndarray[Any, Any]]:
        """Return the results of the entry of `program`, MLIR text, as arrays of the types of its outputs."""
        ...


@runtime_checkable
class Parallel(Protocol):
    """A backend that runs a program in several processes, each of which has inputs and results of its own."""

    def run_parallel(self, program: str, inputs_per_process: Sequence[Sequence[Any]], grid: Grid) -> list[Any]:
        """Return the results of each process of a grid, in row-major order of (replica id, partition id)."""
        ...


def open_backend(description: str) -> Backend:
    """Return the backend `name` or `name:argument`; ValueError for an unknown name.

    Packages add backends by entry points of the group `stablehlo_ref.backends`: functions from the argument to a
    `Backend`. Optional packages are imported here, in the backend's process.
    """
    name, _, argument = description.partition(":")
    if description.endswith(".npz"):
        return others.dump(description)
    if name in _FACTORIES:
        return _FACTORIES[name](argument)
    for entry in entry_points(group=ENTRY_POINTS):
        if entry.name == name:
            return entry.load()(argument)  # type: ignore[no-any-return]
    raise ValueError(f"unknown backend {description!r}; expected {', '.join(DESCRIPTIONS)}")


_FACTORIES: Mapping[str, Callable[[str], Backend]] = {
    "jax": compilers.Xla, "pjrt": compilers.plugin, "cpp": compilers.cpp, "iree": compilers.Iree,
    "cmd": others.command, "python": others.function, "self": others.Itself,
}  # fmt: skip
DESCRIPTIONS: Mapping[str, str] = {
    "jax[:PLATFORM]": "XLA through jax",
    "pjrt:PLUGIN.so": "a PJRT plug-in through jax",
    "cpp": "StableHLO's own interpreter, through jaxlib",
    "iree[:TARGET]": "IREE's compiler and runtime",
    "cmd:'TOOL {program} {inputs} {outputs}'": "a command that writes its results to an .npz file",
    "python:MODULE:FUNCTION": "a function of the program's text and arrays that returns arrays",
    "OUTPUTS.npz": "results that were saved: they are compared, and nothing can be located",
    "self": "this interpreter",
}
