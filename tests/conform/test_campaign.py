"""Campaigns: every op early, resumed from a file, and not ended by workers that die."""

from __future__ import annotations

import fnmatch
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from stablehlo_ref.cli.main import main
from stablehlo_ref.conform import campaign, report
from stablehlo_ref.conform.campaign import Profile, Results, Settings, run
from stablehlo_ref.conform.cases import case, names_of_ops
from stablehlo_ref.conform.report import Known, explain, read_known, split
from stablehlo_ref.conform.verdicts import Cell, Record, judge, meaning, uses_of, with_blocked
from stablehlo_ref.debug.backends import Itself
from stablehlo_ref.debug.contract import contract_of
from stablehlo_ref.debug.session import Outcome, Session
from stablehlo_ref.diagnostics import EvaluationError, StablehloError
from stablehlo_ref.reading.parsing import parse
from tests.debug.programs import InProcess
from tests.debug.test_session import is_ended

PROFILE = Profile(rounds=1, chains=4, invalid=1, seconds=60.0)
SETTINGS = Settings("self")
EXAMPLES = Path(__file__).parents[2] / "examples/conformance"

DYING = """
import os
from stablehlo_ref.conform.verdicts import Cell, Record

def judge_names(settings, names):
    if "op/b" in names:
        os._exit(9)
    return [Record(name, Cell.PASS) for name in names]
"""


def judged(settings: Settings, names: list[str]) -> list[Record]:
    return [Record(name, Cell.PASS) for name in names]


def test_first_cases_are_of_all_ops() -> None:
    ops = ["stablehlo.add", "stablehlo.tanh", "stablehlo.sort"]
    first = PROFILE.names(ops)[:3]
    assert [name.split("/")[1] for name in first] == ops


def test_names_are_unique() -> None:
    names = PROFILE.names(["stablehlo.add", "chlo.erf"])
    assert len(set(names)) == len(names)


def test_goes_on_where_it_stopped(tmp_path: Path) -> None:
    names = [f"op/stablehlo.add/f32/{i}" for i in range(12)]
    results = Results(tmp_path / "results.sqlite")
    run(names[:5], SETTINGS, results, executor=ThreadPoolExecutor(1), judge_names=judged)
    results.close()
    asked: list[str] = []

    def counted(settings: Settings, given: list[str]) -> list[Record]:
        asked.extend(given)
        return judged(settings, given)

    again = Results(tmp_path / "results.sqlite")
    run(names, SETTINGS, again, executor=ThreadPoolExecutor(1), judge_names=counted)
    assert asked == names[5:]
    assert set(again.records()) == set(names)


def test_worker_that_dies_loses_its_case_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dying.py").write_text(DYING)
    monkeypatch.syspath_prepend(tmp_path)
    from dying import judge_names  # type: ignore[import-not-found]

    results = Results()
    run(["op/a", "op/b", "op/c"], SETTINGS, results, judge_names=judge_names)
    cells = {name: record.cell for name, record in results.records().items()}
    assert cells == {"op/a": Cell.PASS, "op/b": Cell.UNTESTED, "op/c": Cell.PASS}


class KilledWorker(Exception):
    """What Dask raises for a task at which workers die."""


def test_worker_of_a_cluster_that_dies_loses_its_case_only() -> None:
    def killed_at_b(settings: Settings, names: list[str]) -> list[Record]:
        if "op/b" in names:
            raise KilledWorker("worker-1")
        return judged(settings, names)

    results = Results()
    run(["op/a", "op/b", "op/c"], SETTINGS, results, executor=ThreadPoolExecutor(1), judge_names=killed_at_b)
    cells = {name: record.cell for name, record in results.records().items()}
    assert cells == {"op/a": Cell.PASS, "op/b": Cell.UNTESTED, "op/c": Cell.PASS}
    assert results.records()["op/b"].detail == "the case was lost: KilledWorker: worker-1"


@pytest.mark.skipif(find_spec("distributed") is not None, reason="Dask is installed")
def test_missing_dask_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "--backend", "self", "--scheduler", "tcp://localhost:8786"]) != 0
    assert "distributed is not installed; run: pip install" in capsys.readouterr().err


def test_missing_jinja2_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert main(["conform", "--backend", "none", "--html", "table.html"]) != 0
    assert "jinja2 is not installed; run: pip install" in capsys.readouterr().err


def test_no_new_cases_after_the_time() -> None:
    results = Results()
    run(["op/stablehlo.add/f32/0"], SETTINGS, results, seconds=0.0, judge_names=judged)
    assert results.records() == {}


# --- verdicts ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def itself() -> Session:
    return InProcess("self")


@pytest.mark.parametrize("name", ["op/stablehlo.tanh/bf16/0", "op/stablehlo.sort/f32/0", "chain/5/1"])
def test_interpreter_passes_its_own_cases(itself: Session, name: str) -> None:
    assert judge(name, itself, contract_of("strict")).cell is Cell.PASS


def test_interpreter_rejects_an_invalid_program(itself: Session) -> None:
    assert judge("invalid/stablehlo.slice/C2/0", itself, contract_of("strict")).cell is Cell.PASS


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ("dropped:stablehlo.negate", "op/stablehlo.negate/i32/0"),
        ("scaled:stablehlo.add", "op/stablehlo.add/f32/0"),
        ("shifted:stablehlo.reverse", "op/stablehlo.reverse/i8/1"),
        ("wrong-op:stablehlo.maximum", "op/stablehlo.maximum/bf16/0"),
    ],
)
def test_fault_is_found(fault: str, name: str) -> None:
    op = name.rpartition("/")[0]
    session = InProcess(f"python:tests.faulty:{fault}")
    found = [judge(f"{op}/{number}", session, contract_of("strict")).cell for number in range(4)]
    assert Cell.FAIL in found


@pytest.mark.parametrize(
    "name",
    ["op/stablehlo.all_reduce/f32/0", "op/stablehlo.collective_permute/i8/0", "op/stablehlo.partition_id/ui32/0"],
)
def test_backends_run_grids_of_processes(itself: Session, name: str) -> None:
    made = case(name)
    assert made is not None and made.grid.count > 1
    assert judge(name, itself, contract_of("strict")).cell is Cell.PASS
    refused = judge(name, InProcess("python:tests.faulty:dropped:stablehlo.add"), contract_of("strict"))
    assert refused.cell is Cell.REFUSES and f"is not given {made.grid}" in refused.detail


def test_wrong_process_of_a_grid_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Itself.run_parallel
    monkeypatch.setattr(Itself, "run_parallel", lambda *given: right(*given)[::-1])
    names = [f"op/stablehlo.collective_broadcast/i8/{number}" for number in range(4)]
    assert Cell.FAIL in [judge(name, InProcess("self"), contract_of("strict")).cell for name in names]


@pytest.mark.parametrize("op", ["stablehlo.tanh", "stablehlo.transpose", "chlo.broadcast_add"])
def test_unknown_dimensions_are_judged_by_the_bounds_of_known_ones(op: str) -> None:
    cases = filter(None, (case(f"dynamic/{op}/f32/{number}") for number in range(9)))
    made = next(c for c in cases if np.isfinite(np.asarray(c.expected[0])).any())
    name = made.name
    assert "?" in made.text and "?" not in made.static
    assert judge(name, InProcess("self"), contract_of("strict")).cell is Cell.PASS
    wrong = Outcome(tuple(np.asarray(result) + 1 for result in made.expected))
    assert judge(name, Once(wrong), contract_of("strict")).cell is Cell.FAIL


class Once(InProcess):
    """Returns an outcome, and counts the runs."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__("self")
        self.outcome, self.runs = outcome, 0

    def run(self, *_: object) -> Outcome:  # type: ignore[override]
        self.runs += 1
        return self.outcome


@pytest.mark.parametrize(("outcome", "cell"), [("off", Cell.FAIL), ("timed out", Cell.HANGS), ("died", Cell.DIES)])
def test_known_failures_are_run_once(outcome: str, cell: Cell) -> None:
    name = "op/stablehlo.tanh/f32/0"
    made = case(name)
    assert made is not None
    wrong = tuple(np.asarray(result) + np.float32(1) for result in made.expected)
    session = Once(Outcome(wrong) if outcome == "off" else Outcome((), outcome))
    assert judge(name, session, contract_of("strict"), is_known=True).cell is cell
    assert session.runs == 1
    judge(name, session, contract_of("strict"))
    assert session.runs > 2 or outcome != "off"


def test_many_known_failures_cost_no_more_runs_than_a_clean_campaign(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"op/stablehlo.add/{element}/{number}" for element in ("f32", "i8") for number in range(4)]
    runs: list[str] = []
    monkeypatch.setattr(campaign, "Session", lambda description, **_: Counting(description, runs))
    monkeypatch.setattr(campaign, "_sessions", {})
    for backend in ("self", "python:tests.faulty:dropped:stablehlo.add"):
        runs.clear()
        records = campaign.judge_shard(Settings(backend, known=(Known("*.add", "*", "an issue"),)), names)
        assert len(runs) == len(names)
    assert sum(record.cell is Cell.FAIL for record in records) > 4


def test_memory_of_cases_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    def limit_of(name: str, *_: object, **options: object) -> Record:
        made = case.__wrapped__(name)
        assert made is not None
        return Record(name, Cell.PASS, str(made.program.limits.max_total_bytes))

    monkeypatch.setattr(campaign, "judge", limit_of)
    (record,) = campaign.judge_shard(Settings("self", max_total_bytes=123_456_789), ["op/stablehlo.add/f32/0"])
    assert record.detail == "123456789"


class Counting(InProcess):
    def __init__(self, description: str, runs: list[str]) -> None:
        super().__init__(description)
        self.runs = runs

    def _exchange(self, program: str, inputs: Sequence[Any], setting: Any) -> Outcome:
        self.runs.append(program)
        return super()._exchange(program, inputs, setting)


@pytest.mark.parametrize("element", ["quant.i8", "quant.ui8", "quant.axis"])
def test_quantized_types_are_element_types(element: str) -> None:
    made = case(f"op/stablehlo.add/{element}/0")
    assert made is not None and "!quant.uniform<" in made.text
    assert f"stablehlo.add/{element}" in uses_of(made.text)


def test_explains_a_fault_on_one_value() -> None:
    session = InProcess("python:tests.faulty:off-by-one:stablehlo.negate")
    found = explain("exhaustive/stablehlo.negate/i8/0", session, contract_of("strict"))
    assert found.record.cell is Cell.FAIL
    wrong = found.program.replace("stablehlo.negate", "stablehlo.not")
    assert [parse(text).run()[0].item() for text in (found.program, wrong)] == [True, False]
    assert "tensor<1xi8>" in found.program  # of all 256 values
    assert "Expected: `dense<" in found.report and "Got: `dense<" in found.report


def test_start_of_a_process_is_not_part_of_the_time() -> None:
    made = case("op/stablehlo.tanh/bf16/0")
    assert made is not None
    outcomes = [Outcome((), "timed out", "no answer"), Outcome(made.expected)]

    class Restarted(Session):
        def run(self, *_: object) -> Outcome:  # type: ignore[override]
            return outcomes.pop(0)

        def open(self) -> None:
            assert len(outcomes) == 1

    assert judge(made.name, Restarted("self"), contract_of("strict")).cell is Cell.PASS


def test_fault_of_a_more_basic_op_blocks() -> None:
    alone = Record(
        "op/stablehlo.compare/i2/0", Cell.REFUSES, "i2", uses=("stablehlo.compare/i1", "stablehlo.compare/i2")
    )
    sort = Record("op/stablehlo.sort/i2/0", Cell.REFUSES, "i2", uses=("stablehlo.compare/i2", "stablehlo.sort/i2"))
    other = Record("op/stablehlo.sort/i4/0", Cell.REFUSES, "i4", uses=("stablehlo.compare/i4", "stablehlo.sort/i4"))
    found = with_blocked({record.name: record for record in (alone, sort, other)})
    assert [record.cell for record in found.values()] == [Cell.REFUSES, Cell.BLOCKED, Cell.REFUSES]
    assert found[sort.name].detail == "refuses, as stablehlo.compare/i2 alone"


def test_addresses_are_left_out_of_messages_and_sizes_of_zero_are_not() -> None:
    assert meaning("error: no kernel for tensor<3x0xcomplex<f32>>") == "error: no kernel for tensor<3x0xcomplex<f32>>"
    assert meaning("error: at 0x7f3a01 it ended") == "error: at it ended"


def test_crashes_with_other_addresses_are_one_fault() -> None:
    reasons = [
        f"signal 6\nF0000 00:00:1795.{n} {n} thunk.cc:34] Check failed: size == {n}\n@ 0x{n:x} main" for n in (171, 929)
    ]
    records = [Record(f"op/stablehlo.add/f32/{i}", Cell.DIES, meaning(reason)) for i, reason in enumerate(reasons)]
    assert "Check failed: size ==" in records[0].detail
    assert records[0].fingerprint == records[1].fingerprint


# --- known failures and reports ---------------------------------------------------------------------------------------

RECORDS = {
    r.name: r
    for r in (
        Record("op/stablehlo.add/f32/0", Cell.PASS),
        Record("op/stablehlo.tanh/f32/0", Cell.FAIL, "2 ULP <beyond>"),
        Record("op/stablehlo.tanh/i8/0", Cell.REFUSES, "no"),
    )
}


def test_known_failures_are_not_new_and_healed_ones_are_reported() -> None:
    known = [Known("*.tanh", "f*", "issue 1"), Known("*.add", "*", "issue 2")]
    new, healed = split(RECORDS, known)
    assert new == [] and healed == [known[1]]


def test_known_failures_are_healed_once_all_of_their_cases_are_judged() -> None:
    known = [Known("*.add", "*", "issue 2")]
    assert split(RECORDS, known, ["op/stablehlo.add/bf16/0", "op/stablehlo.tanh/bf16/0"])[1] == []
    assert split(RECORDS, known, ["op/stablehlo.tanh/bf16/0"])[1] == known
    assert split(RECORDS, known, ["chain/2/0"])[1] == []
    assert split(RECORDS, [Known("*.add", "f*", "issue 2")], ["dynamic/stablehlo.add/f32/0"])[1] == []


def test_known_failures_need_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text('[[known]]\nop = "stablehlo.tanh"\n')
    with pytest.raises(EvaluationError, match="entry 1 of 'known': expected op, reason, and maybe type"):
        read_known(path)


NOT_KNOWN = b"[", b"known = 1", b"\xff", b"a = " + b"[" * 100_000, b"[[known]]\nop = 1\nreason = 2"


@pytest.mark.parametrize("text", NOT_KNOWN)
def test_files_of_known_failures_that_are_none(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_bytes(text)
    with pytest.raises(StablehloError, match=r"known\.toml"):
        read_known(tmp_path / "known.toml")


NOT_NAMES = (
    "", "op", "op/none/f32/0", "op/stablehlo.add/f99/0", "op/stablehlo.add/f32/-1", "op/stablehlo.add/f32/x", "chain/5",
    "chain/1000000000/0", "invalid/stablehlo.add/C99/0", "exhaustive/stablehlo.tanh/f64/0",
    "exhaustive/stablehlo.tanh/bf16/of99999", "op/stablehlo.add/f32/" + "1" * 5000, "\ud800/0",
)  # fmt: skip


@pytest.mark.parametrize("name", NOT_NAMES)
def test_names_of_no_case(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", f"--case={name}"]) == 1
    assert "expected the name of a case, such as op/stablehlo.tanh/bf16/0, got" in capsys.readouterr().err


def test_verdicts_in_a_file_that_has_none(tmp_path: Path) -> None:
    (tmp_path / "results").write_bytes(b"no database" * 100)
    with pytest.raises(EvaluationError, match=r"cannot keep verdicts in .*results: file is not a database"):
        Results(tmp_path / "results")
    results = Results(tmp_path / "others")
    results.add([Record("op/stablehlo.add/f32/0", Cell.PASS)])
    results._file.execute("UPDATE records SET cell = '?'")
    with pytest.raises(EvaluationError, match=r"cannot keep verdicts in .*others: '\?' is not a valid Cell"):
        results.records()


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_workers_end_when_the_campaign_is_killed(tmp_path: Path) -> None:
    """The campaign says which processes judge, and waits for one that never ends."""
    (tmp_path / "endless.py").write_text(
        "import os, time\n"
        "def judge_names(settings, names):\n"
        f"    open({str(tmp_path)!r} + f'/pid{{os.getpid()}}', 'w').close()\n"
        "    time.sleep(1000)\n"
    )
    script = (
        "import endless\nfrom stablehlo_ref.conform.campaign import *\n"
        "if __name__ == '__main__':\n"
        "    names = [f'op/a/{i}' for i in range(20)]\n"
        "    run(names, Settings('self'), Results(), jobs=2, judge_names=endless.judge_names)\n"
    )
    (tmp_path / "main.py").write_text(script)
    process = subprocess.Popen([sys.executable, "main.py"], cwd=tmp_path)
    while len(workers := list(tmp_path.glob("pid*"))) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    process.terminate()
    process.wait()
    assert all(is_ended(int(path.name.removeprefix("pid"))) for path in workers)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("known-*.toml")), ids=lambda path: path.stem)
def test_files_of_known_failures_name_ops_and_programs_that_exist(path: Path) -> None:
    names = [*names_of_ops(), "chain"]
    for entry in read_known(path):
        assert fnmatch.filter(names, entry.op), entry
        assert all((EXAMPLES / file).is_file() for file in re.findall(r"\S+\.mlir", entry.reason)), entry


def test_reports_agree_on_the_faults() -> None:
    document = json.loads(report.as_json(RECORDS, {"backend": "b"}))
    assert document["counts"] == {"pass": 1, "fail": 1, "refuses": 1}
    suite = ElementTree.fromstring(report.as_junit(RECORDS, "title"))
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    assert json.loads(report.as_badge(RECORDS))["message"] == "50.0 % of 2"
    assert "fail       op/stablehlo.tanh/f32/0" in report.as_text(RECORDS, "title")


def test_page_has_the_table_and_the_faults() -> None:
    pytest.importorskip("jinja2", reason="the extra `conform` is not installed")
    page = report.as_html(RECORDS, "a < b")
    assert "2 ULP &lt;beyond&gt;" in page and "<h1>a &lt; b</h1>" in page
    assert page.count('title="fail"></td>') == 1 and page.count('title="untested"></td>') == 1


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.mlir")), ids=str)
def test_reported_programs_hold_here(path: Path) -> None:
    parse(path.read_text(encoding="utf-8")).run()


def test_second_case_is_blocked_if_the_first_one_is_refused() -> None:
    def judge_names(settings: Settings, names: Sequence[str]) -> list[Record]:
        return [Record(name, Cell.REFUSES if name == "op/a/f32/0" else Cell.PASS) for name in names]

    results = Results()
    names = ["op/a/f32/0", "op/a/f32/1", "op/a/f32/2", "op/b/f32/1", "op/b/f32/0", "chain/5/1"]
    run(names, SETTINGS, results, executor=ThreadPoolExecutor(1), judge_names=judge_names)
    found = {name: record.cell for name, record in results.records().items()}
    others = dict.fromkeys(names, Cell.PASS)
    assert found == others | {"op/a/f32/0": Cell.REFUSES, "op/a/f32/1": Cell.BLOCKED}
