"""The interface between ops and the planner: kernels, planned regions, plans of functions and blocks.

The classes that implement these protocols are in execute/.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Region, Value
from stablehlo_ref.ir.types import FunctionType

Run: TypeAlias = Callable[..., Any]  # from the arrays of operands to those of results; members decide how many
Slots: TypeAlias = list[Any]  # the values of one call of a function; slot 0 holds the run's `Context`
Turns: TypeAlias = Generator[Any, Any, None]  # yields requests to other processes (processes.py), mostly none
ControlFlow: TypeAlias = Callable[[Slots], Turns]
FinishLoop: TypeAlias = Callable[[Slots], bool]  # may run the remaining iterations of a loop; returns whether it did
FindChoices: TypeAlias = Callable[..., Iterable[Choice]] | None  # from the arrays of operands


@dataclass(frozen=True)
class Kernel:
    """How an op computes its results from arrays, and by which other forms.

    `in_place` does the same as `run`, and may write the result into the array of the first operand. `into` writes the
    result, of an elementwise op, into one more argument `out`, which shares no memory with the operands, and returns
    that. `temporaries` are the bytes of the arrays of tensor size that `run` allocates besides results.
    """

    run: Run
    in_place: Run | None = None
    into: Run | None = None
    temporaries: int = 0

    def __call__(self, *operands: object) -> Any:
        return self.run(*operands)


class RegionFunction(Protocol):
    """A planned region that ops call as a function: as one recognised op, on whole arrays, or on scalars."""

    region: Region
    function_type: FunctionType
    mode: Mode  # for which it is planned

    @property
    def each(self) -> Callable[..., list[Any]]:
        """The region, a function of scalars, applied to every tuple of elements of arrays."""

    @property
    def recognised(self) -> Operation | None:
        """The op of a region that is `return op(%a, %b)` of its two arguments in order; None for any other region."""

    @property
    def parts(self) -> Sequence[RegionFunction]:
        """A region `(%a..., %b...) -> ...` as one region `(%ai, %bi) -> ...` per result, if these are independent."""

    @property
    def is_associative(self) -> bool:
        """Whether the body of a reduction gives the same result in any tree, rounding aside."""

    @property
    def is_elementwise(self) -> bool:
        """Whether the region, a function of scalars, can be called on arrays of one shape."""

    def returning(self, values: Sequence[Value]) -> RegionFunction:
        """Return the part of the region that computes `values`, which are arguments or results of its ops."""

    def __call__(self, *arrays: Array) -> list[Any]:
        """Call the region on one tuple of its arguments."""


class PlannedBlock(Protocol):
    """A block planned in the slots of a function."""

    arguments: tuple[int, ...]  # slots
    results: tuple[int, ...]  # slots
    outs: list[tuple[int, ...]]  # the slots of the results of each op
    ops: list[Operation]
    communicates: bool

    def run(self, slots: Slots) -> None:
        """Run all ops of a block that does not communicate."""

    def coroutine(self, slots: Slots) -> Turns:
        """Run all ops of a block that communicates; yields their requests to other processes."""


class PlanBlock(Protocol):
    """Plans the block of a region; its arguments live in the slots `shared`, or else in new ones."""

    def __call__(self, *, shared: Sequence[int] | None = None) -> PlannedBlock: ...


class Callee(Protocol):
    """The plan of a function."""

    @property
    def block(self) -> PlannedBlock: ...

    def call(self, context: Context, arguments: list[Any]) -> list[Any]:
        """Call the function, which empties the list of its arguments."""

    def coroutine(self, context: Context, arguments: list[Any]) -> Generator[Any, Any, list[Any]]:
        """Call a function that communicates; yields its requests to other processes."""


class RunGrid(Protocol):
    """Runs plans as the processes of a grid."""

    def __call__(
        self,
        context: Context,
        grid: Grid,
        programs: Sequence[tuple[Callee, list[Any]]],
        infeed: Iterable[Callable[[Context], Sequence[Any]]] = (),
    ) -> list[list[Any]]: ...
