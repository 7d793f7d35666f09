"""Traces in files: which values are kept, and archives of other tools."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from tests.unit.test_trace import PROGRAM, X


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
