"""Traces in files: which values are kept, and archives of other tools."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from tests.debug.test_trace import PROGRAM, X


@pytest.fixture
def program() -> sr.Program:
    return sr.load(PROGRAM)


def test_only_kept_values_are_written_but_digests_of_all(program: sr.Program, tmp_path: Path) -> None:
    program.trace(X, 2, store=tmp_path, keep="jit|double/%3")
    trace = sr.Trace.load(tmp_path)
    assert len(list(tmp_path.glob("*.npy"))) == 3
    np.testing.assert_array_equal(trace["%1"], X * 5)
    (record,) = trace.find("%0#1")
    assert (record.digest.min, record.digest.max) == (4, 12)
    with pytest.raises(sr.EvaluationError, match="only the digest of the value was kept"):
        trace["%0#1"]
    np.testing.assert_array_equal(program.run(X, 2, until=record.address)[0], X * 4)
    program.trace(X, 2, store=tmp_path, keep="")
    assert not list(tmp_path.glob("*.npy"))


def test_keep_must_be_a_regular_expression(program: sr.Program, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no regular expression"):
        program.trace(X, 2, store=tmp_path, keep="(")
    with pytest.raises(ValueError, match="it needs `store`"):
        program.trace(X, 2, keep="x")


def test_an_npz_file_is_a_trace(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", **{"3": X, "jit(f)/add": X + 1})
    trace = sr.Trace.load(tmp_path / "t.npz")
    np.testing.assert_array_equal(trace["%3"], X)
    np.testing.assert_array_equal(trace["jit(f)/add"], X + 1)
    (tmp_path / "u.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match="cannot read"):
        sr.Trace.load(tmp_path / "u.npz")


RECORD = (
    '{"number": 0, "name": "%0", "names": ["%0"], "address": "%0", "op": null, "type": "", "location": "",'
    ' "model_location": null, "turns": [], "process": [0, 0], "stored": {"file": "0.npy", "dtype": "float32"}}'
)
LINES = (
    "", "[]", "{}", '{"name": 1}', "[" * 10_000, RECORD.replace('"names": ["%0"]', '"names": [0]'),
    RECORD.replace('"0.npy"', "0"), RECORD.replace("[0, 0]", "[0]"), RECORD.replace('"%0", "op"', '7, "op"'),
    RECORD.replace('{"file": "0.npy", "dtype": "float32"}', '"0.npy"'),
)  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_a_malformed_index_is_an_error(tmp_path: Path, line: str) -> None:
    (tmp_path / "index.jsonl").write_text(line + "\n")
    with pytest.raises(ValueError, match=r"index.jsonl:1: not a value of a trace"):
        sr.Trace.load(tmp_path)


def test_an_index_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "index.jsonl").write_bytes(b"\xff\n")
    with pytest.raises(ValueError, match=r"cannot read the trace: .*can't decode"):
        sr.Trace.load(tmp_path)


def test_names_in_an_index_may_have_any_characters(tmp_path: Path) -> None:
    (tmp_path / "index.jsonl").write_text(RECORD.replace("%0", "a\u2028b") + "\n")
    assert list(sr.Trace.load(tmp_path)) == ["a\u2028b"]


def test_a_malformed_array_is_an_error(program: sr.Program, tmp_path: Path) -> None:
    program.trace(X, 0, store=tmp_path, only="%x")
    (tmp_path / "000000.npy").write_bytes(b"no array")
    with pytest.raises(sr.EvaluationError, match=r"cannot read .*000000.npy"):
        sr.Trace.load(tmp_path)["%x"]
    (tmp_path / "000000.npy").unlink()
    with pytest.raises(sr.EvaluationError, match=r"cannot read .*000000.npy"):
        sr.Trace.load(tmp_path)["%x"]


def test_lines_may_have_separators_of_unicode(tmp_path: Path) -> None:
    text = 'func.func @main(%x: tensor<3xf32> loc("a\u2028b")) -> tensor<3xf32> {\n  return %x : tensor<3xf32>\n}'
    sr.parse(text).trace(X, store=tmp_path)
    np.testing.assert_array_equal(sr.Trace.load(tmp_path)["a\u2028b"], X)


def test_a_trace_in_files_holds_no_more_than_the_run(tmp_path: Path) -> None:
    count, size = 40, 1 << 18  # 1 MiB each
    ops = "".join(f"  %{i} = stablehlo.negate %{i - 1 if i else 'x'} : tensor<{size}xf32>\n" for i in range(count))
    type = f"tensor<{size}xf32>"
    program = sr.parse(f"func.func @main(%x: {type}) -> {type} {{\n{ops}  return %{count - 1} : {type}\n}}")
    program.trace(np.ones(size, np.float32), store=tmp_path)
    tracemalloc.start()
    try:
        program.trace(np.ones(size, np.float32), store=tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 << 20  # not 40 MiB
