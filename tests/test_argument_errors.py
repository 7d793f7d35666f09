"""Every public function with wrong arguments: what comes out is a StablehloError that says what was expected."""

from __future__ import annotations

import errno
import os
import pickle
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.argument_types import fits
from stablehlo_ref.debug.exceptions import ExceptionWatcher
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import file_errors

TEXT = """
func.func @main(%x: tensor<2xf32> loc("args[0]"), %token: !stablehlo.token) -> tensor<2xf32> {
  %0 = func.call @twice(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @twice(%y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %y, %y : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
ONE = TEXT.replace(", %token: !stablehlo.token", "")
FUNCTION = "func.func @f(%x: i32) -> i32 {\n  %y = arith.addi %x, %x : i32\n  return %y : i32\n}\n"
SHARDED = """sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}"""
X = np.array([1, 2], np.float32)

TOKEN = "func.func @main(%token: !stablehlo.token) {\n  return\n}"

# What only the package makes, what it is derived from or raises, and what takes no arguments.
LEFT_OUT = {
    "CustomCall", "Diagnostic", "EvaluationError", "Function", "ImplementationDefinedWarning", "InternalError",
    "InvalidError", "Location", "MalformedError", "Observer", "Operation", "Parameter", "Record", "RunOptions",
    "StablehloError", "TensorType", "UnsupportedError", "Value", "Program.verify", "debug.Setup",
    "debug.Confirmation", "debug.Diff", "debug.Exceptions", "debug.Failure", "debug.Inner", "debug.Outcome",
    "debug.Outputs", "debug.PassDiff", "debug.Reduced", "debug.SpmdCheck", "debug.TraceDiff", "text.InlinedFunction",
    "testing.Comparison", "testing.Equivalence",
}  # fmt: skip
CALLBACKS = {("from_jax", "source"), ("debug.reduce", "predicate"), ("text.inline_function", "fresh_names")}

Call = tuple[Callable[..., Any], dict[str, Any]]  # what is called, and arguments by name that it takes


class Reads:
    """A file that returns what is no text."""

    def __init__(self, contents: object) -> None:
        self.read = lambda: contents


class Thing:
    """An object of no use."""


WRONG = (
    None, 3, -1, 2**80, 2.5, float("nan"), True, "typo", "", "a\0b", "%", b"x", [], ["typo"], [3], (), {}, {"typo": 1},
    {1: 2}, {"typo": len}, Thing(), len, Thing, np.ones(3), np.float32(1), Path("/nowhere/at/all"), {3}, range(2),
    slice(1), 1j, "/dev/null/x", '"',
)  # fmt: skip
# These are no backends as "typo" and "" are none: a process for each would tell the same.
NAMES_OF_NOTHING = ("%", "/dev/null/x", '"')


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[dict[str, Call]]:
    with sr.debug.Session("self") as session:
        yield functions(tmp_path, session)


def functions(folder: Path, session: sr.debug.Session) -> dict[str, Call]:
    """Return every public function with arguments that it takes, and a session, opened once, where it takes one."""
    program, watched = sr.load(ONE), sr.debug.exceptions(sr.load(ONE), X)
    trace = program.trace(X)
    stored = str(folder / "stored")
    program.trace(X, store=stored)
    options = {
        "options": None, "limits": None, "observer": None, "on_implementation_defined": None, "custom_calls": None,
        "overrides": None, "check_overrides": None, "rng_seed": None, "exact_lapack": None, "reproducible": None,
        "exact_sums": None, "fast": None, "threads": None, "jit": None,
    }  # fmt: skip
    rest = {name: value for name, value in options.items() if name != "options"}
    contract = sr.debug.contract_of("strict")
    values = sr.Values(trace.records)
    return {
        "load": (
            sr.load,
            {"source": ONE, "allow_unregistered_dialect": False, "entry": None, "limits": None, "cache": None},
        ),
        "parse": (
            sr.parse,
            {"text": ONE, "filename": "f", "first_line": 1, "allow_unregistered_dialect": False, "entry": None},
        ),
        "link": (sr.link, {"programs": [program], "entry": None}),
        "from_jax": (sr.from_jax, {"source": None, "limits": None, "mesh": None}),
        "from_torch": (sr.from_torch, {"source": None, "arguments": (), "named": None, "limits": None}),
        "random_inputs": (
            sr.random_inputs,
            {"parameters": program.inputs, "seed": 0, "distributions": None, "limits": None, "sizes": None},
        ),
        "read_inputs": (
            sr.read_inputs, {"parameters": program.inputs, "values": {"x": "[1, 2]"}, "files": ()},
        ),
        "save_results": (
            sr.save_results, {"path": folder / "x.npz", "outputs": program.outputs, "results": [X]},
        ),
        "register_custom_call": (sr.register_custom_call, {"target": "t", "handler": len}),
        "Limits": (sr.Limits, dict(vars(sr.Limits()))),
        "Program": (sr.Program, {"module": program.module, "entry": None, "limits": None, "verified": False}),
        "Program.bind": (program.bind, {"weights": {0: X}}),
        "Program.grid": (program.grid, {"count": 1, "num_replicas": None, "num_partitions": None}),
        "Program.guarantees": (program.guarantees, {"reproducible": False, "exact_sums": False}),
        "Program.on_shards": (program.on_shards, {"grid": Grid(1, 2)}),
        "Program.plan": (program.plan, {"fast": True}),
        "Program.run": (lambda x, **more: program.run(x, **more), {"x": X, "until": None, **options}),
        "Program.run_by_name": (lambda x, **more: program.run(x=x, **more), {"x": X, **rest}),
        "Program.run_in": (lambda context: program.run_in(context, X), {"context": Context()}),
        "Program.run_parallel_in": (
            program.run_parallel_in, {"context": Context(), "grid": Grid(), "inputs_per_process": [[X]]},
        ),
        "Program.run_parallel": (
            program.run_parallel,
            {
                "inputs_per_process": [[X]], "num_replicas": None, "num_partitions": None, "infeed": (),
                "outfeed": None, **rest,
            },
        ),
        "Program.run_replicas": (program.run_replicas, {"inputs_per_replica": [[X]], **rest}),
        "Program.serialize": (program.serialize, {"target": "current"}),
        "Program.trace": (
            lambda x, **more: program.trace(x, **more),
            {"x": X, "only": None, "store": None, "keep": None, **options},
        ),
        "Program.trace_parallel": (
            program.trace_parallel, {"inputs_per_process": [[X]], "only": None, "store": None, "keep": None, **rest},
        ),
        "Program.transform": (lambda name: program.transform(name), {"name": "inline"}),
        "Program.value": (program.value, {"name": "%0"}),
        "Program.with_entry": (lambda name: program.with_entry(name).run(X), {"name": "twice"}),
        "Program.with_random_weights": (program.with_random_weights, {"seed": 0}),
        "Program.inputs": (lambda key: program.inputs[key], {"key": "x"}),
        "Program.outputs": (lambda key: program.outputs[key], {"key": 0}),
        "Trace": (sr.Trace, {"records": (), "results": (), "known": ()}),
        "Trace.__getitem__": (lambda name: trace[name], {"name": "%0"}),
        "Trace.all": (trace.all, {"name": "%0"}),
        "Trace.find": (trace.find, {"name": "%0"}),
        "Trace.line": (trace.line, {"place": "model.py:1"}),
        "Trace.load": (sr.Trace.load, {"folder": stored}),
        "Trace.process": (trace.process, {"replica": 0, "partition": 0}),
        "Trace.select": (trace.select, {"op": "*"}),
        "Values": (sr.Values, {"records": []}),
        "Values.__getitem__": (lambda key: values[key], {"key": 0}),
        "debug.Contract": (
            lambda **fields: str(sr.debug.Contract(**fields)), dict(vars(contract)),
        ),
        "debug.Session": (
            lambda **more: sr.debug.Session(**more).close(),
            {"description": "self", "seconds": 1.0, "max_bytes": 0, "python": ""},
        ),
        "debug.backend_exceptions": (
            sr.debug.backend_exceptions, {"program": program, "inputs": [X], "backend": session, "max_bytes": 1 << 30},
        ),
        "debug.by_backend": (sr.debug.by_backend, {"session": session, "contract": contract}),
        "debug.by_command": (sr.debug.by_command, {"command": "true", "seconds": 1.0}),
        "debug.by_pass": (sr.debug.by_pass, {"command": "true", "contract": "strict", "seconds": 1.0}),
        "debug.contract_of": (sr.debug.contract_of, {"text": "strict"}),
        "debug.diff": (
            sr.debug.diff,
            {"program": program, "inputs": [X], "backend": session, "contract": "strict", "max_bytes": 1 << 30},
        ),
        "debug.diff_passes": (sr.debug.diff_passes, {"source": stored, "inputs": None, "seed": 0, "only": "*"}),
        "debug.spmd_check": (
            sr.debug.spmd_check,
            {
                "whole": sr.load(SHARDED), "local": None, "inputs": [X], "contract": "strict", "mesh": "x=2", "seed": 0,
                "in_shardings": None, "out_shardings": None,
            },
        ),
        "debug.diff_traces": (sr.debug.diff_traces, {"a": stored, "b": trace, "ulps": None}),
        "debug.exceptions": (
            lambda program, x, **more: sr.debug.exceptions(program, x, **more),
            {"program": program, "x": X, "kinds": "all", "threshold": None},
        ),
        "debug.exceptions_parallel": (
            sr.debug.exceptions_parallel,
            {"program": program, "inputs_per_process": [[X]], "kinds": "all", "threshold": None},
        ),
        "debug.Exceptions.reaching": (watched.reaching, {"reach": sr.debug.exceptions}),
        "debug.ExceptionWatcher": (
            ExceptionWatcher, {"program": program, "kinds": (), "threshold": None, "trap": ()},
        ),
        "debug.reduce": (
            sr.debug.reduce,
            {
                "program": program, "inputs": [X], "predicate": lambda text, inputs: "add" in text,
                "contract": "strict", "max_calls": 2, "jobs": 1, "folder": None,
            },
        ),
        "testing.assert_close": (
            sr.testing.assert_close, {"actual": X, "expected": X, "ulp": None, "rtol": 0.0, "atol": 0.0, "names": ""},
        ),
        "testing.compare": (sr.testing.compare, {"actual": X, "expected": X}),
        "testing.equivalent": (
            sr.testing.equivalent, {
                "first": program, "second": program, "inputs": 2, "seconds": 1.0, "contract": "strict", "seed": 0,
            },
        ),
        "testing.pearson_correlation": (sr.testing.pearson_correlation, {"actual": X, "expected": X}),
        "testing.ulp_distance": (sr.testing.ulp_distance, {"actual": X, "expected": X}),
        "text.inline_function": (
            sr.text.inline_function,
            {
                "text": FUNCTION, "operands": ["%a"], "fresh_names": None, "prefix": "t", "block_prefix": "b",
                "label_prefix": None, "function": None, "used_names": (), "keep_locations": True, "branch": "cf.br",
                "filename": "f", "max_growth": 1 << 20,
            },
        ),
        "text.names": (sr.text.names, {"text": FUNCTION}),
    }  # fmt: skip


def methods(cls: type) -> Iterator[str]:
    """Yield the names of what a class has for its users."""
    for name, member in vars(cls).items():
        if not name.startswith("_") and (callable(member) or isinstance(member, classmethod)):
            yield name


def test_every_public_function_is_fed_or_left_out(calls: dict[str, Call]) -> None:
    public = {name for name in sr.__all__ if callable(getattr(sr, name))}
    for module in ("debug", "testing", "text"):
        public |= {
            f"{module}.{name}" for name in getattr(sr, module).__all__ if callable(getattr(getattr(sr, module), name))
        }
    for cls in (sr.Program, sr.Trace, sr.Values):
        public |= {f"{cls.__name__}.{name}" for name in methods(cls)}
    fed = set(calls) | LEFT_OUT
    assert sorted(public - fed) == []


@pytest.mark.parametrize("group", ["", "Program", "Trace", "Values", "debug", "testing", "text"])
def test_wrong_arguments_are_errors_of_the_package(
    group: str, calls: dict[str, Call], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, (function, arguments) in calls.items():
        if name.rpartition(".")[0].partition(".")[0] == group:
            for argument, wrong in product(arguments, WRONG):
                is_started = (
                    argument in ("backend", "predicate") and isinstance(wrong, str) and wrong in NAMES_OF_NOTHING
                )
                if not is_started and not (callable(wrong) and (name, argument) in CALLBACKS):
                    check(function, {**arguments, argument: wrong})


def check(function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    """Call a function, which may only raise an error of the package that says what was expected."""
    try:
        function(**arguments)
    except AssertionError:  # of the helpers for tests
        pass
    except sr.StablehloError as error:
        message = str(error)
        assert message and "Traceback" not in message and '  File "' not in message
        if isinstance(error, TypeError):
            assert (
                re.search(" must be |expected | has no |missing |; the options are ", message) and "\n" not in message
            )


def test_a_call_that_does_not_fit_the_signature() -> None:
    with pytest.raises(sr.StablehloError, match=r"^load: got an unexpected keyword argument 'entries'$") as caught:
        sr.load(ONE, entries="main")  # type: ignore[call-arg]
    assert isinstance(caught.value, TypeError)
    with pytest.raises(sr.StablehloError, match=r"^Session: missing a required argument: 'description'$"):
        sr.debug.Session()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: p.run(X, overrides={"typo": len}), ValueError, "overrides has 'typo', which is not in the program"),
        (lambda p: p.run(X, limits=3), TypeError, "limits must be a Limits, got 3"),
        (lambda p: sr.load(ONE, limits=3), TypeError, "limits must be Limits | None, got 3"),  # type: ignore[arg-type]
        (lambda p: sr.Limits(max_steps=0), ValueError, "max_steps must be a positive number, got 0"),
        (lambda p: p.inputs["y"], KeyError, "no 'y'; there are x (args[0])"),
        (lambda p: p.inputs[1], IndexError, "no number 1; there are 1: x (args[0])"),
        (lambda p: p.value("%9"), KeyError, "no value is called '%9'"),
        (lambda p: p.trace(X)["%9"], KeyError, "no value is called '%9'"),
        (lambda p: sr.Values(p.trace(X).records)[9], IndexError, "no value number 9; there are "),
        (lambda p: p.run_replicas([[X]], num_replicas=1), TypeError, "run_replicas has no option 'num_replicas'"),
        (lambda p: p.run_parallel([[X]], typo=1), TypeError, "unknown option 'typo'; the options are limits, "),
        (lambda p: p.run_parallel([[X]], num_replicas="a"), TypeError, "num_replicas must be int | None, got 'a'"),
        (lambda p: p.trace_parallel(None), TypeError, "inputs_per_process must be a list of inputs, got None"),
        (lambda p: sr.random_inputs(None), TypeError, "parameters must be Sequence[Parameter], got None"),
        (lambda p: sr.random_inputs(p.inputs, -1), ValueError, "seed must not be negative, got -1"),
        (lambda p: sr.read_inputs(p.inputs, {"x": 3}), TypeError, "values must be "),
        (lambda p: sr.debug.exceptions(p, X, observer=None), TypeError, "expected no option 'observer'"),
        (lambda p: sr.debug.diff(p, [[[1], [1, 2]]], "self"), ValueError, "expected arrays, or lists of numbers"),
        (lambda p: sr.debug.reduce(p, [X], "self", jobs=0), ValueError, "jobs must be a positive number, got 0"),
        (lambda p: sr.debug.by_backend([], "strict"), ValueError, "session must be a Session or several, got none"),
        (lambda p: sr.debug.by_command("a '"), ValueError, "No closing quotation"),
        (lambda p: sr.debug.Session("self", seconds=-1), ValueError, "seconds and max_bytes must not be negative"),
        (lambda p: sr.load(Reads(3)), TypeError, "what the file returns must be text or bytes, got 3"),
        (lambda p: sr.load("x" * 5000), OSError, "cannot read the program: File name too long"),
        (lambda p: sr.testing.assert_close(["a"], ["a"]), TypeError, "expected arrays of numbers or booleans, got <U1"),
        (lambda p: sr.testing.assert_close(X, X, ulp=-1), ValueError, "ulp must be between 0 and 2**64 - 1, got -1"),
        (lambda p: sr.link([]), ValueError, "expected at least one module to link"),
        (lambda p: sr.Trace.load("nowhere"), ValueError, "nowhere has no trace"),
        (lambda p: sr.text.inline_function(FUNCTION, ["a"]), ValueError, "expected an operand such as '%x'"),
        (lambda p: sr.testing.ulp_distance(X, [1, 2]), TypeError, "expected arrays of one dtype"),
        (lambda p: sr.testing.ulp_distance(X, X[:1]), ValueError, "expected arrays of one shape"),
        (
            lambda p: sr.load(TOKEN).inputs[0].shape,
            AttributeError,
            "token is not a tensor but of type !stablehlo.token",
        ),
    ],
)
def test_errors_are_pythons_too(call: Callable[[sr.Program], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call(sr.load(ONE))
    assert isinstance(caught.value, sr.StablehloError) and message in str(caught.value)
    copied = pickle.loads(pickle.dumps(caught.value))
    assert type(copied) is type(caught.value) and str(copied) == str(caught.value)
    assert caught.value.diagnostics[0].message in str(caught.value)


def test_a_file_that_cannot_be_read_is_an_error_of_the_system_too(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        sr.load(tmp_path / "none.mlir")
    error = caught.value
    assert isinstance(error, sr.MalformedError)
    assert str(error) == f"{tmp_path}/none.mlir:1:1: error: cannot read the program: No such file or directory"
    assert (error.errno, error.strerror, error.filename) == (
        errno.ENOENT, os.strerror(errno.ENOENT), f"{tmp_path}/none.mlir",
    )  # fmt: skip


@pytest.mark.parametrize("error", [FileNotFoundError, PermissionError, IsADirectoryError, OSError])
def test_errors_of_files_have_the_class_of_the_number(error: type[OSError]) -> None:
    numbers = {FileNotFoundError: errno.ENOENT, PermissionError: errno.EACCES, IsADirectoryError: errno.EISDIR,
               OSError: errno.EIO}  # fmt: skip
    number = numbers[error]
    with (
        pytest.raises(sr.StablehloError, match="file:1:1: error: cannot read it: ") as caught,
        file_errors("file", "read it"),
    ):
        raise OSError(number, os.strerror(number))
    assert isinstance(caught.value, error) and caught.value.errno == number


def test_what_functions_of_the_caller_raise() -> None:
    """Functions that a run calls raise an EvaluationError at the place of the op, others what they raise."""

    def raises(*arguments: Any) -> Any:
        raise ZeroDivisionError("mine")

    with pytest.raises(sr.EvaluationError, match=r":7:8: error: the observer raised ZeroDivisionError: mine"):
        sr.load(ONE).trace(X, only=raises)
    with pytest.raises(ZeroDivisionError, match="mine"):
        sr.debug.reduce(sr.load(ONE), [X], raises)
    with pytest.raises(ZeroDivisionError, match="mine"):
        sr.text.inline_function(FUNCTION, ["%a"], raises)
    call = ONE.replace("func.call @twice", "stablehlo.custom_call @t")
    with pytest.raises(sr.EvaluationError, match=r":3:8: error: .*ZeroDivisionError: mine"):
        sr.load(call).run(X, custom_calls={"t": raises})


def test_scalars_of_numpy_are_numbers() -> None:
    assert sr.debug.Contract("lax", fma=np.bool_(True), narrow_ulps=np.float32(2)).fma
    assert str(sr.debug.Contract("lax", fma=np.bool_(True))) == str(sr.debug.Contract("lax", fma=True))
    assert fits(np.array(2.5), float) and fits(np.array(5), int)
    assert not any(fits(wrong, int) for wrong in (np.array([5]), np.array(2.5), np.array("5")))
