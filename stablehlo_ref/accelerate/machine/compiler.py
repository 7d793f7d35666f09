"""Compile LLVM's assembly language to machine code, by llvmlite, and run it, with functions of Python that it calls.

llvmlite, numba's interface to LLVM, is an optional extra.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from stablehlo_ref.accelerate.ir import NotCompiled
from stablehlo_ref.accelerate.machine.functions import settle
from stablehlo_ref.ir.arrays import Array

SWITCH = "STABLEHLO_REF_JIT"  # an environment variable: with 0, nothing is compiled; with "strict", faults are raised
RENEW = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
RUN = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
Answer = Callable[[int], int]

STOP = -1


@cache
def is_available() -> bool:
    """Return whether code can be compiled: llvmlite is installed, and the processor and the system are known."""
    known = sys.platform in ("linux", "darwin") and sys.maxsize > 1 << 32 and sys.byteorder == "little"
    return known and os.environ.get(SWITCH, "1") != "0" and find_spec("llvmlite") is not None


def reason_of(error: Exception) -> str:
    """Return why there is no code, so that the plan goes on; in strict mode raise what is a fault of the compiler."""
    if isinstance(error, NotCompiled):
        return str(error)
    if os.environ.get(SWITCH) == "strict":
        raise error
    return f"{type(error).__name__}: {error}"  # of any version of llvmlite


@cache
def _llvm() -> Any:
    """Import llvmlite, which is not done before something is hot."""
    try:
        from llvmlite import binding

        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        features = binding.get_host_cpu_features()
        is_arm = binding.get_default_triple().startswith(("aarch64", "arm64"))
    except (ImportError, OSError, RuntimeError) as error:
        raise NotCompiled(f"llvmlite: {error}") from error
    if not is_arm and not (features.get("sse4.1") and features.get("f16c")):  # LLVM would call functions of libm
        raise NotCompiled("the processor cannot round to integers, or convert f16")
    return binding


def address(x: Array) -> int:
    """Return the address of an array of numbers of numpy's own.

    The buffer of an array that is no view takes a third of the time of its `__array_interface__`.
    """
    if x.base is None and x.flags.c_contiguous and x.flags.writeable and x.size and x.dtype.isbuiltin == 1:
        return ctypes.addressof(ctypes.c_char.from_buffer(x))  # type: ignore[arg-type]
    found: int = x.__array_interface__["data"][0]
    return found


def words_of(arrays: Sequence[Array]) -> Array:
    """Return the words that code gets: the number of iterations that are left, here 0, and the addresses of arrays."""
    return np.array([0, *map(address, arrays)], np.int64)


class Compiled(NamedTuple):
    """A function in machine code, `run(words, renew, turns)`."""

    text: str
    engine: Any  # which owns the code
    run: Callable[[int, Any, int], int]


@lru_cache(maxsize=256)
def compiled(text: str) -> Compiled:
    """Return the machine code of a text; loops and chains with the same text, such as layers of a model, share it.

    Raises NotCompiled if the processor does not have its instructions.
    """
    engine = _engine(text)
    return Compiled(text, engine, RUN(engine.get_function_address("run")))


def _engine(text: str) -> Any:
    llvm = _llvm()
    module = llvm.parse_assembly(text)
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2, jit=True
    )
    # LLVM does not contract or reorder operations on floats whose instructions do not allow it.
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


class Callback:
    """A Python function that machine code calls: not again after its first error, which `run` raises.

    An error must not pass machine code, which would go on as if the call had returned 0.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._start()

    def _start(self) -> None:
        self._errors: list[BaseException] = []
        answers = _answers(self._answer, self._errors)
        next(answers)
        self._function = RENEW(answers.send)
        self._pointer = ctypes.cast(self._function, ctypes.c_void_p).value  # converting a function takes longer

    def run(self, code: Compiled, words: int, turns: int = 0) -> None:
        """Run machine code that may call the function."""
        code.run(words, self._pointer, turns)
        if self._errors:
            error = self._errors[0]
            self._start()  # as a second interrupt may have ended the generator
            raise error


def _answers(answer: Answer, errors: list[BaseException]) -> Generator[int, int, None]:
    """Yield the answer to each number that is sent, and STOP once there are errors, to which the first is added.

    A signal may raise KeyboardInterrupt at any time, also between two calls of `answer`. As `yield` is inside of `try`,
    an interrupt while the generator resumes is caught as well; as `try` is inside of a loop, so is one after that.
    """
    result = 0
    while True:
        try:
            while True:
                asked = yield result
                result = STOP if errors else answer(asked)
        except GeneratorExit:
            return
        except BaseException as error:
            errors.append(error)
            result = STOP


_OF_THREAD = threading.local()


def run_code(code: Compiled, words: int, count: int) -> None:
    """Run machine code on so many rows; it calls Python for nothing but results of functions that are in doubt."""
    if not hasattr(_OF_THREAD, "callback"):
        _OF_THREAD.callback = Callback(settle)
    _OF_THREAD.callback.run(code, words, count)
