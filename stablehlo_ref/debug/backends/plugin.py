"""`pjrt:PLUGIN.so`: a PJRT plug-in, registered with jax for this run."""

from __future__ import annotations

from pathlib import Path

from stablehlo_ref.arrays.interop import require
from stablehlo_ref.debug.backends.xla import Xla


def backend(argument: str) -> Xla:
    """Return the backend of a plug-in's shared library."""
    if not Path(argument).is_file():
        raise FileNotFoundError(f"no such PJRT plug-in: {argument!r}")
    require("jax._src.xla_bridge").register_plugin("stablehlo_ref_plugin", library_path=str(Path(argument).resolve()))
    return Xla("stablehlo_ref_plugin")
