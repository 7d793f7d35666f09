"""What the language server knows of texts, most of which are broken while they are typed."""

from __future__ import annotations

import random

import pytest

from stablehlo_ref.diagnostics import MalformedError, StablehloError
from stablehlo_ref.lsp.answers import complete, formatted, hover
from stablehlo_ref.lsp.document import Document, Lines

PROGRAM = """\
#flag = true
func.func @main(%x: tensor<i32>, %y: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %0:2 = stablehlo.while(%a = %x, %b = %y) : tensor<i32>, tensor<i32> attributes {mine = #flag}
    cond {
      %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1, %2 = "stablehlo.optimization_barrier"(%a, %b) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
      %3 = stablehlo.add %1, %2 : tensor<i32>
      stablehlo.return %3, %2 : tensor<i32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<i32>, tensor<i32>
}
"""


def definitions(text: str) -> dict[str, list[tuple[int, int | None]]]:
    """Return by name the lines where it occurs, with those of its definition."""
    document = Document(text, "program.mlir")
    (part,) = document.parts
    found: dict[str, list[tuple[int, int | None]]] = {}
    for name in part.names.names:
        place = None if name.definition is None else text.count("\n", 0, name.definition) + 1
        found.setdefault(text[name.start : name.end], []).append((text.count("\n", 0, name.start) + 1, place))
    return found


def test_names_of_several_results_and_of_regions() -> None:
    found = definitions(PROGRAM)
    assert found["%0"] == [(3, 3)]
    assert found["%0#0"] == [(12, 3)] == found["%0#1"]
    assert found["%a"] == [(3, 3), (5, 3), (8, 3)]
    assert found["%1"] == [(5, 5), (6, 5), (8, 8), (9, 8)]
    assert found["%2"] == [(8, 8), (9, 8), (10, 8)]
    assert found["#flag"] == [(1, 1), (3, 1)]
    assert found["@main"] == [(2, 2)]


def test_names_in_an_op_that_cannot_be_read() -> None:
    found = definitions(PROGRAM.replace("stablehlo.add %1, %2 :", "stablehlo.ad %1, %2 :"))
    assert found["%2"] == [(8, 8), (9, 8), (10, 8)]
    assert found["%3"] == [(9, 9), (10, 9)]
    assert found["%0#0"] == [(12, 3)]


def test_undefined_names_have_no_definition() -> None:
    found = definitions(PROGRAM.replace("%0#0, %0#1 :", "%gone, %0#1 :"))
    assert found["%gone"] == [(12, None)]


def test_labels_belong_to_their_function() -> None:
    function = "func.func @{0}() {{\n  cf.br ^end\n^end:\n  return\n}}\n"
    assert definitions(function.format("f") + function.format("g"))["^end"] == [(2, 3), (3, 3), (7, 8), (8, 8)]


@pytest.mark.parametrize("seed", range(4))
def test_every_request_has_an_answer_while_a_text_is_broken(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(40):
        start = rng.randrange(len(PROGRAM))
        text = PROGRAM[:start] + rng.choice(["", "%", '"', "}", "{", "// -----\n", "(\n"]) + PROGRAM[start + 3 :]
        document = Document(text, "program.mlir")
        for offset in (start, rng.randrange(len(text))):
            part = document.part_at(offset)
            hover(part, offset - part.start)
            complete(part, offset - part.start)
        try:
            formatted(text)
        except StablehloError:
            continue


def proposals(line: str) -> list[str]:
    """Return what is proposed at the end of a line that is typed into the function."""
    at = PROGRAM.index("  return %0#0")
    document = Document(PROGRAM[:at] + line + "\n" + PROGRAM[at:], "program.mlir")
    part = document.part_at(at + len(line))
    return [item.text for item in complete(part, at + len(line) - part.start)]


def test_proposals_fit_what_was_typed() -> None:
    assert proposals("  %3 = stablehlo.expone") == ["stablehlo.exponential", "stablehlo.exponential_minus_one"]
    assert proposals("  %3 = expone") == proposals("  %3 = stablehlo.expone")
    assert proposals("  %3 = stablehlo.all_r")[0] == "stablehlo.all_reduce"
    assert proposals("  %3 = stablehlo.xyz") == []
    assert proposals('  "stablehlo.gather"(%x, %y) <{slice_') == ["slice_sizes"]
    assert proposals("  return %0") == ["%0"]


def test_proposals_begin_with_stablehlo() -> None:
    assert proposals("  %3 = ")[0].startswith("stablehlo.")
    assert proposals("  %3 = tanh")[:3] == ["stablehlo.tanh", "complex.tanh", "math.tanh"]


# --- formatting -------------------------------------------------------------------------------------------------------

MESSY = """\
// RUN: stablehlo-interp %s

// About f.
func.func @f(%x: tensor<f32>) -> tensor<f32> { // opens
// adds
%0 = stablehlo.add %x,%x : tensor<f32> // twice
return %0 : tensor<f32>
}
// -----
func.func @g() {
return
}
// the end
"""
TIDY = """\
// RUN: stablehlo-interp %s
// About f.
func.func @f(%x: tensor<f32>) -> tensor<f32> {  // opens
  // adds
  %0 = stablehlo.add %x, %x : tensor<f32>  // twice
  return %0 : tensor<f32>
}

// -----

func.func @g() {
  return
}
// the end
"""


def test_formatting_keeps_comments_in_place() -> None:
    assert formatted(MESSY) == TIDY
    assert formatted(TIDY) == TIDY


def test_formatting_keeps_locations_and_modules() -> None:
    text = 'module @m {\n  func.func @f() {\n    return loc("here")\n  }\n}\n'
    assert 'return loc("here")' in formatted(text) and formatted(text).startswith("module @m")


@pytest.mark.parametrize("line", ["return // a\n} // after", "return\n// last\n}"])
def test_formatting_refuses_to_move_comments(line: str) -> None:
    with pytest.raises(MalformedError, match="this comment would lose its place"):
        formatted(f"func.func @f() {{\n{line}\nfunc.func @g() {{\nreturn\n}}")


def test_positions_count_utf16_units() -> None:
    lines = Lines("a\N{GRINNING FACE}b\nc")
    assert [lines.position(offset) for offset in range(5)] == [(0, 0), (0, 1), (0, 3), (0, 4), (1, 0)]
    assert [lines.offset(0, column) for column in (0, 1, 3, 4, 9)] == [0, 1, 2, 3, 3]
    assert lines.offset(1, 1) == 5 == lines.offset(7, 0)
