"""Each part of a file in tests/malformed has one syntax error, expected by `// expected-error@+1 {{message}}`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stablehlo_ref.diagnostics import MalformedError, Source
from stablehlo_ref.dialects import register_all  # noqa: F401
from stablehlo_ref.syntax.parser import parse

MALFORMED = Path(__file__).parents[1] / "malformed"
find_expected = re.compile(r"expected-error@\+1 \{\{(.*)\}\}").search


def cases():
    for path in sorted(MALFORMED.glob("*.mlir")):
        line = 1
        for part in path.read_text().split("// -----"):
            yield pytest.param(path.name, part, line, id=f"{path.stem}:{line}")
            line += part.count("\n")


@pytest.mark.parametrize(("name", "text", "first_line"), list(cases()))
def test_reports_malformed_text_with_location(name, text, first_line):
    expected = find_expected(text)
    assert expected, "the part expects no error"
    line = first_line + text.count("\n", 0, expected.start()) + 1
    with pytest.raises(MalformedError) as raised:
        parse(Source(text, name, first_line))
    (diagnostic,) = raised.value.diagnostics
    assert expected[1] in diagnostic.message
    assert diagnostic.line == line
    assert str(raised.value).startswith(f"{name}:{line}:{diagnostic.column}: error: ")


@pytest.mark.parametrize("definition", ["#map = affine_map<(d0) -> (d0)>", "!t = tensor<2xf32>", '#loc = loc("x")'])
def test_aliases_are_defined_at_the_top_level_only(definition: str) -> None:
    """MLIR has them there only."""
    for opening, closing in (("module {", "}"), ("func.func @main() {", "return\n}")):
        with pytest.raises(MalformedError, match="is defined in a region; move it to the top level") as caught:
            parse(Source(f"{opening}\n  {definition}\n{closing}"))
        assert (caught.value.diagnostics[0].line, caught.value.diagnostics[0].column) == (2, 3)


@pytest.mark.parametrize("op", ["stablehlo.floor", "sdy.func_data_flow_edge"])
def test_op_without_properties_has_no_empty_list_of_them(op: str) -> None:
    """MLIR says so too."""
    with pytest.raises(MalformedError, match=f"'{re.escape(op)}' op has no properties"):
        parse(
            Source(
                f'func.func @f(%a: tensor<f32>) {{\n%0 = "{op}"(%a) <{{}}> : (tensor<f32>) -> tensor<f32>\nreturn\n}}'
            )
        )
