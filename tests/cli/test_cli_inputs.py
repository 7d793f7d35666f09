"""Inputs on the command line: values, files recognised by content, pipes, distributions."""

from __future__ import annotations

import io
import os
import re
import struct
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from command_line import ADD, identity, run, shell

Capture = pytest.CaptureFixture[str]


def dense(text: str, *inputs: str, folder: Path, capsys: Capture) -> str:
    """Return the results of a program as literals."""
    path = folder / "program.mlir"
    path.write_text(text)
    given = [word for value in inputs for word in ("--input", value)]
    assert run(path, *given, "--print-dense") == 0, capsys.readouterr().err
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("type", "value", "literal"),
    [
        ("tensor<2xf32>", "0.5", "dense<5.000000e-01> : tensor<2xf32>"),
        ("tensor<2xf32>", "[1, -2.5]", "dense<[1.000000e+00, -2.500000e+00]> : tensor<2xf32>"),
        ("tensor<2xf32>", "[inf, -.5]", "dense<[0x7F800000, -5.000000e-01]> : tensor<2xf32>"),
        ("tensor<bf16>", "0.1", "dense<1.00097656e-01> : tensor<bf16>"),
        ("tensor<2x2xi8>", "[[1, 2], [3, -128]]", "dense<[[1, 2], [3, -128]]> : tensor<2x2xi8>"),
        ("tensor<ui64>", "18446744073709551615", "dense<18446744073709551615> : tensor<ui64>"),
        ("tensor<2xui4>", "15", "dense<15> : tensor<2xui4>"),
        ("tensor<2xi1>", "[true, false]", "dense<[true, false]> : tensor<2xi1>"),
        ("tensor<2xcomplex<f32>>", "1.5", "dense<(1.500000e+00,0.000000e+00)> : tensor<2xcomplex<f32>>"),
        ("tensor<2xf64>", "dense<[1.0, 2.0]>", "dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>"),
        ("tensor<?xi32>", "[7, 8, 9]", "dense<[7, 8, 9]> : tensor<3xi32>"),
        ("tensor<?xi32>", "dense<4> : tensor<2xi32>", "dense<4> : tensor<2xi32>"),
        ("tensor<0xf32>", "[]", "dense<> : tensor<0xf32>"),
    ],
)
def test_values(type: str, value: str, literal: str, tmp_path: Path, capsys: Capture) -> None:
    assert dense(identity(type), f"a={value}", folder=tmp_path, capsys=capsys) == f"{literal}\n"


def test_names_of_locations(tmp_path: Path, capsys: Capture) -> None:
    text = identity("tensor<i32>").replace("%a: tensor<i32>", "%a: tensor<i32> loc(\"params['w']\")")
    assert "dense<3>" in dense(text, "params['w']=3", folder=tmp_path, capsys=capsys)


def npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def safetensors(name: str, array: np.ndarray) -> bytes:
    header = b'{"%s":{"dtype":"F32","shape":[%d],"data_offsets":[0,%d]}}' % (name.encode(), array.size, array.nbytes)
    return struct.pack("<Q", len(header)) + header + array.tobytes()


NUMBERS = np.array([1, 2, 3, 4], np.float32)
CONTENTS = {
    "npy": npy(NUMBERS),
    "npz": npz(a=NUMBERS, b=NUMBERS),
    "npz of one array": npz(z=NUMBERS),
    "safetensors": safetensors("a", NUMBERS),
    "list": b"[1, 2, 3, 4]\n",
    "literal": b"dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n",
    "raw elements": NUMBERS.tobytes(),
}


@pytest.mark.parametrize("contents", CONTENTS)
@pytest.mark.parametrize("form", ["{}", "@{}"])
def test_files_are_recognised_by_their_contents(contents: str, form: str, tmp_path: Path, capsys: Capture) -> None:
    if contents == "safetensors":
        pytest.importorskip("safetensors")
    path = tmp_path / "misleading.npz"
    path.write_bytes(CONTENTS[contents])
    printed = dense(identity("tensor<4xf32>"), f"a={form.format(path)}", folder=tmp_path, capsys=capsys)
    assert printed == "dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>\n"


def test_raw_elements_of_a_declared_type(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "x.bin").write_bytes(bytes([49, 50]))
    value = f"a=@{tmp_path}/x.bin:tensor<2xui8>"
    assert (
        dense(identity("tensor<?xui8>"), value, folder=tmp_path, capsys=capsys) == "dense<[49, 50]> : tensor<2xui8>\n"
    )


def test_safetensors_in_and_out(tmp_path: Path, capsys: Capture) -> None:
    pytest.importorskip("safetensors")
    types = ("tensor<2xbf16>", "tensor<3xi4>", "tensor<2xf8E5M2>", "tensor<i1>", "tensor<2xcomplex<f32>>")
    path, first, second = tmp_path / "p.mlir", tmp_path / "first.safetensors", tmp_path / "second.safetensors"
    path.write_text(identity(*types))
    assert run(path, "--random-inputs", "0", "--output", first) == 0
    renamed = first.read_bytes()
    for index in range(len(types)):
        renamed = renamed.replace(b'"result%d"' % index, b'"%c"      ' % (ord("a") + index))
    first.write_bytes(renamed)
    assert run(path, "--inputs", first, "--output", second) == 0
    assert run(path, "--random-inputs", "0", "--expect", second) == 0, capsys.readouterr().err
    assert run(path, "--random-inputs", "1", "--expect", second) == 1


@pytest.mark.parametrize("option", ["--inputs", "--weights", "--expect"])
def test_package_that_is_not_installed(
    option: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "safetensors", None)
    (program := tmp_path / "p.mlir").write_text(identity("tensor<2xf32>"))
    (weights := tmp_path / "w.safetensors").write_bytes(safetensors("a", NUMBERS))
    assert run(program, option, weights, *(["--input", "a=1"] if option == "--expect" else [])) == 1
    message = r"stablehlo-interp: error: safetensors is not installed; run: pip install .*\n"
    assert re.fullmatch(message, capsys.readouterr().err)


@pytest.mark.parametrize(
    ("type", "value", "message"),
    [
        ("tensor<2xi8>", "128", "128 is not a number of tensor<2xi8>"),
        ("tensor<2xi8>", "1.5", "1.5 is not a number of tensor<2xi8>"),
        ("tensor<ui4>", "-1", "-1 is not a number of tensor<ui4>"),
        ("tensor<2xi8>", "true", "expected integers, got true"),
        ("tensor<i1>", "2", "expected true or false"),
        ("tensor<f32>", "true", "expected numbers for tensor<f32>, got true or false"),
        ("tensor<f32>", '["a"]', 'expected numbers, got "a"'),
        ("tensor<2x2xf32>", "[[1, 2], [3]]", "the rows of the list differ in length"),
        ("tensor<2xf32>", "[1, 2", "expected a number, a list such as [1, 2]"),
        ("tensor<?xf32>", "1", "the size of tensor<?xf32> is not known; give a list"),
        ("tensor<2xf32>", "[1, 2, 3]", "expected shape (2,) for tensor<2xf32>, got (3,)"),
        ("tensor<2xf32>", "dense<1.0> : tensor<2xf64>", "expected dtype float32 for tensor<2xf32>, got float64"),
        ("tensor<2xf32>", "image.npy", "no such file 'image.npy'"),
        ("!stablehlo.token", "1", "whose values cannot be given"),
    ],
)
def test_rejects_values(type: str, value: str, message: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(identity(type))
    assert run(path, "--input", f"a={value}") == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"\x80\x04\x95pickle", "it is a pickle, which is not read as it may run code"),
        (b"\x89HDF\r\n", "it is HDF5"),
        (b"\x1f\x8bgzip", "compressed with gzip"),
        (npy(np.array([1, 2], object)), "it has Python objects"),
        (b"12345", "has 5 bytes where tensor<4xf32> has 16"),
        (npz(one=NUMBERS, two=NUMBERS), "has no array of that name; there are one, two"),
        (b"\x93NUMPY\x01\x00", "cannot read"),
        (b"PK\x03\x04 no archive", "cannot read"),
    ],
)
def test_rejects_files(contents: bytes, message: str, tmp_path: Path, capsys: Capture) -> None:
    program, path = tmp_path / "program.mlir", tmp_path / "x.bin"
    program.write_text(identity("tensor<4xf32>"))
    path.write_bytes(contents)
    assert run(program, "--input", f"a={path}") == 2
    error = capsys.readouterr().err
    assert message in error
    assert "allow_pickle=True" not in error


@pytest.fixture
def add(tmp_path: Path) -> Path:
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    return path


def test_names_may_be_in_another_notation(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "program.mlir"
    named = ADD.replace("%x: tensor<4xf32>", """%x: tensor<4xf32> loc("params['w.a'][0]")""")
    path.write_text(named)
    np.savez(tmp_path / "x.npz", **{"w.a.0": np.ones(4, np.float32)})
    for given in (["--input", "params.w.a.0=1"], ["--input", "w.a.0=1"], ["--inputs", tmp_path / "x.npz"]):
        assert run(path, *given, "--input", "y=2") == 0
        assert "[6.000000e+00, " in capsys.readouterr().out  # twice the sum
    assert run(path, "--input", "params.w.b.0=1") == 2
    assert """no input 'params.w.b.0'; did you mean 'params['w.a'][0]'?""" in capsys.readouterr().err
    path.write_text(named.replace("%y: tensor<4xf32>", """%y: tensor<4xf32> loc("stats['w.a'][0]")"""))
    assert run(path, "--input", "w.a.0=1") == 2
    assert "'w.a.0' is ambiguous; it may be 'params['w.a'][0]' or 'stats['w.a'][0]'" in capsys.readouterr().err
    assert run(path, "--input", "params.w.a.0=1", "--inputs", tmp_path / "x.npz") == 2
    assert "it may be 'params['w.a'][0]' or 'stats['w.a'][0]'" in capsys.readouterr().err


def test_an_unknown_name_among_many(tmp_path: Path, capsys: Capture) -> None:
    """The message has the first few inputs, and the one whose name ends in the same way."""
    path = tmp_path / "many.mlir"
    inputs = ", ".join(f'%x{i}: tensor<f32> loc("inputs[0][{i}]")' for i in range(53))
    path.write_text(f"func.func @main({inputs}) -> tensor<f32> {{\n  return %x0 : tensor<f32>\n}}\n")
    assert run(path, "--input", "args[0]=1") == 2
    error = capsys.readouterr().err
    assert "no input 'args[0]'; did you mean 'inputs[0][0]'?\n  its inputs are x0: tensor<f32>" in error
    assert error.endswith("x11: tensor<f32> (inputs[0][11]), ... and 41 more\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--input", "xx=1"],
            "the program has no input 'xx'; did you mean 'x'?\n  its inputs are x: tensor<4xf32>, y:",
        ),
        (["--inputs", "z.npz"], "error: z.npz: the program has no input 'weights'"),
        (["--inputs", "x.npy"], "expected arrays by name, got an .npy file of one"),
        (["--inputs", "nope.npz"], "cannot read nope.npz: no such file"),
        (["--input", "x=1", "--input", "x=2"], "input 'x' is given twice: by a value and by a value"),
        (["--input", "x=1", "--inputs", "x.npz"], "input 'x' is given twice: by x.npz and by a value"),
        (
            ["--inputs", "x.npz", "--inputs", "x.npz"],
            "input 'x' is given twice: by x.npz and by x.npz",
        ),
        (["--input", "x=1", "--random", "x=normal(0,1)"], "input 'x' is given twice: by a value and by --random"),
        (["--random", "z=normal(0,1)"], "error: the program has no input 'z'"),
        (["--random", "x=gauss(0,1)"], "expected normal(mean, stddev), uniform(low, high)"),
        (["--random", "x=uniform(1,0)"], "expected a low end below the high end"),
        (["--random", "x=normal(0)"], "expected normal(mean, stddev)"),
        (["--input", "x=1"], "(missing: y)"),
        (["--input", "x"], "expected NAME=VALUE, got 'x'"),
        (["--args", "[dense<1.0> : tensor<4xf32>]"], "@main takes 2 arguments, but 1 is given"),
        (["--args", "[]", "--random-inputs", "0"], "--args gives all inputs"),
        (["--dim", "x=3"], "it needs --random-inputs"),
        (["--random-inputs", "0", "--rtol", "1"], "--rtol, --atol and --ulp are tolerances of --expect"),
        (["--entry", "twixe"], "there is no function @twixe; did you mean 'twice'?; there are @main, @twice"),
        (["--randm-inputs", "0"], "unknown option '--randm-inputs'; did you mean '--random-inputs'?"),
    ],
)
def test_wrong_inputs_are_errors_in_the_command_line(
    arguments: list[str], message: str, add: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(add.parent)
    Path("x.npy").write_bytes(npy(NUMBERS))
    Path("x.npz").write_bytes(npz(x=NUMBERS))
    Path("z.npz").write_bytes(npz(weights=NUMBERS))
    assert run(add, *arguments) == 2
    assert message in capsys.readouterr().err


def test_missing_inputs_say_how_to_give_them(add: Path, capsys: Capture) -> None:
    assert run(add) == 1
    assert "(missing: x, y)" in (error := capsys.readouterr().err)
    assert "--input NAME=VALUE" in error and "--random-inputs" in error


def test_random_inputs_are_those_that_are_not_given(add: Path, capsys: Capture) -> None:
    given = ["--input", "x=1", "--random-inputs", "0", "--random", "y=constant(2)"]
    assert run(add, *given, "--print-dense") == 0
    assert capsys.readouterr().out == "dense<6.000000e+00> : tensor<4xf32>\n"


@pytest.mark.parametrize(
    ("distribution", "type", "low", "high"),
    [
        ("uniform(5, 6)", "tensor<100xf32>", 5, 6),
        ("integers(-3, 4)", "tensor<100xi8>", -3, 3),
        ("integers(-3, 4)", "tensor<100xbf16>", -3, 3),
        ("normal(100, 0.01)", "tensor<100xf64>", 99, 101),
        ("constant(7)", "tensor<100xui8>", 7, 7),
        ("constant(1e49)", "tensor<100xf32>", np.inf, np.inf),
    ],
)
def test_distributions(distribution: str, type: str, low: float, high: float, tmp_path: Path) -> None:
    program, out = tmp_path / "p.mlir", tmp_path / "out.npy"
    program.write_text(identity(type).replace("bf16", "f32"))
    assert run(program, "--random", f"*={distribution}", "--output", out) == 0
    drawn = np.load(out)
    assert low <= drawn.min() and drawn.max() <= high
    assert distribution.startswith("constant") or len(np.unique(drawn)) > 3


@pytest.mark.parametrize(
    ("type", "distribution"), [("i8", "normal(0, 1)"), ("i8", "integers(0, 1000)"), ("i1", "uniform(0, 1)")]
)
def test_rejects_distributions_that_a_type_cannot_have(
    type: str, distribution: str, tmp_path: Path, capsys: Capture
) -> None:
    program = tmp_path / "p.mlir"
    program.write_text(identity(f"tensor<100x{type}>"))
    assert run(program, "--random", f"a={distribution}") == 2
    assert "cannot draw input 'a': " in capsys.readouterr().err


def test_huge_random_inputs_are_errors(tmp_path: Path, capsys: Capture) -> None:
    program = tmp_path / "p.mlir"
    program.write_text(identity("tensor<1000000x1000000x1000xf64>"))
    assert run(program, "--random-inputs", "0") == 1
    assert "is larger than the limit" in capsys.readouterr().err


def test_pipes_are_read_like_files(add: Path, capsys: Capture) -> None:
    pipe, program = add.parent / "pipe", add.parent / "pipe.mlir"
    for path, contents in ((pipe, npz(x=NUMBERS, y=NUMBERS)), (program, ADD.encode())):
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(contents,), daemon=True).start()
    assert run(program, "--inputs", pipe, "--print-dense") == 0
    assert capsys.readouterr().out.startswith("dense<[4.000000e+00, 8.000000e+00,")


def test_process_substitution_and_dev_stdin(add: Path) -> None:
    command = (
        "stablehlo-interp <(cat add.mlir) --input x=<(echo '[1, 2, 3, 4]') --input y=/dev/stdin --print-dense <<< 0.5"
    )
    done = shell(command, add.parent)
    assert (done.stderr, done.stdout[:26]) == ("", "dense<[3.000000e+00, 5.000")
