"""Accuracy where long double is no wider than f64, as on Windows and on macOS on ARM."""

from __future__ import annotations

import json
import subprocess
import sys

import mpmath

SCRIPT = """
import json
import numpy
numpy.longdouble, numpy.clongdouble = numpy.float64, numpy.complex128
import stablehlo_ref as sr
from stablehlo_ref.numerics import long_double
assert not long_double.IS_WIDE

def run(op, element, values):
    t = f"tensor<{len(values)}x{element}>"
    text = f'func.func @main(%x: {t}) -> {t} {{ %r = "{op}"(%x) : ({t}) -> {t} return %r : {t} }}'
    return sr.load(text).run(numpy.array(values))[0]

found = {op: run(op, "f64", REAL).tolist() for op in OPS}
z = run("stablehlo.tanh", "complex<f64>", [complex(x, 2 * x) for x in REAL])
found["tanh"] = [[x.real, x.imag] for x in z.tolist()]
print(json.dumps(found))
"""
REAL = [0.1, 0.7, 0.99, -0.3, 1e-9]
FUNCTIONS = {"chlo.lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))), "chlo.erfc": mpmath.erfc,
             "chlo.atanh": mpmath.atanh, "chlo.digamma": mpmath.digamma}  # fmt: skip


def test_functions_are_correctly_rounded_without_wide_long_doubles() -> None:
    names = f"OPS, REAL = {list(FUNCTIONS)}, {REAL}\n"
    done = subprocess.run([sys.executable, "-c", names + SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    with mpmath.workprec(200):
        for op, function in FUNCTIONS.items():
            assert found[op] == [float(function(mpmath.mpf(x))) for x in REAL], op
        expected = [mpmath.tanh(mpmath.mpc(x, 2 * x)) for x in REAL]
        assert found["tanh"] == [[float(z.real), float(z.imag)] for z in expected]
