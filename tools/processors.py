"""Run the tests of layouts, products and reproducible results as on other processors.

    python tools/processors.py                     # all of PROCESSORS
    python tools/processors.py --only AVX2 SSE2    # some of them

OpenBLAS and numpy choose their functions by the processor. Each entry of PROCESSORS makes them choose those for one:
an environment, which `.ci/run` would otherwise take from the machine that it runs on. Entries that need AVX-512 are
skipped on a machine without it. TESTS take half a minute of CPU time for each entry.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HAS_AVX512 = (
    "import numpy; found = numpy.show_config(mode='dicts')['SIMD Extensions']['found']; print('X86_V4' in found)"
)
NO_AVX512 = "X86_V4 AVX512_ICL AVX512_SPR"
PROCESSORS = {
    "SSE2": {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": f"{NO_AVX512} X86_V3"},
    "AVX2": {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": NO_AVX512},
    "AVX2 of AMD": {"OPENBLAS_CORETYPE": "Zen", "NPY_DISABLE_CPU_FEATURES": NO_AVX512},
    "AVX-512": {"OPENBLAS_CORETYPE": "SkylakeX"},
}
NEED_AVX512 = ("AVX-512",)
OWN = ("OPENBLAS_", "NPY_")  # variables that choose functions begin with these
TESTS = [
    "spec_checks/test_layouts.py", "spec_checks/test_dot_general.py", "spec_checks/test_convolution.py",
    "spec_checks/test_correct_rounding.py", "spec_checks/test_near_ties.py",
    "tests/numerics/test_exact_products.py", "tests/numerics/test_wide_products.py",
    "tests/numerics/test_reproducible_factorizations.py",
]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PROCESSORS, default=list(PROCESSORS), metavar="NAME")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(OWN)}
    asked = subprocess.run([sys.executable, "-c", HAS_AVX512], env=environment, stdout=subprocess.PIPE, check=True)
    failed = []
    for name in parser.parse_args().only:
        if name in NEED_AVX512 and asked.stdout.strip() != b"True":
            print(f"-- {name}: skipped, because this machine has no AVX-512", flush=True)
            continue
        print(f"-- {name}: {' '.join(f'{k}={v!r}' for k, v in PROCESSORS[name].items())}", flush=True)
        command = [sys.executable, "-m", "pytest", "-q", *TESTS]
        if subprocess.run(command, env=environment | PROCESSORS[name], cwd=ROOT).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
