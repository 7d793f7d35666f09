"""Cases as files, and verdicts on files of results."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.conform.campaign import export, judge_files
from stablehlo_ref.conform.cases import case
from stablehlo_ref.conform.report import Known
from stablehlo_ref.conform.verdicts import Cell, Record, judge
from stablehlo_ref.debug.contract import contract_of
from stablehlo_ref.debug.session import Session
from stablehlo_ref.diagnostics import EvaluationError, StablehloError
from stablehlo_ref.numerics.dtypes import element_type_of, numpy_dtype
from tests.reading.test_damaged_files import VALID

NAMES = [
    "op/stablehlo.add/f32/0", "op/stablehlo.add/bf16/0", "op/stablehlo.add/i32/0", "op/stablehlo.tanh/f32/0",
    "op/stablehlo.dot_general/i8/0", "op/stablehlo.transpose/f64/0", "op/stablehlo.reduce/f32/0",
    "exhaustive/stablehlo.tanh/f8E4M3FN/0", "exhaustive/chlo.erf/bf16/0", "invalid/stablehlo.add/C1/0",
]  # fmt: skip


def write_results(folder: Path, results: Path, backend: str) -> dict[str, Cell]:
    """Run a backend on the cases of an index and write its results; return the verdicts of a campaign."""
    results.mkdir()
    cells = {}
    with Session(backend) as session:
        for entry in json.loads((folder / "index.json").read_text())["cases"]:
            made = case(entry["name"])
            outcome = session.run(made.text, made.inputs)
            if outcome.failure:
                (results / f"{entry['id']}.txt").write_text(f"{outcome.failure}: {outcome.reason}")
            for number, array in enumerate(map(np.asarray, outcome.results)):
                is_plain = array.dtype.type.__module__ == "numpy"
                np.save(
                    results / f"{entry['id']}.{number}.npy", array if is_plain else array.view(f"u{array.itemsize}")
                )
            cells[entry["name"]] = judge(entry["name"], session, contract_of("strict")).cell
    return cells


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cases")
    several = ["chain/2/0", "op/stablehlo.transpose/f64/1"]  # programs of several ops, which are left out
    assert export(folder, [*NAMES, *several]) == (len(NAMES), len(several))
    return folder


@pytest.mark.parametrize(
    "backend",
    [
        "self",
        "python:tests.faulty:scaled:stablehlo.tanh",
        "python:tests.faulty:off-by-one:stablehlo.add",
        "python:tests.faulty:dropped:chlo.erf",
    ],
)
def test_verdicts_are_those_of_a_campaign(exported: Path, tmp_path: Path, backend: str) -> None:
    cells = write_results(exported, tmp_path / "results", backend)
    found = {record.name: record.cell for record in judge_files(exported, tmp_path / "results")}
    assert found == cells and (backend == "self") == (Cell.FAIL not in cells.values())


def test_the_index_needs_nothing_else(exported: Path) -> None:
    entries = json.loads((exported / "index.json").read_text())["cases"]
    for entry in entries:
        if "rejected_by" in entry:
            assert (exported / entry["program"]).suffix == ".mlir"
            continue
        program = sr.load(exported / entry["program"])
        for array in (*entry["inputs"], *entry["outputs"]):
            data = np.load(exported / array["file"])
            assert list(data.shape) == array["shape"]
            assert data.dtype.kind == "u" or array["stored"] == "numbers"
        types = [f"tensor<{''.join(f'{n}x' for n in a['shape'])}{a['element_type']}>" for a in entry["outputs"]]
        stored = [element_type_of(numpy_dtype(p.element_type)) for p in program.entry.outputs]  # of quantized numbers
        shapes = ["".join(f"{n}x" for n in output.shape) for output in program.outputs]
        assert types == [f"tensor<{shape}{element}>" for shape, element in zip(shapes, stored)]


def test_bounds_contain_the_expected_results(exported: Path) -> None:
    entries = json.loads((exported / "index.json").read_text())["cases"]
    output = next(e for e in entries if e["name"] == "op/stablehlo.add/f32/0")["outputs"][0]
    expected, center, radius = (np.load(exported / output[key]) for key in ("file", "center", "radius"))
    with np.errstate(invalid="ignore"):
        inside = (np.abs(expected - center) <= radius) | (expected == center) | (np.isnan(expected) & np.isnan(center))
    assert inside.all() and (radius <= np.spacing(np.abs(expected)) / 2 * 1.01 + 1e-300)[np.isfinite(expected)].all()


def test_missing_results_are_untested_and_failures_are_read(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "000000.txt").write_text("died: signal 11")
    (tmp_path / "000001.txt").write_text("no such op")
    cells = [record.cell for record in judge_files(exported, tmp_path)]
    assert cells[:3] == [Cell.DIES, Cell.REFUSES, Cell.UNTESTED]


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform-files", "export", str(tmp_path / "c"), "--ops", "sign"]) == 0
    assert "cases are in" in capsys.readouterr().out
    write_results(tmp_path / "c", tmp_path / "r", "python:tests.faulty:scaled:stablehlo.sign")
    assert main(["conform-files", "judge", str(tmp_path / "c"), str(tmp_path / "r")]) == 1
    assert "stablehlo.sign" in capsys.readouterr().out
    assert main(["conform-files", "judge", str(tmp_path / "no"), str(tmp_path / "r")]) != 0
    assert "index.json" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["conform-files", "judge", str(tmp_path / "c")])


@pytest.mark.parametrize("change", [
    ('"id": "000000"', '"id": "../000000"'), ('"id": "000000"', '"id": 0'), ('"id": "000000"', '"id": "0\\u0000"'),
    ('"cases": [', '"cases": [1, '), ("{", "[" * 100_000), ('"contract": "strict"', '"contract": "none"'),
    ("op/stablehlo.add/f32/0", "op/stablehlo.none/f32/0"), ("{", "\xff"),
])  # fmt: skip
def test_changed_indexes_are_errors(change: tuple[str, str], exported: Path, tmp_path: Path) -> None:
    text = (exported / "index.json").read_text().replace(*change, 1)
    (tmp_path / "index.json").write_text(text, encoding="latin-1")
    with pytest.raises(StablehloError):
        list(judge_files(tmp_path, tmp_path))


@pytest.mark.parametrize("data", [b"", b"no array", VALID[:-1], VALID[:70], b"PK\3\4", pickle.dumps([1])])
def test_changed_results_are_errors_that_name_the_file(data: bytes, exported: Path, tmp_path: Path) -> None:
    (tmp_path / "000000.0.npy").write_bytes(data)
    with pytest.raises(EvaluationError, match=r"cannot read .*000000\.0\.npy: "):
        list(judge_files(exported, tmp_path))


def test_known_failures_name_constraints_of_invalid_programs() -> None:
    invalid = Record("invalid/stablehlo.dot/C4/0", Cell.ACCEPTS)
    assert all(Known("*.dot", type, "").covers(invalid) for type in ("C4", "C?", "*"))
    assert not any(Known("*.dot", type, "").covers(invalid) for type in ("C3", "f*"))


def test_known_failures_of_an_op_are_known_in_chains_and_of_unknown_dimensions() -> None:
    uses = ("stablehlo.add/f32", "stablehlo.fft/complex<f32>", "stablehlo.fft/f32")
    anywhere = Record("chain/2/0", Cell.FLAKY, "two runs return different bits", uses=uses)
    located = Record("chain/2/1", Cell.FAIL, "stablehlo.add: 1 of 1 elements", uses=uses)
    for type, covers in (("complex*", [True, False]), ("bf16", [False, False])):
        assert [Known("*.fft", type, "").covers(record) for record in (anywhere, located)] == covers
    assert Known("*.add", "f32", "").covers(located) and Known("chain", "*", "").covers(located)
    dynamic = Record("dynamic/stablehlo.add/f32/0", Cell.DIES, uses=("stablehlo.add/f6E2M3FN",))
    static = Record("op/stablehlo.add/f32/0", Cell.DIES)
    assert [Known("*", "f6*", "").covers(record) for record in (dynamic, static)] == [True, False]
