"""Numbers as LLVM prints them: with six digits, or where these do not suffice, with all that the type needs."""

from __future__ import annotations

from stablehlo_ref.ir.arrays import DType
from stablehlo_ref.numerics import dtypes

SHORT = 6  # digits
MOST_ZEROS = 3  # in front of the digits; beyond them, numbers are printed with an exponent


def short_text(value: float) -> str:
    """Return a finite number with six significant digits: `1.500000e+00`."""
    digits, exponent = _digits(abs(value), SHORT)
    power = exponent + len(digits) - 1
    sign = "-" if str(value).startswith("-") else ""
    return f"{sign}{digits[0]}.{digits[1:]:0<{SHORT}}e{'+' if power >= 0 else '-'}{abs(power):02}"


def full_text(value: float, dtype: DType) -> str | None:
    """Return a finite number with enough digits to distinguish all numbers of its type, without trailing zeros.

    None for whole numbers that would have no point, which are printed by their bits.
    """
    count = 2 + (dtypes.mantissa_bits(dtype) + 1) * 59 // 196
    digits, exponent = _digits(abs(value), count)
    sign = "-" if value < 0 else ""
    if not _is_plain(digits, exponent, count):
        return sign + _scientific(digits, exponent)
    return None if exponent >= 0 else sign + _plain(digits, exponent)


def _digits(value: float, count: int) -> tuple[str, int]:
    """Return up to `count` digits of a number and the power of ten of the last, rounded as LLVM does.

    Powers of ten that certainly exceed the digits are cut off first, and what is left is rounded half up.
    """
    numerator, denominator = value.as_integer_ratio()
    power = 1 - denominator.bit_length()
    significand = numerator * 5**-power  # as denominator is a power of two
    spare = (significand.bit_length() - (count * 196 + 58) // 59) * 59 // 196
    if spare > 0:
        significand, power = significand // 10**spare, power + spare
    text = str(significand)
    digits = text.rstrip("0") or "0"
    power += len(text) - len(digits) if significand else 0
    if len(digits) <= count:
        return digits, power if significand else 0
    return _rounded(digits, power, count)


def _rounded(digits: str, power: int, count: int) -> tuple[str, int]:
    kept = int(digits[:count]) + (digits[count] >= "5")
    text = str(kept)
    digits, power = text.rstrip("0"), power + len(digits) - count
    return digits, power + len(text) - len(digits)


def _is_plain(digits: str, exponent: int, count: int) -> bool:
    """Return whether a number is printed without an exponent; `exponent` is that of the last digit."""
    if exponent >= 0:
        return exponent <= MOST_ZEROS and len(digits) + exponent <= count
    leading = exponent + len(digits) - 1
    return leading >= 0 or -leading <= MOST_ZEROS


def _plain(digits: str, exponent: int) -> str:
    whole = len(digits) + exponent
    return f"{digits[:whole]}.{digits[whole:]}" if whole > 0 else f"0.{'0' * -whole}{digits}"


def _scientific(digits: str, exponent: int) -> str:
    power = exponent + len(digits) - 1
    return f"{digits[0]}.{digits[1:] or '0'}E{'+' if power >= 0 else '-'}{abs(power)}"
