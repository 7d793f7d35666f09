"""Instructions on vectors of f64, of which functions of f32 consist."""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, literal
from stablehlo_ref.numerics.dtypes import FLOAT64

ROUNDER = 1.5 * 2.0**52  # added and subtracted, it rounds to an integer; the sum has its low bits


class Vectors:
    """Instructions on vectors of f64."""

    def __init__(self, code: Assembly, count: int) -> None:
        self.code = code
        self.kind = Kind(FLOAT64, count)

    def number(self, value: float) -> Register:
        return literal(self.kind, value)

    def integer(self, value: int) -> Register:
        return literal(self.kind.of(INDEX), value)

    def add(self, x: Register, y: Register | float) -> Register:
        return self.code.binary("fadd", x, self._operand(y))

    def subtract(self, x: Register | float, y: Register | float) -> Register:
        return self.code.binary("fsub", self._operand(x), self._operand(y))

    def multiply(self, x: Register, y: Register | float) -> Register:
        return self.code.binary("fmul", x, self._operand(y))

    def divide(self, x: Register | float, y: Register) -> Register:
        return self.code.binary("fdiv", self._operand(x), y)

    def multiply_add(self, x: Register, y: Register | float, z: Register | float) -> Register:
        """Return x*y + z, rounded once where the processor has an instruction for that, else twice."""
        return self.code.intrinsic("fmuladd", x, self._operand(y), self._operand(z))

    def polynomial(self, x: Register, coefficients: Sequence[float]) -> Register:
        """Return a polynomial, from its coefficients in increasing order.

        Horner's scheme computes its even and its odd part, side by side, as each step waits for the one before.
        """
        square = self.multiply(x, x)
        odd, even = self._horner(square, coefficients[1::2]), self._horner(square, coefficients[::2])
        return self.multiply_add(odd, x, even)

    def _horner(self, x: Register, coefficients: Sequence[float]) -> Register:
        result = self.number(coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            result = self.multiply_add(result, x, coefficient)
        return result

    def clamp(self, x: Register, low: float, high: float) -> Register:
        """Return a number within limits; NaN for NaN."""
        code = self.code
        x = code.select(code.compare("olt", x, self.number(low)), self.number(low), x)
        return code.select(code.compare("ogt", x, self.number(high)), self.number(high), x)

    def choose(self, predicate: str, x: Register, limit: float, then: Register, otherwise: Register) -> Register:
        return self.code.select(self.code.compare(predicate, x, self.number(limit)), then, otherwise)

    def bits(self, x: Register) -> Register:
        return self.code.cast("bitcast", x, INDEX)

    def from_bits(self, x: Register) -> Register:
        return self.code.cast("bitcast", x, FLOAT64)

    def _operand(self, x: Register | float) -> Register:
        return x if isinstance(x, Register) else self.number(x)
