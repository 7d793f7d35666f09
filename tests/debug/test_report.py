"""The HTML report: its structure, that nothing of a program is markup, and what it does in a browser."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jinja2", reason="the extra `report` is not installed")

from stablehlo_ref.cli.main import main
from stablehlo_ref.debug import Diff
from stablehlo_ref.debug.report.document import EDGES
from stablehlo_ref.debug.report.page import _compressed, bin_names, shares
from tests.debug.chromium import Page, needs_chromium
from tests.debug.programs import LAYER, compare
from tests.debug.test_diff_document import LOOP

EVIL = "</script></style></pre><img src=x onerror=alert(1)>&amp;\\22'{{7*7}}"
HOSTILE = f"""
module @"{EVIL}" {{
  func.func @main(%x: tensor<8x16xf32> loc("{EVIL}")) -> tensor<8x16xf32> {{
    %0 = stablehlo.tanh %x {{note = "{EVIL}"}} : tensor<8x16xf32> loc("{EVIL}"("{EVIL}.py":3:1))
    %1 = stablehlo.add %0, %0 : tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }}
}}
"""
VOID = {"meta", "input", "br", "link", "img", "hr"}


class Elements(HTMLParser):
    """Elements with their attributes; asserts that all are closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.all: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["script"], ["style"]):
            self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.all if name == tag]


@cache
def _found(name: str) -> Diff:
    cases = {
        "wrong": (LAYER, "python:tests.faulty:shifted:stablehlo.transpose", "strict"),
        "group": (LAYER, "python:tests.faulty:fused-scaled:stablehlo.tanh", "strict"),
        "permitted": (LAYER, "python:tests.faulty:truncated:stablehlo.tanh", "xla-cpu"),
        "loop": (LOOP, "python:tests.debug.backends:tanh_off", "strict"),
        "same": (LAYER, "self", "strict"),
        "failed": (LAYER, "python:tests.debug.backends:refuses", "strict"),
        "hostile": (HOSTILE, "python:tests.faulty:scaled:stablehlo.tanh", "strict"),
    }
    return compare(*cases[name])


ALL = ["wrong", "group", "permitted", "loop", "same", "failed", "hostile"]


@cache
def _html(name: str) -> str:
    return _found(name).to_html()


def _rows(html: str) -> list[list[Any]]:
    (packed,) = re.findall(r'id="rows">([^<]*)</script>', html)
    return list(json.loads(gzip.decompress(b64decode(packed))))


@pytest.mark.parametrize("name", ALL)
def test_is_well_formed_and_accessible(name: str) -> None:
    page = Elements(_html(name))
    ids = [attributes["id"] for _, attributes in page.all if attributes.get("id")]
    assert len(ids) == len(set(ids))
    assert page.of("html") == [{"lang": "en"}] and len(page.of("h1")) == len(page.of("title")) == 1
    assert len(page.of("caption")) == len(page.of("table"))
    assert all("scope" in attributes for attributes in page.of("th"))
    assert all(attributes.get("aria-hidden") == "true" for attributes in page.of("svg"))  # a caption or table says it
    assert len(page.of("svg")) <= len(page.of("figcaption"))
    for _, attributes in page.all:
        named = (attributes.get("aria-labelledby") or "").split()
        assert set(named) <= set(ids)
        assert not (attributes.get("href") or "").startswith("#finding-") or attributes["href"][1:] in ids  # type: ignore[index]


@pytest.mark.parametrize("name", ALL)
def test_needs_no_network(name: str) -> None:
    page = Elements(_html(name))
    for _, attributes in page.all:
        for key in ("src", "href", "xlink:href", "action"):
            assert (attributes.get(key) or "#").startswith(("#", "data:image/png;base64,"))
    assert "@import" not in _html(name) and "url(http" not in _html(name)
    policy = page.of("meta")[1]["content"]
    assert policy is not None and policy.startswith("default-src 'none'") and "script-src 'sha256-" in policy


def test_nothing_of_a_program_is_markup() -> None:
    page = Elements(_html("hostile"))
    assert page.of("img") == [] and len(page.of("script")) == 3
    assert EVIL.replace("\\22", '"') in page.text  # the location, as text
    assert "onerror" not in "".join(key for _, attributes in page.all for key in attributes)
    assert any(EVIL.partition("&")[0] in row[3] for row in _rows(_html("hostile")))
    assert Elements(_found("hostile")._repr_html_()).of("img") == []


def test_findings_come_first_with_values_and_places() -> None:
    html = _html("wrong")
    page = Elements(html)
    assert html.index('class="findings"') < html.index('id="rows"')
    for text in ("1 op is certainly wrong under the contract strict", "stablehlo.transpose %5", "<string>:12:8",
                 "512 of 512", "all 32", "python:tests.faulty:shifted"):  # fmt: skip
        assert text in page.text
    assert [row[2] for row in _rows(html)].count("wrong") == 1
    assert _found("wrong").setup.judge is not None


def test_groups_loops_and_failures_are_findings() -> None:
    assert "2 ops are certainly wrong under the contract strict, only together" in Elements(_html("group")).text
    assert "In turn 0 of the loop stablehlo.while" in Elements(_html("loop")).text
    numbers = [row[0] for row in _rows(_html("loop"))]
    assert numbers[:2] == ["0", "1"] and "1.2" in numbers
    assert "no such op" in Elements(_html("failed")).text
    assert "No difference" in Elements(_html("same")).text


def test_the_map_counts_the_elements_of_the_finding() -> None:
    """Both count what exceeds the bounds of an op whose operand may be computed again, unrounded."""
    type = "tensor<2048xf32>"
    text = f"""func.func @main(%x: {type}, %y: {type}) -> {type} {{
      %0 = stablehlo.multiply %x, %y : {type}
      %1 = stablehlo.tanh %0 : {type}
      return %1 : {type}
    }}"""
    draw = np.random.default_rng(0)
    inputs = [draw.normal(size=2048).astype(np.float32) for _ in range(2)]
    found = compare(text, "python:tests.faulty:tf32:stablehlo.tanh", "xla-cpu", inputs)
    assert found.suspects[0].excess is not None
    page = Elements(found.to_html()).text
    assert f"Where it differs: {found.suspects[0].excess.count} of 2048 elements" in page


def test_notebooks_show_the_findings() -> None:
    html = _found("wrong")._repr_html_()
    page = Elements(html)
    assert "stablehlo.transpose %5" in page.text and page.of("script") == [] and page.of("a") == []
    assert len(html) < 12_000


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(module: str) -> None:
        raise ImportError(f"{module} is not installed")

    monkeypatch.setattr("stablehlo_ref.debug.report.page.require", missing)
    monkeypatch.setattr("stablehlo_ref.debug.report.page._templates", lambda: missing("jinja2"))
    with pytest.raises(ImportError, match="jinja2 is not installed"):
        _found("wrong").to_html()
    assert _found("wrong")._repr_html_().startswith("<pre>certainly wrong: stablehlo.transpose %5 at &lt;string&gt;")


def test_maps_have_the_share_of_each_cell() -> None:
    where = np.zeros((96, 4), bool)
    where[3, 2] = True
    assert shares(where).shape == (48, 4) and shares(where)[1].tolist() == [0, 0, 0.5, 0]
    assert shares(np.ones((), bool)).tolist() == [[1.0]]
    assert len(bin_names()) == len(EDGES) + 1


def test_the_command_writes_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, page = tmp_path / "layer.mlir", tmp_path / "report.html"
    program.write_text(LAYER)
    command = [
        "diff",
        str(program),
        "--backend",
        "python:tests.faulty:shifted:stablehlo.transpose",
        "--random-inputs",
        "0",
    ]
    assert main([*command, "--report", str(page)]) == 1
    assert f"wrote {page}" in capsys.readouterr().out
    assert "random; real ones show more" in Elements(page.read_text(encoding="utf-8")).text


# --- in a browser ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("report")
    path = folder / "report.html"
    path.write_text(_html("wrong"), encoding="utf-8")
    with Page(path, folder / "profile") as opened:
        yield opened


@needs_chromium
def test_shows_filters_and_sorts_in_a_browser(page: Page) -> None:
    assert page.messages == []  # no error, and nothing that the policy forbids
    shown = "[...document.querySelectorAll('#program tbody th')].map(cell => cell.textContent).join()"
    constant = next(int(row[0]) for row in _rows(_html("wrong")) if "stablehlo.constant" in row[3])
    order = [*(index for index in range(15) if index != constant), constant]
    assert page.evaluate(shown) == ",".join(map(str, order))  # what was not compared is last
    page.evaluate("document.querySelectorAll('#program th button')[1].click()")
    assert page.evaluate(shown).startswith("7,")
    sorted_by = "[...document.querySelectorAll('#program thead th')].map(cell => cell.ariaSort).join()"
    assert page.evaluate(sorted_by) == ",descending,,,,,,"
    page.evaluate("document.querySelectorAll('#program th button')[0].click()")
    for field, value, expected in (("text", "tanh 24:", "4"), ("verdict", "wrong", "7"), ("error", "1", "7")):
        page.evaluate(f"document.getElementById('filter-{field}').value = '{value}'; arrange = new Event('input', "
                      "{bubbles: true}); document.getElementById('filters').dispatchEvent(arrange)")  # fmt: skip
        assert page.evaluate(shown) == expected
        assert page.evaluate("document.getElementById('shown').textContent") == "1 of 15 ops"
        page.evaluate("document.getElementById('filters').reset(); new Promise(done => setTimeout(done, 20))")


@needs_chromium
def test_links_and_keys_choose_ops_in_a_browser(page: Page) -> None:
    page.evaluate("document.querySelector('.findings a[data-op]').click()")
    focused = "document.activeElement.id"
    assert page.evaluate(focused) == "op-7"
    assert "expected 0." in page.evaluate("document.getElementById('details').textContent")
    page.press("ArrowDown", "ArrowDown")
    assert page.evaluate(focused) == "op-9"
    page.press("Home")
    assert page.evaluate(focused) == "op-0"
    page.press("End")
    assert page.evaluate(focused) == "op-5"  # the constant, which is not compared
    assert page.evaluate("document.querySelectorAll('#program tr[tabindex=\"0\"]').length") == 1


@needs_chromium
def test_a_hostile_page_runs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(_html("hostile"), encoding="utf-8")
    with Page(path, tmp_path / "profile") as opened:
        assert opened.messages == []
        assert opened.evaluate("document.querySelectorAll('img').length") == 0
        assert EVIL.partition("&")[0] in opened.evaluate("document.querySelector('#program tbody').textContent")


MANY = 20_000


@needs_chromium
def test_many_ops_stay_fluent_in_a_browser(tmp_path: Path) -> None:
    """The limits are those of a person who waits; 0.03 s to filter, and 0.6 s to load, were measured."""
    html = _html("wrong")
    row = next(row for row in _rows(html) if row[2] == "wrong")
    rows = [[str(index), index % 7, "legal", f"%{index} = stablehlo.tanh %x", *row[4:]] for index in range(MANY)]
    path = tmp_path / "many.html"
    path.write_text(re.sub(r'(?<=id="rows">)[^<]*', _compressed(rows), html), encoding="utf-8")
    with Page(path, tmp_path / "profile") as opened:
        assert opened.evaluate("document.querySelectorAll('*').length") < 2_000
        opened.evaluate("document.getElementById('filter-text').value = '%19999'")
        find = "document.getElementById('filters').dispatchEvent(new Event('input'))"
        assert opened.evaluate(f"start = performance.now(); {find}; performance.now() - start") < 1_000
        assert opened.evaluate("document.getElementById('shown').textContent") == f"1 of {MANY} ops"
        opened.evaluate("document.getElementById('filters').reset(); new Promise(done => setTimeout(done, 20))")
        opened.evaluate(
            "document.querySelector('#program').scrollTop = 1e7; new Promise(done => setTimeout(done, 500))"
        )
        assert opened.evaluate("document.querySelector('#program tbody tr:last-child th').textContent") == str(MANY - 1)
