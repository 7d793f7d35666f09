"""The compilers: XLA, PJRT plug-ins and StableHLO's C++ interpreter through jaxlib, and IREE."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from stablehlo_ref.arrays.interop import require
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import Source
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import element_type_of, numpy_dtype
from stablehlo_ref.reading.loading import load
from stablehlo_ref.syntax.parser import parse_attribute

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
CPUS = 4  # devices of the CPU, for programs of several processes
_LEGALIZE = "builtin.module(func.func(chlo-legalize-to-stablehlo))"


def versions_of(*packages: str) -> dict[str, str]:
    """Return the versions of installed packages."""
    return {package: version(package) for package in packages}


class Xla:
    """Compiles and runs programs on the first device of a platform."""

    def __init__(self, platform: str) -> None:
        self._jax = require("jax")
        self._jax.config.update("jax_enable_x64", True)
        with suppress(RuntimeError):  # it is too late in a process that uses jax
            self._jax.config.update("jax_num_cpu_devices", CPUS)
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

    def run_parallel(self, program: str, inputs_per_process: Sequence[Sequence[Any]], grid: Grid) -> list[Any]:
        devices = self._client.local_devices()[: grid.count]
        if grid.num_partitions > 1 or len(devices) < grid.count:
            raise NotImplementedError(f"{len(devices)} devices run replicas only, not {grid}")
        internal = require("jax._src.lib").xla_client
        options = internal.CompileOptions()
        options.num_replicas = options.executable_build_options.num_replicas = grid.num_replicas
        options.device_assignment = internal.DeviceAssignment.create(np.arange(grid.count)[:, None])
        executable = self._client.compile_and_load(program, devices, options)
        sharding = require("jax.sharding")
        everywhere = sharding.NamedSharding(sharding.Mesh(np.array(devices), ("p",)), sharding.PartitionSpec())
        arguments = [
            self._jax.make_array_from_single_device_arrays(
                np.shape(arrays[0]), everywhere, [self._jax.device_put(a, d) for a, d in zip(arrays, devices)]
            )
            for arrays in zip(*inputs_per_process)
        ]
        outputs = executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
        return [[np.asarray(output[i]) for output in outputs] for i in range(grid.count)]

    def _executable(self, program: str, setting: tuple[str, Any] | None) -> Any:
        """Return the compiled program; only the last is kept."""
        if (program, setting) not in self._compiled:
            options = require("jax._src.lib").xla_client.CompileOptions()
            if setting is not None:
                option, value = setting
                options.env_option_overrides = [(option, ",".join(value) if isinstance(value, tuple) else value)]
            self._compiled = {(program, setting): self._client.compile_and_load(program, [self._device], options)}
        return self._compiled[program, setting]


def plugin(argument: str) -> Xla:
    """Return the backend of a plug-in's shared library."""
    if not Path(argument).is_file():
        raise FileNotFoundError(f"no such PJRT plug-in: {argument!r}")
    require("jax._src.xla_bridge").register_plugin("stablehlo_ref_plugin", library_path=str(Path(argument).resolve()))
    return Xla("stablehlo_ref_plugin")


class Cpp:
    """Runs programs with `stablehlo.eval_module`, which aborts the process on what it does not support."""

    name = "cpp"

    def __init__(self) -> None:
        self.versions = versions_of("jaxlib")
        self._ir: Any = require("jaxlib.mlir.ir")
        self._passes: Any = require("jaxlib.mlir.passmanager")
        self._stablehlo: Any = require("jaxlib.mlir.dialects.stablehlo")
        self._stablehlo.register_stablehlo_passes()
        self._context = require("jax._src.interpreters.mlir").make_ir_context()

    def run(self, program: str, inputs: Sequence[Any]) -> list[Any]:
        outputs = [p.type for p in load(program).outputs]
        with self._context, self._ir.Location.unknown():
            module = self._ir.Module.parse(program)
            if "chlo." in program:  # which it does not support
                self._passes.PassManager.parse(_LEGALIZE).run(module.operation)
            found = self._stablehlo.eval_module(module, [self._attribute(array) for array in inputs])
            types = [t for t in outputs if isinstance(t, TensorType)]
            return [_array(a, numpy_dtype(t.element_type), t.shape) for a, t in zip(found, types, strict=True)]

    def _attribute(self, array: Any) -> Any:
        array = np.asarray(array, order="C")  # not ascontiguousarray, which gives scalars a dimension
        if array.dtype.isbuiltin == 1 and array.dtype.kind in "fiub":
            return self._ir.DenseElementsAttr.get(array)
        shape = "".join(f"{n}x" for n in array.shape)
        digits = f'"0x{array.tobytes().hex()}"' if array.size else ""
        return self._ir.Attribute.parse(f"dense<{digits}> : tensor<{shape}{element_type_of(array.dtype)}>")


def _array(attribute: Any, dtype: Any, shape: Any) -> Any:
    """Return the array of a dense attribute; of complex numbers and of types that numpy lacks, by its text."""
    if dtype.isbuiltin == 1 and dtype.kind != "c":
        return np.array(attribute).astype(dtype, copy=False).reshape(shape)
    parsed: Any = parse_attribute(Source(str(attribute), "result"))
    return np.array(parsed.array).reshape(shape)


def cpp(argument: str) -> Cpp:
    """Return the backend `cpp`; ValueError for an argument."""
    if argument:
        raise ValueError(f"the backend `cpp` takes no argument, got {argument!r}")
    return Cpp()


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
