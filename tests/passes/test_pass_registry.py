"""Pipelines of passes as text: syntax, options, suggestions for names that are not known."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

import stablehlo_ref as sr
from stablehlo_ref.passes.registry import BoundPass, Pass, PassOption, lookup, names, parse_pipeline

RUNS: list[tuple[str, dict[str, Any]]] = []


def recording(name: str, *options: PassOption) -> Pass:
    return Pass(name, f"records {name}", lambda module, **values: RUNS.append((name, values)), options)


PASSES = MappingProxyType(
    {
        p.name: p
        for p in (
            recording("cse"),
            recording("inline", PassOption("max-depth", int, "a number"), PassOption("keep", names, "names")),
            recording("symbol-dce"),
        )
    }
)


def parsed(text: str) -> list[tuple[str, dict[str, object]]]:
    return [(bound.definition.name, dict(bound.options)) for bound in parse_pipeline(text, PASSES)]


def rejection(text: str) -> str:
    with pytest.raises(sr.MalformedError) as caught:
        parse_pipeline(text, PASSES)
    return caught.value.diagnostics[0].message


@pytest.mark.parametrize(
    "text",
    [
        "cse,inline",
        " cse , inline ",
        "builtin.module(cse, inline)",
        "builtin.module(func.func(cse), inline)",
        "func.func(cse),builtin.module(inline)",
        "cse{},inline{}",
    ],
)
def test_passes_are_in_the_order_of_the_text(text: str) -> None:
    assert parsed(text) == [("cse", {}), ("inline", {})]


@pytest.mark.parametrize("text", ["", " ", "builtin.module()"])
def test_pipeline_may_be_empty(text: str) -> None:
    assert parsed(text) == []


def test_pass_may_be_repeated() -> None:
    assert parsed("cse, inline, cse") == [("cse", {}), ("inline", {}), ("cse", {})]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("inline{max-depth=3}", {"max_depth": 3}),
        ("inline{ max-depth=3 keep=f }", {"max_depth": 3, "keep": ("f",)}),
        ("inline{keep={f,g} max-depth=3}", {"max_depth": 3, "keep": ("f", "g")}),
        ("inline{keep=}", {"keep": ()}),
    ],
)
def test_options_are_parsed_and_named_as_in_python(text: str, options: dict[str, object]) -> None:
    assert parsed(text) == [("inline", options)]


def test_option_without_a_value_is_true() -> None:
    flag = recording("p", PassOption("flag", str, "a flag"))
    (bound,) = parse_pipeline("p{flag}", {"p": flag})
    assert bound.options == {"flag": "true"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("builtin.module(cse", "unbalanced parentheses in the pipeline 'builtin.module(cse'"),
        ("cse)", "unbalanced parentheses in the pipeline 'cse)'"),
        ("cse); inline(", "unexpected '; inline(' in the pipeline 'cse); inline('"),
        ("inline{keep=f", "expected '}' after the options of a pass"),
        (
            "inline{keep=f,g}",
            "unexpected '{keep=f,g}' in the pipeline 'inline{keep=f,g}'; "
            "expected options such as '{name=value name={a,b}}'",
        ),
        ("inlin", "unknown pass 'inlin'; did you mean 'inline'?"),
        ("symbol_dce", "unknown pass 'symbol_dce'; did you mean 'symbol-dce'?"),
        ("zzz", "unknown pass 'zzz'"),
        ("inline{max-deph=3}", "pass 'inline' has no option 'max-deph'; did you mean 'max-depth'?"),
        ("cse{zzz}", "pass 'cse' has no option 'zzz'"),
        ("inline{max-depth=x}", "option 'max-depth' of pass 'inline': invalid literal for int() with base 10: 'x'"),
    ],
)
def test_errors_say_what_is_wrong(text: str, message: str) -> None:
    assert rejection(text) == message


def test_lookup_finds_a_pass_by_its_name() -> None:
    assert lookup("cse", PASSES) is PASSES["cse"]


def test_bound_pass_runs_with_its_options() -> None:
    RUNS.clear()
    module = sr.parse("func.func @f() {\n return\n}\n").module
    BoundPass(PASSES["inline"], {"max_depth": 3})(module)
    PASSES["cse"].bind({})(module)
    assert RUNS == [("inline", {"max_depth": 3}), ("cse", {})]


@pytest.mark.parametrize(
    ("text", "expected"), [("a", ("a",)), ("a,b", ("a", "b")), ("{a, b}", ("a", "b")), ("{}", ()), ("", ())]
)
def test_names_are_separated_by_commas(text: str, expected: tuple[str, ...]) -> None:
    assert names(text) == expected
