"""The command `stablehlo-interp diff`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from stablehlo_ref.cli.main import main
from tests.debug.programs import LAYER

Capture = pytest.CaptureFixture[str]


def test_reports_the_op_and_writes_a_program(tmp_path: Path, capsys: Capture) -> None:
    path, small = tmp_path / "layer.mlir", tmp_path / "small.mlir"
    path.write_text(LAYER)
    draw = np.random.default_rng(0)
    shapes = {"x": (16, 64), "w": (64, 32), "b": (32,)}
    np.savez(tmp_path / "in.npz", **{name: draw.standard_normal(shape, "f4") / 4 for name, shape in shapes.items()})
    arguments = ["--inputs", str(tmp_path / "in.npz"), "--contract", "strict", "--repro", str(small)]
    assert main(["diff", str(path), "--backend", "faulty:shifted:stablehlo.transpose", *arguments]) == 1
    text = capsys.readouterr().out
    assert text.startswith(f"certainly wrong: stablehlo.transpose %5 at {path}:12:8")
    assert "contract: strict (" in text and "inputs: given" in text
    assert main([str(small)]) == 0
    assert "true" in capsys.readouterr().out


def test_offers_to_make_the_program_small(tmp_path: Path, capsys: Capture) -> None:
    path, small = tmp_path / "layer.mlir", tmp_path / "small.mlir"
    path.write_text(LAYER)
    arguments = ["--backend", "faulty:shifted:stablehlo.slice", "--random-inputs", "0"]
    assert main(["diff", str(path), *arguments]) == 1
    assert "add: --reduce small.mlir" in capsys.readouterr().out
    assert main(["diff", str(path), *arguments, "--reduce", str(small)]) == 1
    assert "1 ops of 14, after 1" in (said := capsys.readouterr().out) and f"wrote {small}, and its inputs" in said
    given = ["--inputs", str(small.with_suffix(".npz"))]
    assert main(["diff", str(small), "--backend", "faulty:shifted:stablehlo.slice", *given]) == 1


def test_random_inputs_are_labelled(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "layer.mlir"
    path.write_text(LAYER)
    assert main(["diff", str(path), "--backend", "self", "--random-inputs", "0"]) == 0
    assert "inputs: random;" in capsys.readouterr().out


def test_errors(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "layer.mlir"
    path.write_text(LAYER)
    with pytest.raises(SystemExit, match="2"):
        main(["diff", str(path), "--backend", "self", "--contract", "loose"])
    assert "unknown contract 'loose'" in capsys.readouterr().err
    assert main(["diff", str(path), "--backend", "self"]) == 1
    assert "missing" in capsys.readouterr().err
    assert main(["diff", str(path), "--backend", "tensorrt", "--random-inputs", "0"]) == 1
    assert "the backend failed on the program: refused: ValueError: unknown backend" in capsys.readouterr().out
