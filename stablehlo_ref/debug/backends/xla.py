"""`jax[:PLATFORM]`: XLA through jax, any platform that jax knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stablehlo_ref.arrays.interop import require
from stablehlo_ref.debug.backends.base import versions_of

SWITCHES = {
    "xla_allow_excess_precision=false": ("xla_allow_excess_precision", False),
    "xla_backend_optimization_level=0": ("xla_backend_optimization_level", 0),
    "xla_disable_all_hlo_passes=true": ("xla_disable_all_hlo_passes", True),
    "xla_disable_hlo_passes": [
        "algsimp", "fusion", "cse", "constant_folding", "transpose-folding", "reshape-mover", "reduce-window-rewriter",
        "simplify-fp-conversions", "while-loop-invariant-code-motion", "simplify-while-loops", "simplify-conditional",
        "batch-dot-simplification", "simplify-sorts", "dot-library-rewriter", "onednn-fusion",
    ],
}  # fmt: skip


class Xla:
    """Compiles and runs programs on the first device of a platform."""

    def __init__(self, platform: str) -> None:
        self._jax = require("jax")
        self._jax.config.update("jax_enable_x64", True)
        self._client = require("jax.extend.backend").get_backend(platform or None)
        self._device = self._client.local_devices()[0]
        self.switches = SWITCHES
        self.versions = versions_of("jax", "jaxlib") | {"platform": " ".join(self._client.platform_version.split())}
        self._compiled: dict[tuple[str, Any], Any] = {}
        self.name = f"jax:{self._client.platform}"
        if self._client.platform == "cpu":  # custom calls of LAPACK crash before it is initialised
            require("jaxlib.cpu._lapack").initialize()

    def run(self, program: str, inputs: Sequence[Any], setting: tuple[str, Any] | None = None) -> list[Any]:
        if setting is not None and isinstance(setting[1], list):
            setting = setting[0], tuple(setting[1])
        executable = self._executable(program, setting)
        arguments = [self._jax.device_put(array, self._device) for array in inputs]
        outputs = executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
        return [np.asarray(output[0]) for output in outputs]

    def _executable(self, program: str, setting: tuple[str, Any] | None) -> Any:
        """Return the compiled program; only the last is kept."""
        if (program, setting) not in self._compiled:
            options = require("jax._src.lib").xla_client.CompileOptions()
            if setting is not None:
                option, value = setting
                options.env_option_overrides = [(option, ",".join(value) if isinstance(value, tuple) else value)]
            self._compiled = {(program, setting): self._client.compile_and_load(program, [self._device], options)}
        return self._compiled[program, setting]


def backend(argument: str) -> Xla:
    return Xla(argument)
