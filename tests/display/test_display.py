"""Programs in notebooks: everything is escaped, and large constants are left out."""

from __future__ import annotations

from html.parser import HTMLParser

import stablehlo_ref as sr

TEXT = (
    """
module @"<script>alert(1)</script>" {
  func.func @main(%x: tensor<64xf32> loc("<b>&x</b>")) -> (tensor<64xf32> {jax.result_info = "a<i>"}) {
    %c = stablehlo.constant dense<"0x"""
    + "0" * 512
    + """"> : tensor<64xf32>
    %0 = stablehlo.add %x, %c {note = "'</pre><img src=x>\\""} : tensor<64xf32>
    return %0 : tensor<64xf32>
  }
}
"""
)


class Tags(HTMLParser):
    """The tags and the text of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_all_text_of_the_program_is_escaped() -> None:
    html = Tags(sr.load(TEXT)._repr_html_())
    assert not html.open
    assert html.tags == {"div", "style", "b", "table", "tr", "th", "td", "details", "summary", "pre", "span"}
    for text in ("<b>&x</b>", "a<i>", "<script>alert(1)</script>", "'</pre><img src=x>"):
        assert text in html.text


def test_shows_signature_histogram_and_text_without_large_constants() -> None:
    html = Tags(sr.load(TEXT)._repr_html_())
    assert "main(x: tensor<64xf32> (<b>&x</b>)) -> (tensor<64xf32>)" in html.text
    assert "stablehlo.add1" in html.text
    assert "%0 = stablehlo.add %x, %" in html.text
    assert "dense_resource<__elided__>" in html.text


def test_constants_of_the_program_stay() -> None:
    program = sr.load(TEXT.replace('"0x' + "0" * 512 + '"', "[" + ", ".join(["1.0"] * 63 + ["2.0"]) + "]"))
    before = str(program)
    program._repr_html_()
    assert str(program) == before


def test_long_programs_and_lines_are_cut() -> None:
    body = "".join(f"  %{i + 1} = stablehlo.negate %{i} : tensor<f32>\n" for i in range(1000))
    text = f"func.func @main(%0: tensor<f32>) -> tensor<f32> {{\n{body}  return %1000 : tensor<f32>\n}}"
    html = sr.load(text)._repr_html_()
    assert "more lines; print(program) shows all" in html
    assert html.count("\n") < 350


def test_programs_without_an_entry_are_shown() -> None:
    text = "func.func @f() { return }\nfunc.func @g() { return }"
    assert "functions @f, @g" in Tags(sr.load(text)._repr_html_()).text
    assert "functions none" in Tags(sr.load("module {}")._repr_html_()).text


def test_programs_in_one_line() -> None:
    assert repr(sr.load("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }")) == (
        "<Program f(x: tensor<4xf32>) -> (tensor<4xf32>), 1 ops, from <string>>"
    )
