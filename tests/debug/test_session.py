"""Backends in processes of their own: what dies, hangs or refuses is an outcome."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.debug import Session, diff
from stablehlo_ref.debug.backends import Backend, open_backend, save_arrays
from tests.debug.programs import LAYER, normal
from tests.shared import MLIR_PYTHON, needs_mlir

DOUBLE = """
func.func @main(%x: tensor<2xbf16>, %y: tensor<3xi32>) -> (tensor<2xbf16>, tensor<3xi1>) {
  %0 = stablehlo.add %x, %x : tensor<2xbf16>
  %1 = stablehlo.compare LT, %y, %y : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  return %0, %1 : tensor<2xbf16>, tensor<3xi1>
}
"""
INPUTS = [np.array([1, 2], ml_dtypes.bfloat16), np.arange(3, dtype=np.int32)]
TOOL = """
import sys, numpy as np, stablehlo_ref as sr
from stablehlo_ref.debug.backends import load_arrays, save_arrays
from pathlib import Path
program = sr.load(sys.argv[1])
save_arrays(Path(sys.argv[3]), program.run(*load_arrays(Path(sys.argv[2]), program.inputs)))
"""


def is_doubled(results: tuple[np.ndarray, ...]) -> bool:
    return results[0].dtype == ml_dtypes.bfloat16 and results[0].tolist() == [2, 4] and not results[1].any()


def is_ended(pid: int) -> bool:
    """Return whether a process is dead, waiting a little for that; it may be a zombie if init reaps nothing."""
    for _ in range(50):
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.1)
    return False


def interrupted(*_: object) -> bool:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("function", "failure", "reason"),
    [
        ("refuses", "refused", "NotImplementedError: no such op"),
        ("hangs", "timed out", "no answer in 2 seconds"),
        ("greedy", "refused", "MemoryError"),
        ("objects", "refused", "TypeError: expected arrays as results, got object"),
        ("missing", "refused", "expected python:MODULE:FUNCTION"),
    ],
)
def test_failures_are_outcomes(function: str, failure: str, reason: str) -> None:
    with Session(f"python:tests.debug.backends:{function}", seconds=30, max_bytes=1 << 33) as session:
        session.seconds = 2 if function == "hangs" else 30
        outcome = session.run(DOUBLE, INPUTS)
    assert outcome.failure == failure
    assert reason in str(outcome)


def test_goes_on_after_the_process_died() -> None:
    with Session("python:tests.debug.backends:dies") as session:
        outcome = session.run(DOUBLE, INPUTS)
        assert outcome.failure == "died" and "assertion failed" in outcome.reason
        assert session.run(DOUBLE, INPUTS).failure == "died"
        assert session.compilations == 1


def test_a_process_that_closes_its_pipes_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stablehlo_ref.debug.session.GRACE", 0.1)
    with Session("python:tests.debug.backends:closes_its_pipes") as session:
        assert str(session.run(DOUBLE, INPUTS)) == "died: signal 9"


def test_processes_of_the_backend_end_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "pid"
    monkeypatch.setenv("STABLEHLO_REF_TEST_FILE", str(file))
    with Session("python:tests.debug.backends:starts_a_process") as session:
        session.switches()  # starts the process
        session.seconds = 3
        assert session.run(DOUBLE, INPUTS).failure == "timed out"
    assert is_ended(int(file.read_text()))


def test_an_interrupted_run_does_not_answer_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    with Session("self") as session:
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr("multiprocessing.connection.Connection.poll", interrupted)
            session.run(DOUBLE.replace("add", "subtract"), INPUTS)
        assert is_doubled(session.run(DOUBLE, INPUTS).results)


def test_unknown_python() -> None:
    with Session("self", python="/nowhere/python") as session, pytest.raises(FileNotFoundError, match="/nowhere"):
        session.run(DOUBLE, INPUTS)


def test_what_a_backend_prints_does_not_disturb_it() -> None:
    with Session("python:tests.debug.backends:loud") as session:
        assert is_doubled(session.run_twice(DOUBLE, INPUTS).results)


def test_command(tmp_path: Path) -> None:
    tool = tmp_path / "tool.py"
    tool.write_text(TOOL)
    command = f"cmd:{sys.executable} {tool} {{program}} {{inputs}} {{outputs}}"
    assert is_doubled(tuple(open_backend(command).run(DOUBLE, INPUTS)))


def test_command_fails() -> None:
    with pytest.raises(RuntimeError, match="exit code 1: cannot compile"):
        open_backend("cmd:sh -c 'echo cannot compile; exit 1' {program} {inputs} {outputs}").run(DOUBLE, INPUTS)


def test_command_needs_its_marks() -> None:
    with pytest.raises(ValueError, match="expected a command with"):
        open_backend("cmd:tool {program}")


def test_dump(tmp_path: Path) -> None:
    path = tmp_path / "outputs.npz"
    save_arrays(path, [np.array([2, 4], ml_dtypes.bfloat16), np.zeros(3, np.bool_)])
    dump = open_backend(str(path))
    assert is_doubled(tuple(dump.run(DOUBLE, INPUTS)))
    with pytest.raises(NotImplementedError, match="no intermediate values"):
        dump.run(DOUBLE.replace("add", "multiply"), INPUTS)


def test_missing_packages_are_named() -> None:
    message = (
        "iree.compiler is not installed; run: pip install 'iree-base-compiler' 'iree-base-runtime' .the extra `iree`"
    )
    with pytest.raises(ImportError, match=message):
        open_backend("iree")


IREE = """
class CompilerToolError(Exception):
    pass

def compile_str(program, **_):
    code = -6 if "dies" in program else 1
    raise CompilerToolError(
        f"Error invoking IREE compiler tool iree-compile\\nError code: {code}\\nDiagnostics:\\n"
        "<stdin>:1:1: warning: slow\\n<stdin>:1:1: error: no such op\\n\\nInvoked with:\\n iree-compile"
    )
"""
IREE_RUNTIME = """
class Config:
    def __init__(self, driver):
        assert driver == "local-task"
        self.vm_instance = None

class VmModule:
    @staticmethod
    def copy_buffer(instance, data):
        return data
"""


def test_iree_refuses_programs_and_dies_as_its_compiler_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "iree").mkdir()
    (tmp_path / "iree/compiler.py").write_text(IREE)
    (tmp_path / "iree/runtime.py").write_text(IREE_RUNTIME)
    for package in ("compiler", "runtime"):
        information = tmp_path / f"iree_base_{package}-3.13.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: iree-base-{package}\nVersion: 3.13.0\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Session("iree:vmvx") as session:
        assert session.versions() == {"iree-base-compiler": "3.13.0", "iree-base-runtime": "3.13.0"}
        refused, died = session.run("refused", []), session.run("dies", [])
    assert refused.failure == "refused" and refused.reason.startswith("RuntimeError: <stdin>:1:1: error: no such op")
    assert died.failure == "died" and died.reason.startswith("signal 6\n<stdin>:1:1: warning: slow\n")


def test_unknown_backend() -> None:
    with pytest.raises(ValueError, match="unknown backend 'tensorrt'"):
        open_backend("tensorrt")
    with pytest.raises(FileNotFoundError, match="no such PJRT plug-in"):
        open_backend("pjrt:/nowhere.so")


def test_protocol() -> None:
    assert isinstance(open_backend("self"), Backend)


@needs_mlir
@pytest.mark.parametrize("backend", ["jax:cpu", "cpp"])
def test_backends_of_jax(backend: str) -> None:
    with Session(backend, python=MLIR_PYTHON, seconds=100) as session:
        outcome = session.run(DOUBLE, INPUTS)
        assert is_doubled(outcome.results), outcome
        assert session.run("func.func @main() { nonsense }", []).failure in ("refused", "died")
        if backend == "jax:cpu":
            (name, setting), *_ = session.switches().items()
            assert "excess_precision" in name
            assert is_doubled(session.run(DOUBLE, INPUTS, setting).results)


@needs_mlir
@pytest.mark.parametrize(("backend", "contract"), [("jax:cpu", "xla-cpu"), ("cpp", "strict")])
def test_no_false_alarms(backend: str, contract: str) -> None:
    program = sr.load(LAYER)
    with Session(backend, python=MLIR_PYTHON, seconds=100) as session:
        for seed in range(3):
            found = diff(program, normal(program, seed), session, contract)
            assert not found.is_wrong, str(found)
            assert found.outputs.errors and not found.stopped


def test_no_process_remains_once_this_one_is_killed(tmp_path: Path) -> None:
    script = f"""
import os
import subprocess
import sys
from stablehlo_ref.debug import Session
session = Session("python:tests.debug.backends:starts_a_process")
session.switches()
print(session._process.pid, flush=True)
session.run({DOUBLE!r}, [])
"""
    file = tmp_path / "pid"
    environment = {**os.environ, "STABLEHLO_REF_TEST_FILE": str(file)}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        while not (file.exists() and file.read_text()):
            time.sleep(0.05)
        process.kill()
    assert is_ended(worker) and is_ended(int(file.read_text()))


@pytest.mark.parametrize(("type", "given"), [("tensor<f32>", -1.5), ("tensor<?xf32>", [-1.5, 2.0])])
def test_cpp_takes_scalars_and_unknown_dimensions(type: str, given: object) -> None:
    pytest.importorskip("jaxlib.mlir.dialects.stablehlo")
    body = f"%0 = stablehlo.abs %x : {type}\nreturn %0 : {type}"
    with Session("cpp") as session:
        outcome = session.run(f"func.func @main(%x: {type}) -> {type} {{\n{body}\n}}", [np.array(given, np.float32)])
    assert outcome.failure == "" and outcome.results[0].tolist() == np.abs(given).tolist()
