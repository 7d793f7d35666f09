"""Imports every module that defines ops; importing this one makes all of them known to the parser."""

from importlib import import_module
from pkgutil import iter_modules

import stablehlo_ref.dialects
import stablehlo_ref.ops

for package in (stablehlo_ref.ops, stablehlo_ref.dialects):
    for module in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
