"""The number of threads of BLAS: chosen by the work and the CPUs, or by the option `threads`."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.define.context import Context
from stablehlo_ref.execute import threads
from stablehlo_ref.execute.threads import bundled_blas

PRODUCT = """
func.func @main(%x: tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32> {{
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
    : (tensor<{n}x{n}xf32>, tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
  %1 = stablehlo.custom_call @look(%0) : (tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
  return %1 : tensor<{n}x{n}xf32>
}}
"""


class Library:
    """A BLAS with eight threads."""

    user_api = "blas"
    num_threads = 8

    def set_num_threads(self, num_threads: int) -> None:
        self.num_threads = num_threads


@pytest.fixture
def blas(monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """A machine of four CPUs with threadpoolctl and one BLAS."""
    library = Library()
    monkeypatch.setattr(threads, "_libraries", lambda with_scipy: [library])
    monkeypatch.setattr(threads, "_is_automatic", lambda: True)
    monkeypatch.setattr(threads, "usable_cpus", lambda: 4)
    yield library
    assert library.num_threads == 8, "the number before the run must be restored"


def used(blas: Library, n: int, **options: Any) -> int:
    """Return the number of threads while a program with a product of n by n matrices runs."""
    seen = []

    def look(call: object, x: object) -> list[object]:
        seen.append(blas.num_threads)
        return [x]

    program = sr.parse(PRODUCT.format(n=n))
    program.run(np.ones((n, n), np.float32), custom_calls={"look": look}, **options)
    return seen[0]


def test_large_products_use_all_cpus(blas: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    assert used(blas, 512) == 1
    monkeypatch.setattr(threads, "LARGE", 512**3)
    assert used(blas, 512) == 4


def test_products_that_blas_does_not_split_leave_threads_as_they_are(blas: Library) -> None:
    assert used(blas, 16) == 8


def test_small_products_use_one_thread(blas: Library) -> None:
    assert used(blas, 32) == 1


def test_the_option_decides(blas: Library) -> None:
    assert used(blas, 16, threads=3) == 3
    assert used(blas, 512, threads=1) == 1


def test_a_variable_of_the_environment_leaves_the_choice_to_blas(
    blas: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    threads._is_automatic.cache_clear()
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "8")
    assert threads.automatic(threads.LARGE) is None
    threads._is_automatic.cache_clear()


def test_runs_inside_a_run_restore_its_number(blas: Library) -> None:
    with threads.blas_threads(2, 0):
        with threads.blas_threads(3, 0), threads.blas_threads(2, 0):
            assert blas.num_threads == 2
        assert blas.num_threads == 2


def test_runs_that_overlap_leave_the_number_of_the_last(blas: Library) -> None:
    first, second = threads.blas_threads(2, 0), threads.blas_threads(3, 0)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas.num_threads == 3
    second.__exit__(None, None, None)


def test_programs_without_products_leave_blas_alone(blas: Library) -> None:
    program = sr.parse("func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }")
    program.run(np.float32(1))
    assert threads.automatic(0) is None


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<80x80xf32>, tensor<80x80xf32>) -> "
         "tensor<80x80xf32>", 80**3),
        ("stablehlo.cholesky %x : tensor<80x80xf32>", 80**3),
        ("stablehlo.add %x, %x : tensor<80x80xf32>", 0),
        ("stablehlo.cholesky %s : tensor<4x4xf32>", 0),
        ("stablehlo.cholesky %m : tensor<40x40xf32>", 1),
        ("stablehlo.dot %x, %d : (tensor<80x80xf32>, tensor<80x?xf32>) -> tensor<80x?xf32>", 1),
    ],
)  # fmt: skip
def test_product_size(op: str, expected: float) -> None:
    arguments = "%x: tensor<80x80xf32>, %m: tensor<40x40xf32>, %s: tensor<4x4xf32>, %d: tensor<80x?xf32>"
    text = f"func.func @main({arguments}) {{ %0 = {op} return }}"
    assert threads.product_size([sr.parse(text).module.walk()]) == expected


def test_the_size_is_the_mean_of_products_that_are_split() -> None:
    products = [f"stablehlo.cholesky %x{n} : tensor<{n}x{n}xf32>" for n in (8, 100, 200)]
    arguments = ", ".join(f"%x{n}: tensor<{n}x{n}xf32>" for n in (8, 100, 200))
    ops = "\n".join(f"%{number} = {op}" for number, op in enumerate(products))
    module = sr.parse(f"func.func @main({arguments}) {{ {ops} return }}").module
    assert threads.product_size([module.walk()]) == (100**3 + 200**3) / 2


def test_some_cpu_is_usable() -> None:
    assert 1 <= threads.usable_cpus()


@pytest.fixture
def without_threadpoolctl(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An environment in which threadpoolctl is not installed."""
    find_spec = importlib.util.find_spec
    missing = ("threadpoolctl",)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in missing else find_spec(name))
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    threads._libraries.cache_clear()
    yield
    threads._libraries.cache_clear()


@pytest.mark.usefixtures("without_threadpoolctl")
def test_threads_of_an_unknown_blas(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(threads, "bundled_blas", lambda packages: [])
    message = r"threadpoolctl is not installed; run: pip install 'threadpoolctl>=3' \(the extra `threads`\)"
    program = sr.parse("func.func @main() -> tensor<f32> { %0 = stablehlo.constant dense<1.0> : tensor<f32> "
                       "return %0 : tensor<f32> }")  # fmt: skip
    with pytest.raises(ImportError, match=message):
        program.run(threads=2)
    with pytest.raises(SystemExit):
        main(["run", "--threads", "0", "x.mlir"])
    assert "--threads" in capsys.readouterr().err


@pytest.mark.parametrize("number", [0, -1, (1 << 16) + 1, 10**30])
def test_threads_must_be_in_range(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    program = sr.parse("func.func @main() { return }")
    with pytest.raises(ValueError, match=f"threads must be between 1 and 65536, got {number}"):
        program.run(threads=number)
    with pytest.raises(SystemExit):
        main(["run", f"--threads={number}", "x.mlir"])
    assert f"expected a number from 1 to 65536, got '{number}'" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["2", 2.0, True])
def test_threads_must_be_a_number(number: Any) -> None:
    with pytest.raises(TypeError, match=f"threads must be a number of threads, got {number!r}"):
        sr.parse("func.func @main() { return }").run(threads=number)


def test_numbers_of_numpy_become_numbers_of_python(blas: Library) -> None:
    assert used(blas, 16, threads=np.int64(2)) == 2
    with threads.blas_threads(Context(threads=np.int64(2)).threads, 0):
        assert type(blas.num_threads) is int


def test_the_number_is_restored_after_blas_refused_one(blas: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(count: int) -> None:
        blas.num_threads = count
        if count == 3:
            raise OSError("no threads are left")

    monkeypatch.setattr(blas, "set_num_threads", refuse)
    for number, message in ((3, "no threads are left"), (2, "inside")):
        with pytest.raises(OSError, match=message), threads.blas_threads(number, 0):
            raise OSError("inside")
        assert blas.num_threads == 8


def test_real_threads() -> None:
    pytest.importorskip("threadpoolctl")
    threads._libraries.cache_clear()
    assert sets_threads()


@pytest.mark.usefixtures("without_threadpoolctl")
def test_the_blas_of_numpys_wheel_needs_no_package() -> None:
    if not bundled_blas(["numpy"]):
        pytest.skip("numpy was not installed from a wheel with OpenBLAS")
    assert sets_threads()


def sets_threads() -> bool:
    """Return whether the number of threads is set for a run, and restored."""
    (library, *_) = threads._libraries(False)
    before = library.num_threads
    with threads.blas_threads(1, 0):
        inside = library.num_threads
    return (inside, library.num_threads) == (1, before)


@pytest.mark.parametrize("package", ["no_such_package", "email"])
def test_packages_without_a_blas(package: str) -> None:
    assert bundled_blas([package]) == []


def test_files_that_are_no_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.libs").mkdir()
    (tmp_path / "mine.libs" / "libopenblas.so").write_text("no library")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert bundled_blas(["mine"]) == []
