"""What the spec leaves open and a run can tell that a program relies on: docs/choices.md says what happens then."""

from __future__ import annotations

from enum import Enum

PAGE = "docs/choices.md"


class Choice(Enum):
    """A case that the spec calls implementation-defined, undefined or to be determined, as it shows in a run."""

    INTEGER_DIVISION_BY_ZERO = "an integer is divided by zero"
    INTEGER_OVERFLOW = "a signed integer overflows"
    INTEGER_POWER = "an integer is raised to a negative power"
    SHIFT_AMOUNT = "bits are shifted by as many as there are, by more, or by a negative number of them"
    CONVERT_OUT_OF_RANGE = "a number is converted to a type that cannot represent it"
    QUANTIZE_NAN = "a NaN is quantized"
    SORT_UNORDERED = "numbers are sorted among which there are NaNs, which no comparison orders"
    UNSORTED_INDICES = "indices are not sorted that `indices_are_sorted` says are"
    REPEATED_INDICES = "an element is updated twice where `unique_indices` says that none is"
    SCATTER_ORDER = "an element is updated twice by a computation whose result depends on the order"
    EMPTY_WINDOW = "an element is selected from a window that holds none"
    CHOLESKY_INPUT = "a matrix is not Hermitian positive definite"
    UNIT_DIAGONAL = "an element of the diagonal is not 1 where `unit_diagonal` says that all are"
    RNG = "random numbers are drawn"
    RNG_BOUNDS = "random numbers are drawn from an empty interval, or with a negative deviation"
    RNG_BITS = "random bits are generated"
    RECV_WITHOUT_SOURCE = "a message goes from device to device without pairs of sources and targets"
    TRACE = "a value is traced, which has no effect here"

    @property
    def anchor(self) -> str:
        """The name of its section in docs/choices.md."""
        return self.name.lower().replace("_", "-")

    def __str__(self) -> str:
        return f"{self.value}; the spec does not say what happens then, {PAGE}#{self.anchor} does"
