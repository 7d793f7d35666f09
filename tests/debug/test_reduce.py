"""`reduce`: small programs that keep the fingerprint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.debug import by_backend, by_command, by_pass, contract_of, reduce
from tests.debug.programs import LAYER, InProcess, normal


def names(program: sr.Program) -> list[str]:
    found = [op.name.removeprefix("stablehlo.") for op in program.module.walk()]
    return [name for name in found if name not in ("builtin.module", "func.func", "func.return", "constant")]


def chain(length: int) -> str:
    """Return a program of many ops, in which a transpose feeds a chain that ends in a cosine."""
    lines = ["%0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>"]
    lines += [f"%{i} = stablehlo.add %{i - 1}, %x : tensor<2x2xf32>" for i in range(1, length)]
    lines.append(f"%{length} = stablehlo.cosine %{length - 1} : tensor<2x2xf32>")
    body = "\n".join(lines)
    return f"func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {{\n{body}\nreturn %{length} : tensor<2x2xf32>\n}}"


def has(*wanted: str) -> Any:
    """Return the predicate of programs with ops of some names; programs must run."""

    def predicate(program: str, inputs: Sequence[Any]) -> object:
        parsed = sr.load(program)
        parsed.run(*inputs)
        return True if set(wanted) <= set(names(parsed)) else None

    return predicate


@pytest.mark.parametrize("wanted", [("tanh",), ("dot_general", "slice"), ("reduce", "convert", "tanh")])
def test_only_interesting_ops_stay(wanted: tuple[str, ...]) -> None:
    program = sr.load(LAYER)
    found = reduce(program, normal(program), has(*wanted))
    outside = {"add", "return"} if "reduce" in wanted else set()  # the body of reduce
    assert set(names(found.program)) - outside == set(wanted)
    assert found.ops == len(wanted) and found.is_complete
    found.program.run(*found.inputs)


def test_few_calls_for_long_programs() -> None:
    program = sr.load(chain(300))
    found = reduce(program, normal(program), has("transpose", "cosine"))
    assert found.ops == 2 and found.before == 301 and found.calls <= 150


def test_stops_at_the_limit_with_the_best_so_far() -> None:
    program = sr.load(chain(100))
    found = reduce(program, normal(program), has("transpose", "cosine"), max_calls=20)
    assert not found.is_complete and found.calls == 20
    assert {"transpose", "cosine"} <= set(names(found.program))


@pytest.mark.parametrize("jobs", [1, 2])
def test_takes_a_backend_as_diff_does(jobs: int) -> None:
    program = sr.load(LAYER)
    found = reduce(program, normal(program), "python:tests.debug.backends:tanh_off", jobs=jobs)
    assert names(found.program) == ["tanh"] and found.fingerprint == ("wrong op", "stablehlo.tanh")
    assert sr.debug.diff(found.program, found.inputs, "python:tests.debug.backends:tanh_off").is_wrong


def test_takes_a_session_and_a_contract() -> None:
    program = sr.load(LAYER)
    with sr.debug.Session("python:tests.debug.backends:tanh_off") as session:
        for contract in ("strict,ulp.tanh=0", contract_of("strict")):
            found = reduce(program, normal(program), session, contract)
            assert names(found.program) == ["tanh"]
        with pytest.raises(sr.EvaluationError, match="the program is not interesting, the predicate returns None"):
            reduce(program, normal(program), session, "strict,ulp.tanh=1e30")


def test_a_backend_that_cannot_be_opened_and_inputs_that_do_not_fit_are_errors() -> None:
    program = sr.load(LAYER)
    with pytest.raises(sr.EvaluationError, match="cannot open the backend 'typo': unknown backend 'typo'; expected"):
        reduce(program, normal(program), "typo")
    with pytest.raises(sr.EvaluationError, match="argument 'x': expected dtype float32"):
        reduce(program, [np.ones(3), *normal(program)[1:]], "python:tests.debug.backends:tanh_off")
    with pytest.raises(sr.EvaluationError, match="unknown contract 'lax'"):
        reduce(program, normal(program), "self", "lax")


def test_is_deterministic() -> None:
    program = sr.load(LAYER)
    first, second = (reduce(program, normal(program), has("add", "slice")) for _ in range(2))
    assert str(first.program) == str(second.program) and first.calls == second.calls


def test_does_not_slip_to_another_fault() -> None:
    program = sr.load(LAYER)
    predicate = by_backend(InProcess("python:tests.faulty:shifted:stablehlo.transpose"), contract_of("strict"))
    found = reduce(program, normal(program), predicate)
    assert found.fingerprint == ("wrong op", "stablehlo.transpose")
    assert names(found.program) == ["transpose"]


def test_failures_of_a_backend() -> None:
    program = sr.load(LAYER)
    predicate = by_backend(InProcess("python:tests.debug.backends:no_slices"), contract_of("strict"))
    found = reduce(program, normal(program), predicate)
    assert found.fingerprint == ("refused", "slice of value # is not supported")
    assert names(found.program) == ["slice"]


def test_nothing_to_reduce() -> None:
    program = sr.load(LAYER)
    with pytest.raises(sr.EvaluationError, match="not interesting"):
        reduce(program, normal(program), has("sine"))


def test_flaky_predicates_are_reported() -> None:
    program = sr.load(LAYER)
    numbers = iter(range(100))
    with pytest.raises(sr.EvaluationError, match="flaky: it returned 0 and then 1"):
        reduce(program, normal(program), lambda *_: next(numbers))


def test_a_small_program_on_which_a_pass_is_wrong() -> None:
    program = sr.load(LAYER)
    inputs = normal(program)
    predicate = by_pass("sed s/stablehlo.tanh/stablehlo.sine/")
    found = reduce(program, inputs, predicate)
    assert "tanh" in names(found.program) and found.ops <= 2
    assert by_pass("cat")(LAYER, inputs) is None
    assert by_pass("sed s/stablehlo.tanh/stablehlo.unknown/")(LAYER, inputs) is None  # cannot be read
    assert by_pass("false")(LAYER, inputs) is None


def test_command_gets_the_program_and_its_inputs() -> None:
    predicate = by_command("sh -c 'test -s {inputs} && grep -o stablehlo.tanh {program}'")
    assert predicate(LAYER, [np.zeros(2)]) == "stablehlo.tanh\n"
    assert predicate("", [np.zeros(2)]) is None
    assert by_command("grep -q tanh")(LAYER, []) == ""
    assert by_command(r"printf '\377'")(LAYER, []) == "\N{REPLACEMENT CHARACTER}"


def test_slow_commands_reject_programs() -> None:
    assert by_command("sh -c 'sleep 100; true'", seconds=0.2)(LAYER, []) is None


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, small = tmp_path / "layer.mlir", tmp_path / "small.mlir"
    path.write_text(LAYER)
    assert (
        main(["reduce", str(path), "--random-inputs", "0", "--predicate", "grep -q stablehlo.slice", "-o", str(small)])
        == 0
    )
    assert capsys.readouterr().out.startswith("1 op of 14, after ")
    assert main([str(small), "--inputs", str(small.with_suffix(".npz"))]) == 0


@pytest.mark.parametrize(
    ("predicate", "message"),
    [
        (lambda text, inputs: True, "returns True for a program without ops too"),
        (lambda text, inputs: False, "not interesting, the predicate returns False"),
    ],
)
def test_predicates_that_tell_nothing_are_errors(predicate: Any, message: str) -> None:
    program = sr.load(LAYER)
    with pytest.raises(sr.EvaluationError, match=message):
        reduce(program, normal(program), predicate)


def test_a_program_without_ops_has_nothing_to_reduce() -> None:
    program = sr.load("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }")
    with pytest.raises(sr.EvaluationError, match="no ops besides constants"):
        reduce(program, normal(program), lambda text, inputs: "%x" in text or "tensor" in text or None)


@pytest.mark.parametrize("answers", [b"\xff\xfe\n", b"[1]\n", b"[" * 100_000 + b"\n"])
def test_answers_that_are_none_are_an_error(answers: bytes, tmp_path: Path) -> None:
    program = sr.load(LAYER)
    (tmp_path / "answers.jsonl").write_bytes(answers)
    with pytest.raises(sr.EvaluationError, match=r"cannot read .*answers.jsonl: expected \[key, answer\] in each line"):
        reduce(program, normal(program), has("tanh"), folder=tmp_path)
