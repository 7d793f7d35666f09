"""All independent errors of a text in one run: where the parser goes on, and which errors follow from others."""

from __future__ import annotations

import time

import pytest

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import MAX_ERRORS, Diagnostic
from stablehlo_ref.testing.expected import expectations

SCALAR = "(%x: tensor<f32>, %i: tensor<i32>)"


def errors(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(sr.StablehloError) as raised:
        sr.load(text)
    return raised.value.diagnostics


def assert_reports_expected(text: str) -> None:
    """Assert that the errors are those that the text expects."""
    expected = [(e.line, e.text) for e in expectations(text)]
    found = errors(text)
    assert [e.line for e in found] == [line for line, _ in expected], "\n".join(map(str, found))
    for error, (_, message) in zip(found, expected):
        assert message in error.message


def test_goes_on_at_the_next_op() -> None:
    assert_reports_expected("""
func.func @main(%x: tensor<4xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected a type, got 'float32'}}
  %0 = stablehlo.add %x, %x : tensor<4xfloat32>
  // expected-error@+1 {{unknown op 'stablehlo.ad'}}
  %1 = stablehlo.ad %0, %x : tensor<4xf32>
  %2 = stablehlo.multiply %1, %x : tensor<4xf32>
  // expected-error@+1 {{use of value '%i' expects different type than prior uses}}
  %3 = stablehlo.add %x, %i : tensor<4xf32>
  // expected-error@+1 {{sorted(permutation) == list(axes(operand))}}
  %4 = stablehlo.transpose %x, dims = [1] : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{use of undeclared SSA value name '%y'}}
  %5 = stablehlo.add %y, %3 : tensor<4xf32>
  // expected-error@+1 {{expected ',' or ')', got ':'}}
  %6 = "stablehlo.add"(%x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %6 : tensor<4xf32>
}
""")


def test_goes_on_inside_regions_and_after_them() -> None:
    assert_reports_expected(
        """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0:2 = stablehlo.while(%a = %x, %b = %x) : tensor<f32>, tensor<f32>
  cond {
    // expected-error@+1 {{expected ',' or '>'}}
    %c = stablehlo.constant dense<true> : tensor<i1
    stablehlo.return %c : tensor<i1>
  } do {
    // expected-error@+1 {{use of value '%b' expects different type than prior uses}}
    stablehlo.return %a, %b : tensor<f32>, tensor<f64>
  }
  %1 = "stablehlo.if"(%c) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  // expected-error@+1 {{expected '->'}}
  }) : (tensor<i1>)
  // expected-error@+1 {{0 <= iota_dimension < rank(output)}}
  %2 = stablehlo.iota dim = 1 : tensor<4xf32>
  return %1 : tensor<f32>
}
""".replace('"(%c) (', '"(%p) (').replace("(%x: tensor<f32>)", "(%x: tensor<f32>, %p: tensor<i1>)")
    )


def test_goes_on_at_the_next_function() -> None:
    assert_reports_expected(f"""
module {{
  // expected-error@+1 {{{{expected a type, got '<'}}}}
  func.func @a(%x: <f32>) -> tensor<f32> {{
    %0 = stablehlo.nothing %x
    return %0 : tensor<f32>
  }}
  func.func @b{SCALAR} {{
    %0 = stablehlo.abs %x : tensor<f32>
    return
  // expected-error@+1 {{{{expected '}}' before the next function}}}}
  func.func @c{SCALAR} {{
    %0 = call @a(%x) : (tensor<f32>) -> tensor<f64>
    call @b(%x, %i) : (tensor<f32>, tensor<i32>) -> ()
    // expected-error@+1 {{{{calls undefined function @d}}}}
    call @d() : () -> ()
    return
  }}
}}
""")


@pytest.mark.parametrize(
    "op",
    [
        '"stablehlo.if"(%p) ({\n    stablehlo.return\n  }, {\n    stablehlo.nothing %x\n  })',
        "stablehlo.abs %x,",
        "stablehlo.abs %x {a = 1 : tensor<f32>",
        "stablehlo.abs %x) : tensor<f32>",
        'stablehlo.custom_call @"f(%x) : (tensor<f32>) -> tensor<f32>',
        "stablehlo.constant dense<[1.0, 2.0> : tensor<2xf32>",
        "stablehlo.reduce(%x init: %x) across dimensions = [0] : (tensor<f32>) -> tensor<f32>\n"
        "   reducer(%a: tensor<f32>, %b: tensor<f32>)  {\n    stablehlo.return %a : tensor<f32>\n  }",
    ],
)
def test_an_error_has_no_consequences(op: str) -> None:
    """There is one error, in spite of what uses the value, and the one after it is found too."""
    found = errors(f"""
func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {{
  %0 = {op}
  %1 = stablehlo.abs %0 : tensor<f32>
  %2 = stablehlo.transpose %0, dims = [] : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.reshape %1 : (tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<f32>
}}
func.func @other(%x: tensor<f32>) {{
  %0 = stablehlo.abs %x : tensor<f64>
  return
}}
""")
    assert "'stablehlo.reshape' op (C2)" in "".join(e.message for e in found)
    assert "use of value '%x' expects different type" in found[-1].message
    assert len(found) <= 4, "\n".join(map(str, found))


def test_undeclared_names_in_text_that_was_skipped_are_no_errors() -> None:
    (error,) = errors("""
func.func @main() -> tensor<f32> {
  %0 = "stablehlo.if"( ({
    %1 = stablehlo.constant dense<1.0> : tensor<f32>
  }) : () -> ()
  return %1 : tensor<f32>
}
""")
    assert error.line == 3


def test_an_alias_with_an_error_is_reported_once() -> None:
    first, second = errors("""
#a = dense<[1, 2> : tensor<2xi32>
!t = tensor<4xfloat>
func.func @main(%x: !t) {
  %0 = stablehlo.constant #a
  %1 = stablehlo.constant {b = #a} dense<1> : tensor<i32>
  return
}
func.func @other(%x: !t) {
  return
}
""")
    assert (first.line, second.line) == (2, 3)


def test_element_types_under_other_names_stand_for_what_they_mean() -> None:
    assert_reports_expected("""
// expected-error@+2 {{expected a type, got 'float32'; did you mean 'f32'?}}
// expected-error@+1 {{expected a type, got 'u8'; did you mean 'ui8'?}}
func.func @main(%x: tensor<4xfloat32>, %y: tensor<u8>) -> tensor<4xf32> {
  // expected-error@+1 {{expected a type, got 'float32'; did you mean 'f32'?}}
  %0 = stablehlo.add %x, %x : tensor<4xfloat32>
  // expected-error@+1 {{expected a type, got 'float32'; did you mean 'f32'?}}
  %1 = stablehlo.add %x, %0 : tensor<4xfloat32>
  // expected-error@+1 {{expected a type, got 'int32'; did you mean 'i32'?}}
  %2 = stablehlo.convert %1 : (tensor<4xf32>) -> tensor<4xint32>
  %3 = stablehlo.add %2, %2 : tensor<4xi32>
  // expected-error@+1 {{unknown op 'stablehlo.ad'}}
  %4 = stablehlo.ad %y, %y : tensor<ui8>
  return %1 : tensor<4xf32>
}
""")


def test_errors_of_the_verifier_without_consequences() -> None:
    assert_reports_expected("""
func.func @main(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<5xf32> {
  // expected-error@+1 {{shape(result) == shape(operand)}}
  %0 = stablehlo.abs %x : (tensor<4xf32>) -> tensor<5xf32>
  %1 = stablehlo.reshape %0 : (tensor<5xf32>) -> tensor<4xf32>
  // expected-error@+1 {{is_unique(dimensions)}}
  %2 = stablehlo.reverse %1, dims = [0, 0] : tensor<4xf32>
  // expected-error@+1 {{sorted(permutation) == list(axes(operand))}}
  %3 = stablehlo.transpose %x, dims = [1] : (tensor<4xf32>) -> tensor<4xf32>
  %4 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    // expected-error@+1 {{op (C1)}}
    %5 = stablehlo.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<9xf32>
    stablehlo.return %5 : tensor<9xf32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<5xf32>
}
""")


def test_notes_say_where_operands_are_defined() -> None:
    (error,) = errors("""
func.func @main(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  %0:2 = stablehlo.while(%a = %x, %b = %y) : tensor<4xf32>, tensor<3xf32>
  cond {
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.multiply %b, %b : tensor<3xf32>
    %2 = "stablehlo.add"(%a, %1) : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
    stablehlo.return %a, %b : tensor<4xf32>, tensor<3xf32>
  }
  return
}
""")
    notes = [(note.severity, note.line, note.column, note.message) for note in error.definitions]
    assert notes == [
        ("note", 3, 26, "'%a' is defined here with type tensor<4xf32>"),
        ("note", 8, 5, "'%1' is defined here with type tensor<3xf32>"),
    ]
    assert str(error).count("is defined here") == 2


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("func.func @f(%x: tensor<f32>) {{\n  %0 = stablehlo.abs %x : tensor<i32>\n  return\n}}", 1, 14),
        ("func.func @f() {{\n  %0 = stablehlo.iota dim = 0 : tensor<2xf32>\n"
         "  %1 = stablehlo.abs %0 : tensor<i32>\n  return\n}}", 2, 3),
    ],
)  # fmt: skip
def test_conflicting_uses_name_the_definition(text: str, line: int, column: int) -> None:
    (error,) = errors(text.replace("{{", "{").replace("}}", "}"))
    assert [(n.line, n.column) for n in error.definitions] == [(line, column)]


def test_the_first_error_is_that_of_the_parser_alone() -> None:
    text = "func.func @f() {\n  %0 = stablehlo.nothing\n  %1 = stablehlo.abs %0 : tensor<?xf32\n}"
    assert [e.line for e in errors(text)] == [2, 3]


def test_text_shows_some_errors_and_counts_the_others() -> None:
    ops = "".join(f"  %{i} = stablehlo.nothing\n" for i in range(30))
    with pytest.raises(sr.MalformedError) as raised:
        sr.load(f"func.func @f() {{\n{ops}  return\n}}")
    assert len(raised.value.diagnostics) == 30
    assert str(raised.value).count("error:") == 20
    assert str(raised.value).endswith("\n10 more errors not shown")


COUNT = 3000
MANY = {
    "malformed ops": "func.func @f(%x: tensor<f32>) {\n" + "  %0 = stablehlo.abs %x : tensor<z>\n" * COUNT,
    "unknown ops": "func.func @f() {\n" + "".join(f"  stablehlo.broadcast_in_dam{i}\n" for i in range(COUNT)),
    "undeclared": "func.func @f() {\n" + "".join(f"  %{i} = stablehlo.abs %x{i} : tensor<f32>\n" for i in range(COUNT)),
    "open braces": "func.func @f() {\n" + "{\n" * COUNT,
    "open regions": 'func.func @f() {\n "stablehlo.if"(' + '"stablehlo.if"() ({\n' * COUNT,
    "closing braces": "func.func @f() {\n" + "}\n" * COUNT,
    "open dictionaries": "func.func @f(%x: tensor<f32>) {\n" + "  stablehlo.abs %x {\n" * COUNT,
    "commas": "func.func @f(%x: tensor<f32>) {\n" + "  %0 = stablehlo.add %x,\n" * COUNT,
    "functions": "func.func @f() {\n" * COUNT,
    "quotes": "func.func @f() {\n" + '  "\n' * COUNT,
    "one line": "func.func @f() { " + "%0 = stablehlo.abs %x : tensor<z> " * COUNT,
}


MANY |= {
    "missing symbols": "func.func @f() {\n"
    + "".join(f"  func.call @g{i}() : () -> ()\n" for i in range(COUNT)) + "  return\n}\n"
    + "".join(f"func.func private @f{i}() {{ return }}\n" for i in range(COUNT)),
}  # fmt: skip


@pytest.mark.parametrize("name", ["missing symbols", "undeclared"])
def test_many_errors_end_at_the_deadline(name: str) -> None:
    start = time.process_time()
    with pytest.raises(sr.StablehloError):
        sr.load(MANY[name], limits=sr.Limits(max_seconds=0.3))
    assert time.process_time() - start < 1.5


@pytest.mark.parametrize("text", MANY.values(), ids=MANY)
def test_recovery_takes_linear_time(text: str) -> None:
    start = time.process_time()
    assert len(errors(text)) <= MAX_ERRORS
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("func.func @f(%x: tensor<f32>) {\n  %0 = stable}hlo.abs %x : tensor<f32>\n"
         "  %1 = stablehlo.abs %0 : tensor<f32>\n  return\n}\n", 2),
        ('func.func @f(%p: tensor<i1>) -> tensor<i1> {\n\n    stablehlo.return %p : tensor<i1>\n  }, {\n'
         "    stablehlo.return %p : tensor<i1>\n  }) : (tensor<i1>) -> tensor<i1>\n  return %0 : tensor<i1>\n}\n", 4),
        ("ml_program.global private mutable @g(dense<1> : tensor<i32) : tensor<i32>\nfunc.func @f() {\n"
         "  %0 = ml_program.global_load @g : tensor<i32>\n  return\n}\n", 1),
    ],
)  # fmt: skip
def test_damaged_structure_has_few_consequences(text: str, line: int) -> None:
    found = errors(text)
    assert found[0].line == line
    assert len(found) <= 2, "\n".join(map(str, found))
    assert not any("undeclared" in error.message for error in found)
