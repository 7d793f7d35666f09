"""Linking programs: declarations, collisions, meshes, errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main

CALLER = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @kernel(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = call @helper(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func private @kernel(tensor<2xf32>) -> tensor<2xf32>
func.func private @helper(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
KERNEL = """
func.func @kernel(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @helper(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @helper(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.abs %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


def linked(*texts: str) -> sr.Program:
    return sr.link([sr.parse(text, filename=f"{i}.mlir") for i, text in enumerate(texts)])


@pytest.mark.parametrize("texts", [(CALLER, KERNEL), (KERNEL, CALLER)])
def test_bodies_replace_declarations_and_private_functions_are_renamed(texts: tuple[str, str]) -> None:
    program = linked(*texts)
    (result,) = program.run(np.array([-1, 3], np.float32))
    assert result.tolist() == [2, 6]  # |x| of the kernel's helper, doubled by the caller's
    assert set(program.functions) == {"main", "kernel", "helper", "helper_0"}


def test_unresolved_declarations_stay() -> None:
    program = linked(CALLER, CALLER.replace("@main", "@other"))
    assert str(program).count("func.func private @kernel") == 1
    with pytest.raises(sr.UnsupportedError, match="function @kernel is declared, but has no body"):
        program.run(np.zeros(2, np.float32))


def test_inputs_are_not_changed() -> None:
    programs = [sr.parse(CALLER), sr.parse(KERNEL)]
    texts = list(map(str, programs))
    sr.link(programs)
    assert list(map(str, programs)) == texts


def test_equal_meshes_become_one_and_others_are_renamed() -> None:
    def of(sizes: int, name: str) -> str:
        return f"""
        sdy.mesh @mesh = <["x"={sizes}]>
        func.func @{name}(%x: tensor<4xf32>) -> tensor<4xf32> {{
          %0 = sdy.sharding_constraint %x <@mesh, [{{"x"}}]> : tensor<4xf32>
          return %0 : tensor<4xf32>
        }}
        """

    text = str(linked(of(2, "a"), of(2, "b"), of(4, "c")))
    assert text.count("sdy.mesh") == 2
    assert text.count("<@mesh, ") == 2 and text.count("<@mesh_0, ") == 1


def test_rejects_a_public_function_that_is_defined_twice() -> None:
    with pytest.raises(sr.InvalidError, match="public symbol @kernel is defined twice") as caught:
        linked(KERNEL, KERNEL)
    error, note = caught.value.diagnostics
    assert (error.filename, error.line, note.filename, note.line) == ("1.mlir", 2, "0.mlir", 2)


def test_rejects_a_declaration_of_another_type() -> None:
    with pytest.raises(sr.InvalidError, match=r"@kernel is declared as .*4xf32.*, but defined as .*2xf32") as caught:
        linked(CALLER.replace("2x", "4x"), KERNEL)
    assert (caught.value.diagnostics[0].filename, caught.value.diagnostics[0].line) == ("0.mlir", 7)


def test_rejects_modules_with_different_attributes() -> None:
    modules = [f"module attributes {{mhlo.num_partitions = {n} : i32}} {{\n}}\n" for n in (1, 2)]
    with pytest.raises(sr.InvalidError, match=r"different values of the attribute 'mhlo\.num_partitions'"):
        linked(*modules)
    with pytest.raises(ValueError, match="at least one module"):
        sr.link([])


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "caller.mlir", tmp_path / "kernel.mlir"]
    for file, text in zip(files, (CALLER, KERNEL)):
        file.write_text(text)
    output = tmp_path / "linked.mlir"
    assert main(["link", *map(str, files), "-o", str(output)]) == 0
    assert sr.load(output).run(np.array([-1, 3], np.float32))[0].tolist() == [2, 6]
    assert main(["link", str(files[1]), str(files[1])]) == 1
    assert "error: public symbol @kernel is defined twice" in capsys.readouterr().err
    assert main(["link", str(tmp_path / "missing.mlir")]) == 1
