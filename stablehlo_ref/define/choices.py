"""Implementation-defined behaviour that a run can detect; docs/choices.md documents what happens here."""

from __future__ import annotations

from enum import Enum


class Choice(Enum):
    """A case that the spec calls implementation-defined, undefined or to be determined, as a run detects it."""

    INTEGER_DIVISION_BY_ZERO = "an integer is divided by zero"
    INTEGER_OVERFLOW = "a signed integer overflows"
    INTEGER_POWER = "an integer is raised to a negative power"
    SHIFT_AMOUNT = "the shift amount is negative, or not less than the number of bits"
    CONVERT_OUT_OF_RANGE = "a number is converted to a type that cannot represent it"
    SPECIAL_FUNCTION = "a special function is evaluated outside of its domain, at a pole or at infinity"
    QUANTIZE_NAN = "a NaN is quantized"
    SORT_UNORDERED = "values that include NaNs are sorted by a comparison that does not order NaNs"
    UNSORTED_INDICES = "indices are not sorted although `indices_are_sorted` is set"
    REPEATED_INDICES = "an element is updated twice although `unique_indices` is set"
    SCATTER_ORDER = "an element is updated twice by a computation whose result depends on the order"
    EMPTY_WINDOW = "an element is selected from a window that contains only padding"
    CHOLESKY_INPUT = "a matrix is not Hermitian positive definite"
    UNIT_DIAGONAL = "an element of the diagonal is not 1 although `unit_diagonal` is set"
    RNG = "random numbers are drawn"
    RNG_BOUNDS = "random numbers are drawn from an empty interval, or with a negative standard deviation"
    RNG_BITS = "random bits are generated"
    RECV_WITHOUT_SOURCE = "a message is sent from device to device without `source_target_pairs`"
    TRACE = "a value is traced, which has no effect here"

    @property
    def anchor(self) -> str:
        """The anchor of the section on this case in docs/choices.md."""
        return self.name.lower().replace("_", "-")

    def __str__(self) -> str:
        return f"{self.value}; the result is implementation-defined, see docs/choices.md#{self.anchor}"
