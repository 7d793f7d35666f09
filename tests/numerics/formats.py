"""Decode narrow floating-point formats from their definitions: an oracle that shares no code with the package."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class Format:
    """A binary format. `specials` defines the meaning of the largest bit patterns.

    "ieee": the largest exponent encodes infinity and NaNs; "fn": one NaN, all ones; "fnuz": one NaN, instead of -0;
    "mx": numbers only; "unsigned": powers of two, one NaN, all ones.
    """

    dtype: np.dtype
    exponent_bits: int
    mantissa_bits: int
    bias: int
    specials: str

    def __str__(self) -> str:
        return str(self.dtype)

    @property
    def bits(self) -> np.dtype:
        return np.dtype(f"u{self.dtype.itemsize}")

    @property
    def sign_bit(self) -> int:
        return 1 << (self.exponent_bits + self.mantissa_bits)

    @cached_property
    def magnitudes(self) -> np.ndarray:
        """The nonnegative numbers as f64, in ascending order: index i is the number with bit pattern i."""
        if self.specials == "unsigned":
            return 2.0 ** np.arange(-self.bias, 255 - self.bias)
        pattern = np.arange(self.sign_bit)
        exponent, mantissa = pattern >> self.mantissa_bits, pattern & (1 << self.mantissa_bits) - 1
        significand = mantissa + ((exponent > 0) << self.mantissa_bits)
        values = np.ldexp(significand.astype(float), np.maximum(exponent, 1) - self.bias - self.mantissa_bits)
        top = {"ieee": (1 << self.exponent_bits) - 1 << self.mantissa_bits, "fn": self.sign_bit - 1}
        return values[: top.get(self.specials, self.sign_bit)]

    @cached_property
    def values(self) -> np.ndarray:
        """The value of each bit pattern as f64."""
        if self.specials == "unsigned":
            return np.append(self.magnitudes, np.nan)
        positive = np.full(self.sign_bit, np.nan)
        positive[: self.magnitudes.size] = self.magnitudes
        if self.specials == "ieee":
            positive[self.magnitudes.size] = np.inf
        negative = -positive
        if self.specials == "fnuz":
            negative[0] = np.nan
        return np.concatenate([positive, negative])

    def every_element(self) -> np.ndarray:
        """Return an array of all bit patterns in order."""
        return np.arange(self.values.size).astype(self.bits).view(self.dtype)


FORMATS = [
    Format(np.dtype(dtype), *rest)
    for dtype, *rest in [
        (ml_dtypes.float4_e2m1fn, 2, 1, 1, "mx"),
        (ml_dtypes.float6_e2m3fn, 2, 3, 1, "mx"),
        (ml_dtypes.float6_e3m2fn, 3, 2, 3, "mx"),
        (ml_dtypes.float8_e3m4, 3, 4, 3, "ieee"),
        (ml_dtypes.float8_e4m3, 4, 3, 7, "ieee"),
        (ml_dtypes.float8_e4m3fn, 4, 3, 7, "fn"),
        (ml_dtypes.float8_e4m3fnuz, 4, 3, 8, "fnuz"),
        (ml_dtypes.float8_e4m3b11fnuz, 4, 3, 11, "fnuz"),
        (ml_dtypes.float8_e5m2, 5, 2, 15, "ieee"),
        (ml_dtypes.float8_e5m2fnuz, 5, 2, 16, "fnuz"),
        (ml_dtypes.float8_e8m0fnu, 8, 0, 127, "unsigned"),
        (ml_dtypes.bfloat16, 8, 7, 127, "ieee"),
        (np.float16, 5, 10, 15, "ieee"),
    ]
]
