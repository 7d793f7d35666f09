"""LLVM's lit on these tests: `lit tests/interpret` (pytest runs the same files in process, see test_interpret.py)."""

import lit.formats

config.name = "stablehlo_ref"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
