"""Deep programs in threads with small stacks, and near Python's recursion limit: a result or an error, no crash."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

import stablehlo_ref as sr
from stablehlo_ref.limits.stack import OWN, on_enough_stack, stack_size

DEEP = """
import copy, pickle, sys, threading
import numpy as np
import stablehlo_ref as sr

N = 50
NAMED = '"a"('
IF = '"stablehlo.if"(%t) ({{\\n {} }}, {{ stablehlo.return %x : tensor<f32> }}) : (tensor<i1>) -> tensor<f32>\\n'
body = "%y = stablehlo.sine %x : tensor<f32>\\n stablehlo.return %y : tensor<f32>"
for i in range(N):
    body = f"%r{i} = {IF.format(body)} stablehlo.return %r{i} : tensor<f32>"
regions = "%t = stablehlo.constant dense<true> : tensor<i1>\\n" + body.replace("stablehlo.return %r49", "return %r49")
head = "func.func @main(%x: tensor<f32>) -> tensor<f32>"
programs = [
    f"{head} {{\\n{regions}\\n}}\\n",
    f"{head} attributes {{a.b = {'[' * N}1{']' * N}}} {{\\n return %x : tensor<f32>\\n}}\\n",
    f"{head} attributes {{a.b = {'tuple<' * N}f32{'>' * N}}} {{\\n return %x : tensor<f32>\\n}}\\n",
    f"{head} {{\\n return %x : tensor<f32> loc({NAMED * N}unknown{')' * N})\\n}}\\n",
]

def work():
    for text in programs:
        program = sr.load(text)
        loaded = sr.load(program.serialize())
        pickled = pickle.loads(pickle.dumps(program))
        for same in (program, loaded, pickled, copy.deepcopy(program), program.transform("canonicalize")):
            assert str(same).count("\\n") == str(program).count("\\n")
            same.run(np.float32(1))
    print("done")

threading.stack_size((64 if sys.version_info < (3, 14) else 96) * 1024)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems allow no stacks of 64 KB")
def test_deep_programs_in_a_thread_with_a_small_stack() -> None:
    ran = subprocess.run([sys.executable, "-c", DEEP], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "done\n"), ran.stderr


TINY = """
import os, threading
from stablehlo_ref import UnsupportedError, parse

def work():
    try:
        parse("func.func @main() {\\n return\\n}\\n")
    except UnsupportedError as error:
        os.write(1, str(error).encode())
    os._exit(0)  # as Python may crash at its end

threading.stack_size(64 * 1024)
threading.Thread(target=work).start()
"""


@pytest.mark.skipif(sys.platform != "linux" or sys.version_info < (3, 14), reason="other versions free objects there")
def test_stacks_in_which_python_frees_no_objects_are_refused() -> None:
    ran = subprocess.run([sys.executable, "-c", TINY], capture_output=True, text=True, check=False)
    assert "expected at least 98304 bytes, got 65536" in ran.stdout, ran.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="other systems round sizes")
def test_stack_size() -> None:
    sizes: list[int | None] = []
    before = threading.stack_size(1 << 18)
    try:
        thread = threading.Thread(target=lambda: sizes.append(stack_size()))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert sizes == [1 << 18]


def _deepest(depth: int) -> str:
    """Load a program as deep in the stack as Python allows, up to `depth` frames."""
    if depth:
        return _deepest(depth - 1)
    program = sr.load("func.func @main(%x: tensor<f32>) -> tensor<f32> {\n return %x : tensor<f32>\n}\n")
    return str(program.plan().transform("canonicalize"))


def test_a_caller_deep_in_the_stack() -> None:
    _deepest(0)  # imports what is imported when it is needed
    room = sys.getrecursionlimit() - len(_frames()) - 40
    assert "return %x" in _deepest(room)


def _frames() -> list[object]:
    frame, frames = sys._getframe(), []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back  # type: ignore[assignment]
    return frames


def test_a_run_near_the_recursion_limit_is_an_error() -> None:
    chain = "".join(
        f"func.func private @f{i}(%x: tensor<f32>) -> tensor<f32> {{\n"
        f" %0 = call @f{i + 1}(%x) {{no_inline}} : (tensor<f32>) -> tensor<f32>\n return %0 : tensor<f32>\n}}\n"
        for i in range(100)
    )
    last = "func.func private @f100(%x: tensor<f32>) -> tensor<f32> {\n return %x : tensor<f32>\n}\n"
    program = sr.load(chain + last, entry="f0").plan()

    def run(depth: int) -> None:
        if depth:
            run(depth - 1)
        else:
            program.run(1.0)

    with pytest.raises(sr.EvaluationError, match="nested too deeply"):
        run(sys.getrecursionlimit() - len(_frames()) - 150)


def test_errors_and_results_cross_threads() -> None:
    def fail() -> None:
        raise KeyError(threading.current_thread().name)

    frames = sys.getrecursionlimit()  # more than are left
    with pytest.raises(KeyError, match="stablehlo_ref"):
        on_enough_stack(None, frames, fail)
    assert on_enough_stack(None, frames, stack_size) in (OWN, None)
