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
    assert main(["diff", str(path), "--backend", "python:tests.faulty:shifted:stablehlo.transpose", *arguments]) == 1
    text = capsys.readouterr().out
    assert text.startswith(f"certainly wrong: stablehlo.transpose %5 at {path}:12:8")
    assert "contract: strict\n" in text and "inputs: given" in text
    assert "     1 op: certainly wrong\n" in text
    assert main([str(small)]) == 0
    assert "true" in capsys.readouterr().out


def test_offers_to_make_the_program_small(tmp_path: Path, capsys: Capture) -> None:
    path, small = tmp_path / "layer.mlir", tmp_path / "small.mlir"
    path.write_text(LAYER)
    arguments = ["--backend", "python:tests.faulty:shifted:stablehlo.slice", "--random-inputs", "0"]
    assert main(["diff", str(path), *arguments]) == 1
    assert "add: --reduce small.mlir" in capsys.readouterr().out
    assert main(["diff", str(path), *arguments, "--reduce", str(small)]) == 1
    assert "1 op of 14, after 1" in (said := capsys.readouterr().out) and f"wrote {small}, and its inputs" in said
    given = ["--inputs", str(small.with_suffix(".npz"))]
    assert main(["diff", str(small), "--backend", "python:tests.faulty:shifted:stablehlo.slice", *given]) == 1


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


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        ("tensorrt", "cannot open the backend 'tensorrt': unknown backend 'tensorrt'; expected jax"),
        ("no_such_file.npz", "cannot read no_such_file.npz: no such file"),
        ("python:no_such_module:f", "No module named 'no_such_module'"),
    ],
)
def test_backends_that_cannot_be_opened(tmp_path: Path, capsys: Capture, backend: str, message: str) -> None:
    path = tmp_path / "layer.mlir"
    path.write_text(LAYER)
    assert main(["diff", str(path), "--backend", backend, "--random-inputs", "0"]) == 2
    assert message in capsys.readouterr().err


def test_reduce_takes_no_unknown_backend_for_a_fault(tmp_path: Path, capsys: Capture) -> None:
    path, small = tmp_path / "layer.mlir", tmp_path / "small.mlir"
    path.write_text(LAYER)
    assert main(["reduce", str(path), "--backend", "tensorrt", "--random-inputs", "0", "-o", str(small)]) == 2
    assert "unknown backend 'tensorrt'" in capsys.readouterr().err
    assert not small.exists()


def test_reduce_rejects_what_it_cannot_use_before_it_searches(tmp_path: Path, capsys: Capture) -> None:
    path, small = tmp_path / "layer.mlir", tmp_path / "small.mlir"
    path.write_text(LAYER)
    given = ["reduce", str(path), "--random-inputs", "0"]
    for command in ('"', ""):
        with pytest.raises(SystemExit, match="2"):
            main([*given, "--predicate", command, "-o", str(small)])
        assert "expected a command, got" in capsys.readouterr().err
    assert main([*given, "--predicate", "true", "-o", str(tmp_path / "no" / "small.mlir")]) == 2
    assert "there is no folder" in capsys.readouterr().err
    (tmp_path / "answers.jsonl").write_text("garbage\n")
    assert main([*given, "--predicate", "true", "-o", str(small), "--resume", str(tmp_path)]) == 1
    assert "answers.jsonl: expected [key, answer]" in capsys.readouterr().err


def test_prints_the_result_before_it_writes_files(tmp_path: Path, capsys: Capture) -> None:
    path, nowhere = tmp_path / "layer.mlir", tmp_path / "no" / "errors.json"
    path.write_text(LAYER)
    given = ["--backend", "self", "--random-inputs", "0", "--model-explorer", str(nowhere)]
    assert main(["diff", str(path), *given]) == 1
    printed = capsys.readouterr()
    assert "no difference" in printed.out and "No such file or directory" in printed.err
