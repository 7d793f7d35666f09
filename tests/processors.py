"""Modules as they are on other processors."""

from __future__ import annotations

from importlib.util import find_spec, module_from_spec
from types import ModuleType
from unittest import mock

import numpy as np

from stablehlo_ref.numerics import elementary


def elementary_elsewhere() -> ModuleType:
    """Return the module `elementary` of other processors: with AVX-512 if this one lacks it, else without.

    With AVX-512, sine and cosine are computed from the tangent.
    """
    spec = find_spec(elementary.__name__)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    found = [] if elementary._IS_VECTORIZED else ["X86_V4"]
    with mock.patch.object(np, "show_config", lambda mode: {"SIMD Extensions": {"found": found}}):
        spec.loader.exec_module(module)
    assert module._IS_VECTORIZED != elementary._IS_VECTORIZED
    return module


ELEMENTARY = {"this processor": elementary, "another processor": elementary_elsewhere()}
