"""A few cases of the fuzzer in each run of the tests; `tools/fuzz.py` runs it for as long as one likes."""

from __future__ import annotations

import runpy
import time
import warnings
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.fuzz import cases, doors
from spec_checks.fuzz.cases import Case, Finding
from spec_checks.fuzz.programs import programs
from spec_checks.fuzz.worker import case_of

FEW = settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))


@FEW
@given(programs(), st.integers(0, 1 << 30))
def test_generated_programs_are_valid_and_run(text: str, seed: int) -> None:
    sr.load(text)
    assert cases.run(Case("plain", text, seed)) in ("result", "EvaluationError", "UnsupportedError")


@FEW
@given(st.randoms(use_true_random=True))
def test_changed_programs_are_results_or_located_errors(random: Random) -> None:
    cases.run(cases.draw(random))


@pytest.mark.parametrize("kind", doors.DOORS)
def test_changed_files_of_applications_are_results_or_errors(kind: str) -> None:
    if kind == "editor":
        pytest.importorskip("pygls")
    for number in range(8):
        cases.run(cases.draw(Random(number), [kind]))


def test_a_case_is_the_same_in_each_run() -> None:
    assert [case_of(3, index, ()) for index in range(5)] == [case_of(3, index, ()) for index in range(5)]


def fails(*_: Any) -> None:
    raise KeyError("x")


def warns(*_: Any) -> None:
    warnings.warn("careful", stacklevel=1)


def has_no_place(*_: Any) -> None:
    raise sr.EvaluationError("no")


def is_a_defect(*_: Any) -> None:
    raise sr.InternalError("internal error", sr.parse("").module.location)


def watched(script: str) -> list[dict[str, Any]]:
    """Return what the watchdog says of a process that starts case 7 and then runs a script."""
    tool = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "fuzz.py"))
    start = "import os, sys, time; os.write(int(sys.argv[4]), b'{\"start\": 7}\\n'); "
    return list(tool["batch"](1, 5, time.monotonic() + 60, ("-c", start + script), 2))


@pytest.mark.parametrize(
    ("script", "finding"),
    [
        ("time.sleep(60)", "no answer in 2 seconds"),
        ("os.kill(os.getpid(), 11)", "the process ended: SIGSEGV"),
        ("os._exit(3)", "the process ended: exit code 3"),
    ],
)
def test_watches_processes(script: str, finding: str) -> None:
    assert watched(script) == [{"end": 7, "finding": finding}]


def test_a_worker_reports_each_case() -> None:
    tool = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "fuzz.py"))
    lines = tool["batch"](1, 5, time.monotonic() + 100)
    assert [next(lines)["end"], next(lines)["end"]] == [5, 6]
    lines.close()


@pytest.mark.parametrize(
    ("action", "finding"),
    [
        (fails, "KeyError: 'x'"), (warns, "warning: careful"), (has_no_place, "no location: error: no"),
        (is_a_defect, "internal error"), (lambda case: print("hello"), r"printed 'hello\\n'"),
    ],
)  # fmt: skip
def test_finds_what_must_not_happen(action: Any, finding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "_program", action)
    with pytest.raises(Finding, match=finding):
        cases.run(Case("plain", "", 0))
