"""`iree[:TARGET]`: IREE's compiler and runtime, for its CPU target unless another is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stablehlo_ref.arrays.interop import require
from stablehlo_ref.debug.backends.base import versions_of


class Iree:
    """Compiles programs with iree-base-compiler and runs them with iree-base-runtime."""

    def __init__(self, target: str) -> None:
        self._compiler = require("iree.compiler")
        self._runtime = require("iree.runtime")
        self._target = target or "llvm-cpu"
        self.versions = versions_of("iree-base-compiler", "iree-base-runtime")
        self.name = f"iree:{self._target}"

    def run(self, program: str, inputs: Sequence[Any]) -> list[Any]:
        data = self._compiler.compile_str(program, target_backends=[self._target], input_type="stablehlo")
        driver = "local-task" if self._target == "llvm-cpu" else self._target
        config = self._runtime.Config(driver)
        module = self._runtime.load_vm_module(self._runtime.VmModule.copy_buffer(config.vm_instance, data), config)
        found = module.main(*inputs)
        return [np.asarray(result) for result in (found if isinstance(found, tuple | list) else [found])]


def backend(argument: str) -> Iree:
    return Iree(argument)
