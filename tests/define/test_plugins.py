"""Packages that ship op classes of a dialect and handlers of custom calls, found by their entry points."""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.define import plugins
from stablehlo_ref.define.definition import REGISTRY

EXAMPLE = Path(__file__).parents[2] / "examples" / "toy_dialect"
Install = Callable[[str, dict[str, dict[str, str]]], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """A function that makes a package on the path look installed: given its name and entry points by group."""

    def do(name: str, groups: dict[str, dict[str, str]]) -> None:
        info = tmp_path / f"{name}-0.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
        lines = (
            f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()) for group, points in groups.items()
        )
        (info / "entry_points.txt").write_text("\n".join(lines))
        monkeypatch.syspath_prepend(str(tmp_path))
        importlib.invalidate_caches()

    modules, ops = set(sys.modules), set(REGISTRY)
    _forget()
    yield do
    for name in set(sys.modules) - modules:
        del sys.modules[name]
    for name in set(REGISTRY) - ops:
        del REGISTRY[name]
    _forget()


def _lines(points: dict[str, str]) -> list[str]:
    return [f"{name} = {value}" for name, value in points.items()]


def _forget() -> None:
    plugins.load_dialect.cache_clear()
    plugins.find_handler.cache_clear()


@pytest.fixture
def example(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example package, as its pyproject.toml would install it."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    monkeypatch.syspath_prepend(str(EXAMPLE))
    install("toy_dialect", project["entry-points"])


def program(line: str) -> str:
    return f"func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {{\n  {line}\n  return %0 : tensor<2x2xf32>\n}}"


@pytest.mark.usefixtures("example")
def test_example_package() -> None:
    loaded = sr.load(str(EXAMPLE / "program.mlir"))
    loaded.run()
    assert "toy.softsign %x : tensor<2x2xf32>" in str(loaded)
    sr.load(str(loaded)).run()


@pytest.mark.usefixtures("example")
def test_ops_of_a_package_are_verified() -> None:
    with pytest.raises(sr.InvalidError, match=r"'toy.rotate' op \(C2\): 0 <= dimension < rank\(operand\)"):
        sr.load(program("%0 = toy.rotate %x, dim = 2 : tensor<2x2xf32>"))


@pytest.mark.usefixtures("example")
def test_unknown_op_of_a_package() -> None:
    with pytest.raises(sr.MalformedError, match=r"2:8: error: op 'toy\.none' belongs to an unregistered dialect"):
        sr.load(program('%0 = "toy.none"(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>'))


def test_without_the_package() -> None:
    with pytest.raises(sr.MalformedError, match=r"2:8: error: unsupported pretty form of op 'toy\.softsign'"):
        sr.load(program("%0 = toy.softsign %x : tensor<2x2xf32>"))


@pytest.mark.parametrize("value", ["not_there", "json:not_there"])
def test_package_that_cannot_be_imported(install: Install, value: str) -> None:
    install("broken", {plugins.DIALECTS: {"toy": value}, plugins.CUSTOM_CALLS: {"toy.clip": value}})
    with pytest.raises(sr.MalformedError, match=r"2:8: .*'broken' with ops of dialect 'toy' cannot be loaded"):
        sr.load(program('%0 = "toy.softsign"(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>'))
    call = sr.load(program("%0 = stablehlo.custom_call @toy.clip(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>"))
    with pytest.raises(sr.UnsupportedError, match=r"2:8: .*'broken' with the handler of custom_call @toy.clip"):
        call.run(np.zeros((2, 2), np.float32))


def test_handler_that_is_not_callable(install: Install) -> None:
    install("broken", {plugins.CUSTOM_CALLS: {"toy.clip": "json"}})
    call = sr.load(program("%0 = stablehlo.custom_call @toy.clip(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>"))
    with pytest.raises(sr.UnsupportedError, match="which is not callable"):
        call.run(np.zeros((2, 2), np.float32))


@pytest.mark.usefixtures("example")
def test_registered_handler_goes_first() -> None:
    text = program("%0 = stablehlo.custom_call @toy.clip(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>")
    (result,) = sr.load(text).run(np.ones((2, 2), np.float32), custom_calls={"toy.clip": lambda call, x: [-x]})
    assert result.tolist() == [[-1.0, -1.0]] * 2
