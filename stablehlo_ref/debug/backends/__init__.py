"""Backends that `diff` and `reduce` compare the interpreter with, each in a process of its own."""

from __future__ import annotations

import importlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import entry_points, version
from itertools import dropwhile
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from stablehlo_ref.arrays.files import read_npz
from stablehlo_ref.arrays.host_values import as_numpy_loads, as_numpy_saves
from stablehlo_ref.arrays.interop import require
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import EvaluationError, Source
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import element_type_of, numpy_dtype
from stablehlo_ref.reading.loading import load
from stablehlo_ref.syntax.parser import parse_attribute

ENTRY_POINTS = "stablehlo_ref.backends"


@runtime_checkable
class Backend(Protocol):
    """Runs programs. An object of this kind lives in a process of its own, and may crash or hang there.

    `switches` maps descriptions of settings that turn parts of the backend off, such as `optimization level 0`, to
    values that the option `setting` of `run` takes; it may be left out. If a value is a list, such as names of passes,
    `run` takes the description and a list of some of them, and `diff` looks for the fewest. `versions`, which may
    be left out too, maps names of packages or devices to their versions. `run` raises any exception to refuse a
    program.
    """

    name: str

    def run(self, program: str, inputs: Sequence[np.ndarray[Any, Any]]) -> Sequence[np.ndarray[Any, Any]]:
        """Return the results of the entry of `program`, MLIR text, as arrays of the types of its outputs."""
        ...


@runtime_checkable
class Parallel(Protocol):
    """A backend that runs a program in several processes, each of which has inputs and results of its own."""

    def run_parallel(self, program: str, inputs_per_process: Sequence[Sequence[Any]], grid: Grid) -> list[Any]:
        """Return the results of each process of a grid, in row-major order of (replica id, partition id)."""
        ...


def open_backend(description: str) -> Backend:
    """Return the backend `name` or `name:argument`; ValueError for an unknown name.

    Packages add backends by entry points of the group `stablehlo_ref.backends`: functions from the argument to a
    `Backend`. Optional packages are imported here, in the backend's process.
    """
    name, _, argument = description.partition(":")
    if description.endswith(".npz"):
        return Dump(description)
    if name in _FACTORIES:
        return _FACTORIES[name](argument)
    for entry in entry_points(group=ENTRY_POINTS):
        if entry.name == name:
            return entry.load()(argument)  # type: ignore[no-any-return]
    raise ValueError(f"unknown backend {description!r}; expected {', '.join(DESCRIPTIONS)}")


# --- compilers: XLA, PJRT plug-ins and StableHLO's C++ interpreter through jaxlib, and IREE --------------------------


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

    def __init__(self, argument: str) -> None:
        if argument:
            raise ValueError(f"the backend `cpp` takes no argument, got {argument!r}")
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
            shapes = [self._ir.ShapedType(attribute.type).shape for attribute in found]  # also of unknown dimensions
            return [_array(a, numpy_dtype(t.element_type), s) for a, t, s in zip(found, types, shapes, strict=True)]

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


_IREE_DRIVERS = {"llvm-cpu": "local-task", "vmvx": "local-task", "vulkan-spirv": "vulkan", "rocm": "hip"}  # by targets


class Iree:
    """Compiles programs with iree-base-compiler and runs them with iree-base-runtime."""

    def __init__(self, target: str) -> None:
        self._compiler = require("iree.compiler")
        self._runtime = require("iree.runtime")
        self._target = target or "llvm-cpu"
        self._config = self._runtime.Config(_IREE_DRIVERS.get(self._target, self._target))
        self._compiled: dict[str, Any] = {}
        self.versions = versions_of("iree-base-compiler", "iree-base-runtime")
        self.name = f"iree:{self._target}"

    def run(self, program: str, inputs: Sequence[Any]) -> list[Any]:
        if program not in self._compiled:
            self._compiled = {
                program: self._runtime.VmModule.copy_buffer(self._config.vm_instance, self._code(program))
            }
        module = self._runtime.load_vm_module(self._compiled[program], self._config)
        found = module.main(*inputs)
        return [np.asarray(result) for result in (found if isinstance(found, tuple | list) else [found])]

    def _code(self, program: str) -> bytes:
        """Return what the compiler makes of a program; this process ends by the signal that the compiler's ends by."""
        options = ["--iree-llvmcpu-target-cpu=generic"]  # the default, without a warning
        try:
            return self._compiler.compile_str(  # type: ignore[no-any-return]
                program, target_backends=[self._target], input_type="stablehlo", extra_args=options
            )
        except self._compiler.CompilerToolError as error:
            message = re.search(r"Error code: (-?\d+)\nDiagnostics:\n(.*?)\n\nInvoked with:", str(error), re.DOTALL)
            if message is None:
                raise
            if int(message[1]) < 0:
                print(message[2], file=sys.stderr, flush=True)
                signal.raise_signal(-int(message[1]))
            lines = list(dropwhile(lambda line: "error:" not in line, message[2].splitlines()))  # without warnings
            raise RuntimeError("\n".join(lines) or message[2]) from None


# --- without a compiler: commands, Python functions, saved results, and this interpreter -----------------------------


# by their marks in a command
FILES = {"{program}": "program.mlir", "{inputs}": "inputs.npz", "{outputs}": "outputs.npz"}


def save_arrays(path: Path, arrays: Sequence[Array]) -> None:
    """Write arrays as `arr_0`, `arr_1`, ..."""
    np.savez(path, *(as_numpy_saves(np.asarray(array)) for array in arrays))


def load_arrays(path: Path, parameters: Sequence[Parameter]) -> list[Array]:
    """Return an array for each parameter, by name or as `arr_0`, `arr_1`, ...; EvaluationError if one is missing."""
    arrays, found = read_npz(path), []
    for index, parameter in enumerate(parameters):
        names = (parameter.name, *parameter.names, f"arr_{index}", f"{parameter.name}_{index}")
        name = next((name for name in names if name in arrays), None)
        if name is None:
            raise EvaluationError(f"{path} has no array {parameter.name!r} or 'arr_{index}'")
        type, array = parameter.type, arrays[name]
        found.append(as_numpy_loads(array, numpy_dtype(type.element_type)) if isinstance(type, TensorType) else array)
    return found


class CommandBackend:
    """Runs a command for each program; ValueError if it does not name its files.

    `{program}` is a file of MLIR text, `{inputs}` and `{outputs}` are `.npz` files with members `arr_0`, `arr_1`, ...,
    in which types that numpy lacks are saved as unsigned integers of their size.
    """

    def __init__(self, command: str) -> None:
        self._words = shlex.split(command)
        if not self._words or any(not any(mark in word for word in self._words) for mark in FILES):
            raise ValueError(f"expected a command with {', '.join(FILES)}, got {command!r}")
        self.name = self._words[0]

    def run(self, program: str, inputs: Sequence[Any]) -> list[Any]:
        with command_files(self._words, program, inputs) as (words, folder):
            done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
            if done.returncode:
                raise RuntimeError(f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-600:]}")
            return load_arrays(folder / FILES["{outputs}"], load(program).outputs)


@contextmanager
def command_files(words: Sequence[str], program: str, inputs: Sequence[Array]) -> Iterator[tuple[list[str], Path]]:
    """Write a program and its inputs to a folder for a while; yield the words of a command with their names in them."""
    with tempfile.TemporaryDirectory(prefix="stablehlo-ref-") as name:
        folder = Path(name)
        (folder / FILES["{program}"]).write_text(program, encoding="utf-8")
        save_arrays(folder / FILES["{inputs}"], inputs)
        marks = re.compile("|".join(map(re.escape, FILES)))
        yield [marks.sub(lambda match: str(folder / FILES[match[0]]), word) for word in words], folder


class Dump:
    """Returns what the file has for the first program, and refuses others, such as those with intermediate values."""

    def __init__(self, path: str) -> None:
        if not Path(path).is_file():
            raise ValueError(f"cannot read {path}: no such file")
        self.name = path
        self._program: str | None = None

    def run(self, program: str, inputs: Sequence[Any]) -> list[Any]:
        self._program = self._program or program
        if program != self._program:
            raise NotImplementedError("saved results have no intermediate values")
        return load_arrays(Path(self.name), load(program).outputs)


class PythonFunction:
    """Calls `MODULE:FUNCTION` with the text of a program and a list of arrays, which returns a sequence of arrays."""

    def __init__(self, name: str) -> None:
        module, _, function = name.partition(":")
        self.run: Any = getattr(importlib.import_module(module), function, None) if module and function else None
        if not callable(self.run):
            raise ValueError(f"expected python:MODULE:FUNCTION, got 'python:{name}'")
        self.name = name
        self.switches = getattr(self.run, "switches", {})
        self.run_parallel = getattr(self.run, "run_parallel", None)


class Itself:
    """Runs programs with this interpreter."""

    def __init__(self, name: str) -> None:
        self.name = name or "self"

    def run(self, program: str, inputs: Sequence[Any]) -> Sequence[Any]:
        return load(program).run(*inputs)

    def run_parallel(self, program: str, inputs_per_process: Sequence[Sequence[Any]], grid: Grid) -> list[Any]:
        replicas, partitions = grid.num_replicas, grid.num_partitions
        return load(program).run_parallel(inputs_per_process, num_replicas=replicas, num_partitions=partitions)


_FACTORIES: Mapping[str, Callable[[str], Backend]] = {
    "jax": Xla, "pjrt": plugin, "cpp": Cpp, "iree": Iree,
    "cmd": CommandBackend, "python": PythonFunction, "self": Itself,
}  # fmt: skip
DESCRIPTIONS: Mapping[str, str] = {
    "jax[:PLATFORM]": "XLA through jax",
    "pjrt:PLUGIN.so": "a PJRT plug-in through jax",
    "cpp": "StableHLO's own interpreter, through jaxlib",
    "iree[:TARGET]": "IREE's compiler and runtime",
    "cmd:'TOOL {program} {inputs} {outputs}'": "a command that writes its results to an .npz file",
    "python:MODULE:FUNCTION": "a function of the program's text and arrays that returns arrays",
    "OUTPUTS.npz": "results that were saved: they are compared, and nothing can be located",
    "self": "this interpreter",
}
