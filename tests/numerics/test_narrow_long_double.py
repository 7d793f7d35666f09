"""Accuracy where long double is no wider than f64, as on Windows and on macOS on ARM."""

from __future__ import annotations

import json
import subprocess
import sys

import mpmath
import numpy as np

SCRIPT = """
import json
import numpy
numpy.longdouble, numpy.clongdouble = numpy.float64, numpy.complex128
import stablehlo_ref as sr
from stablehlo_ref.numerics import libm
assert not libm.IS_WIDE

def run(op, element, values, **options):
    t = f"tensor<{len(values)}x{element}>"
    text = f'func.func @main(%x: {t}) -> {t} {{ %r = "{op}"(%x) : ({t}) -> {t} return %r : {t} }}'
    return sr.load(text).run(numpy.array(values), **options)[0]

found = []
for reproducible in (False, True):
    results = {op: run(op, "f64", REAL, reproducible=reproducible).tolist() for op in OPS}
    z = run("stablehlo.tanh", "complex<f64>", [complex(x, 2 * x) for x in REAL], reproducible=reproducible)
    results["tanh"] = [part for x in z.tolist() for part in (x.real, x.imag)]
    found.append(results)
print(json.dumps(found))
"""
REAL = [0.1, 0.7, 0.99, -0.3, 1e-9]
FUNCTIONS = {"chlo.lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))), "chlo.erfc": mpmath.erfc,
             "chlo.atanh": mpmath.atanh, "chlo.digamma": mpmath.digamma}  # fmt: skip


def test_functions_without_wide_long_doubles() -> None:
    """By default they are within 4 ULP, in the reproducible mode correctly rounded."""
    names = f"OPS, REAL = {list(FUNCTIONS)}, {REAL}\n"
    done = subprocess.run([sys.executable, "-c", names + SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    default, reproducible = json.loads(done.stdout)
    with mpmath.workprec(200):
        expected = {op: [float(function(mpmath.mpf(x))) for x in REAL] for op, function in FUNCTIONS.items()}
        tanh = [mpmath.tanh(mpmath.mpc(x, 2 * x)) for x in REAL]
    expected["tanh"] = [float(part) for z in tanh for part in (z.real, z.imag)]
    assert reproducible == expected
    for op, results in default.items():
        np.testing.assert_array_max_ulp(np.array(results), np.array(expected[op]), 4)
