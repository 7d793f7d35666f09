"""Optional dependencies, and tensors of other libraries as arrays."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

from stablehlo_ref.diagnostics import ArgumentValueError, MissingPackageError

# PyTorch's element types that numpy lacks, by the integers of their size that both have.
NARROW = {
    "bfloat16": ("int16", ml_dtypes.bfloat16),
    "float8_e4m3fn": ("uint8", ml_dtypes.float8_e4m3fn),
    "float8_e4m3fnuz": ("uint8", ml_dtypes.float8_e4m3fnuz),
    "float8_e5m2": ("uint8", ml_dtypes.float8_e5m2),
    "float8_e5m2fnuz": ("uint8", ml_dtypes.float8_e5m2fnuz),
}

# From a module to the extra of this package that installs it.
EXTRAS = {
    "jax": "jax", "torch": "torch", "torchax": "torch", "safetensors": "safetensors", "zstandard": "zstd",
    "argcomplete": "completion", "pygls": "lsp", "jaxlib": "jax", "iree": "iree",
    "hypothesis": "conform", "jinja2": "report", "threadpoolctl": "threads",
    "distributed": "dask",
}  # fmt: skip


def require(module: str) -> ModuleType:
    """Import an optional dependency; MissingPackageError that says what to install if it is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        hint = how_to_install(EXTRAS[module.partition(".")[0]])
        raise MissingPackageError(f"{module} is not installed; run: {hint}") from error


def how_to_install(extra: str) -> str:
    """Return the command that installs what an extra has.

    It names the packages, since this one may have been installed from a clone as well as from an index. Where it runs
    from a clone without having been installed, the clone is at hand.
    """
    from importlib.metadata import PackageNotFoundError, requires  # not at every start

    try:
        lines = requires("stablehlo-ref") or []
    except PackageNotFoundError:
        lines = []
    names = _packages(extra, lines)
    if not names:
        return f"pip install '.[{extra}]' in the clone of stablehlo-ref"
    return f"pip install {' '.join(map(repr, names))} (the extra `{extra}`)"


def _packages(extra: str, lines: Sequence[str]) -> list[str]:
    """Return what an extra requires, without other extras: instead of these, what they require."""
    found: list[str] = []
    for line in lines:
        name, _, marker = line.partition(";")
        if marker.split() == ["extra", "==", f'"{extra}"']:
            _, is_own, others = name.strip().rstrip("]").partition("stablehlo-ref[")
            found += [p for other in others.split(",") for p in _packages(other, lines)] if is_own else [name.strip()]
    return list(dict.fromkeys(found))


def to_array(value: object) -> Any:
    """Return a tensor as an array that shares its memory where it can; anything else as it is."""
    if not hasattr(value, "detach"):
        return value
    tensor = value.detach().cpu().contiguous()
    name = str(tensor.dtype).removeprefix("torch.")
    if name in NARROW:
        torch = require("torch")
        integers, dtype = NARROW[name]
        return tensor.view(getattr(torch, integers)).numpy().view(dtype)
    return tensor.resolve_conj().resolve_neg().numpy()


def to_arrays(values: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    """Return arrays, and lists of numbers, as arrays; ArgumentValueError for what is none."""
    try:
        return list(map(np.asarray, values))
    except ValueError as error:
        raise ArgumentValueError(f"expected arrays, or lists of numbers: {error}") from None


def to_tensor(value: object) -> Any:
    """Return an array as a tensor that shares its memory; anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    torch = require("torch")
    for name, (integers, dtype) in NARROW.items():
        if value.dtype == dtype:
            return torch.from_numpy(value.view(integers)).view(getattr(torch, name))
    return torch.from_numpy(value)
