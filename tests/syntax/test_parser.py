"""Operations, blocks, regions and values; every program is also printed and read back."""

from __future__ import annotations

import pytest

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import MalformedError, Source
from stablehlo_ref.dialects import register_all  # noqa: F401
from stablehlo_ref.ir.attributes import UNIT, EnumAttribute, IntegerAttribute, StructAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.lexer import MAX_NESTING
from stablehlo_ref.ir.locations import name_of
from stablehlo_ref.ir.types import FLOATS, TOKEN, FunctionType, IntegerType, tensor_type
from stablehlo_ref.syntax.parser import parse
from stablehlo_ref.syntax.printer import print_operation
from tests.compare import difference

F32 = tensor_type((), FLOATS["f32"])


def read(text: str) -> Operation:
    """Parse a module, and check that it reads back equal from every form."""
    module = parse(Source(text), allow_unregistered_dialect=True)
    for options in ({}, {"generic": True}, {"locations": True}, {"generic": True, "locations": True}):
        printed = print_operation(module, **options)
        again = parse(Source(printed, "printed"), allow_unregistered_dialect=True)
        assert difference(module, again, locations=options.get("locations", False)) is None, printed
    return module


def operations(text: str) -> list[Operation]:
    return read(text).regions[0].block.operations


def in_function(*lines: str, arguments: str = "%a: tensor<f32>, %b: tensor<f32>") -> list[Operation]:
    body = "\n  ".join(lines)
    (function,) = operations(f"func.func @f({arguments}) {{\n  {body}\n  return\n}}\n")
    return function.regions[0].block.operations


# --- the file -------------------------------------------------------------------------------------------------------


def test_wraps_a_list_of_operations_in_a_module():
    module = read("func.func private @f()\nfunc.func private @g()")
    assert module.name == "builtin.module"
    assert [op.properties["sym_name"] for op in module.regions[0].block.operations] == ["f", "g"]


def test_keeps_explicit_and_nested_modules():
    module = read('module @outer attributes {a.b = "c"} {\n  module {\n  }\n}\n')
    assert module.properties == {"sym_name": "outer"} and module.attributes == {"a.b": "c"}
    assert [op.name for op in module.walk()] == ["builtin.module", "builtin.module"]


@pytest.mark.parametrize("text", ["", "// nothing\n", "\ufeff\r\n  \r\n"])
def test_empty_file_is_an_empty_module(text):
    assert operations(text) == []


def test_skips_byte_order_mark_carriage_returns_and_comments():
    (function,) = operations("\ufeff// f\r\nfunc.func @f() { // open\r\n  return // done\r\n}\r\n")
    assert function.properties["sym_name"] == "f"


# --- functions ------------------------------------------------------------------------------------------------------


def test_function_with_all_optional_parts():
    (function,) = operations(
        'func.func private @"a b"(%x: tensor<f32> {m.n = 1 : i32} loc("args[0]"), %y: tensor<f32>)\n'
        "    -> (tensor<f32> {m.r}, tensor<f32>) attributes {no_inline} {\n"
        "  return %x, %y : tensor<f32>, tensor<f32>\n}\n"
    )
    properties, (x, y) = function.properties, function.regions[0].block.arguments
    assert properties["function_type"] == FunctionType((F32, F32), (F32, F32))
    assert properties["arg_attrs"] == ({"m.n": IntegerAttribute(1, IntegerType(32))}, {})
    assert properties["sym_visibility"] == "private" and properties["sym_name"] == "a b"
    assert (x.name, y.name, name_of(x.location), y.location) == ("x", "y", "args[0]", None)
    assert list(function.attributes) == ["no_inline"]


def test_declaration_has_a_region_without_blocks():
    (function,) = operations("func.func private @f(tensor<f32> {m.n}, tensor<f32>) -> tensor<f32>")
    assert function.regions[0].blocks == []


def test_generic_function():
    (function,) = operations(
        '"func.func"() <{sym_name = "f", function_type = (tensor<f32>) -> ()}> ({\n'
        '^bb0(%x: tensor<f32>):\n  "func.return"() : () -> ()\n}) : () -> ()\n'
    )
    assert function.properties == {"sym_name": "f", "function_type": FunctionType((F32,), ())}


def test_function_whose_block_names_the_arguments():
    """MLIR accepts argument types without names if the first block of the body has a label."""
    (function,) = operations(
        "func.func @f(tensor<f32> {m.n}) -> tensor<f32> {\n^bb0(%x: tensor<f32>):\n  return %x : tensor<f32>\n}\n"
    )
    (x,) = function.regions[0].block.arguments
    assert x.name == "x" and function.properties["arg_attrs"] == ({"m.n": UNIT},)
    assert function.properties["function_type"] == FunctionType((F32,), (F32,))


def test_call_with_and_without_dialect():
    ops = in_function("%0 = call @g(%a) : (tensor<f32>) -> tensor<f32>", "func.call @h() : () -> ()")
    assert [op.properties["callee"] for op in ops[:2]] == ["g", "h"]


# --- values ---------------------------------------------------------------------------------------------------------


def test_result_groups():
    first, second, _ = in_function(
        '%p:2, %q = "a.b"() : () -> (tensor<f32>, tensor<i1>, tensor<f32>)',
        '"a.c"(%p, %p#0, %p#1, %q, %q#0) : (tensor<f32>, tensor<f32>, tensor<i1>, tensor<f32>, tensor<f32>) -> ()',
    )
    p0, p1, q = first.results
    assert second.operands == [p0, p0, p1, q, q]
    assert [value.name for value in first.results] == ["p#0", "p#1", "q"]


def test_value_used_before_the_block_that_defines_it():
    (op, _) = in_function(
        '"a.b"() ({',
        '^entry:\n  "a.jump"()[^second, ^third] : () -> ()',
        '^third:\n  "a.use"(%v#1) : (tensor<f32>) -> ()',
        '^second(%w: i32):\n  %v:2 = "a.define"() : () -> (i1, tensor<f32>)',
        "}) : () -> ()",
    )
    entry, third, second = op.regions[0].blocks
    assert entry.operations[0].successors == ["second", "third"]
    assert third.operations[0].operands == [second.operations[0].results[1]]


def test_repeated_lines_in_sibling_regions_are_separate_ops():
    ops = in_function(
        "%0 = stablehlo.add %a, %b : tensor<f32>",
        "%1 = stablehlo.add %b, %0 : tensor<f32>",
        '%2:2 = "stablehlo.case"(%i) ({\n    %x = stablehlo.add %0, %1 : tensor<f32>',
        "  stablehlo.return %x, %x : tensor<f32>, tensor<f32>\n  }, {",
        "  %x = stablehlo.add %1, %1 : tensor<f32>\n    stablehlo.return %x, %x : tensor<f32>, tensor<f32>",
        "}) : (tensor<i32>) -> (tensor<f32>, tensor<f32>)",
        arguments="%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>",
    )
    first, second, case, _ = ops
    assert second.operands[1] is first.results[0]
    bodies = [region.block.operations[0] for region in case.regions]
    assert [op.operands for op in bodies] == [[first.results[0], second.results[0]], [second.results[0]] * 2]


# --- pretty forms ---------------------------------------------------------------------------------------------------


def test_location_is_that_of_the_op_name():
    first, *_ = in_function("%0 = stablehlo.add %a, %b : tensor<f32>")
    assert (first.location.line, first.location.column) == (2, 8)


@pytest.mark.parametrize(
    ("line", "members"),
    [
        ("%0 = stablehlo.constant dense<1.0> : tensor<f32>", {}),
        ("%0 = stablehlo.constant {m.n = 1 : i32} dense<1.0> : tensor<f32>", {}),
        ("%0 = stablehlo.constant() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>", {}),
        ("%0 = stablehlo.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>", {}),
        ("%0 = stablehlo.iota dim = 0 : tensor<4xi32>", {"iota_dimension": 0}),
        ("%0 = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>", {}),
        ("%0 = stablehlo.select %p, %a, %b : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<?xf32>", {}),
        ("%0 = stablehlo.complex %a, %b : tensor<complex<f32>>", {}),
        ("%0 = stablehlo.tuple %a, %p : tuple<tensor<f32>, tensor<i1>>", {}),
        ("%0 = stablehlo.get_tuple_element %t[1] : (tuple<i1, tensor<f32>>) -> tensor<f32>", {"index": 1}),
        (
            "%0 = stablehlo.slice %v [0:4:2, 1:3] : (tensor<4x4xf32>) -> tensor<2x2xf32>",
            {"start_indices": (0, 1), "limit_indices": (4, 3), "strides": (2, 1)},
        ),
        (
            "%0 = stablehlo.dynamic_slice %v, %i, %i, sizes = [1, 2]"
            " : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>",
            {"slice_sizes": (1, 2)},
        ),
        ("%0 = stablehlo.dynamic_slice %a, , sizes = [] : (tensor<f32>) -> tensor<f32>", {"slice_sizes": ()}),
        ("%0 = stablehlo.dynamic_slice %a, sizes = [] : (tensor<f32>) -> tensor<f32>", {"slice_sizes": ()}),
        (
            "%0 = stablehlo.concatenate %v, %v, dim = 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>",
            {"dimension": 1},
        ),
        (
            "%0 = stablehlo.dot_general %v, %v, batching_dims = [0] x [1], contracting_dims = [1] x [0],"
            " precision = [DEFAULT, HIGHEST] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>",
            {"lhs_batching_dimensions": (0,), "rhs_contracting_dimensions": (0,)},
        ),
        (
            "%0 = stablehlo.dot_general %v, %v, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32,"
            " rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,"
            " num_primitive_operations = 1, allow_imprecise_accumulation = false>"
            " : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>",
            {"lhs_precision_type": FLOATS["tf32"], "allow_imprecise_accumulation": False},
        ),
        (
            "%0 = stablehlo.convolution(%w, %w) dim_numbers = [b, 0, f]x[0, i, o]->[f, 0, b], window = {stride = [2],"
            " pad = [[1, 0]], lhs_dilate = [1], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64,"
            " feature_group_count = 1 : i64} : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>",
            {"output_batch_dimension": 2, "padding": ((1, 0),), "window_reversal": (True,)},
        ),
        ("%0 = stablehlo.reduce_precision %a, format = e5m10 : tensor<f32>", {"exponent_bits": 5, "mantissa_bits": 10}),
        ("stablehlo.custom_call @f(%a) {has_side_effect = true} : (tensor<f32>) -> ()", {"call_target_name": "f"}),
        (
            '%0 = stablehlo.composite "a.b" %a {decomposition = @g} : (tensor<f32>) -> tensor<f32>',
            {"name": "a.b"},
        ),
        ("%0:2 = stablehlo.optimization_barrier %a, %p : tensor<f32>, tensor<i1>", {}),
        ("stablehlo.optimization_barrier()", {}),
        ("%0 = stablehlo.after_all : !stablehlo.token", {}),
        ("%0 = stablehlo.cholesky %v, lower = true : tensor<4x4xf32>", {"lower": True}),
        ("check.expect_eq_const %a, dense<1.0> : tensor<f32>", {}),
        ("check.expect_almost_eq %a, %b, tolerance = 0.5 : tensor<f32>", {"tolerance": 0.5}),
    ],
)
def test_pretty_form_sets_members(line, members):
    arguments = (
        "%a: tensor<f32>, %b: tensor<f32>, %p: tensor<i1>, %i: tensor<i32>, %v: tensor<4x4xf32>, "
        "%w: tensor<1x2x3xf32>, %t: tuple<i1, tensor<f32>>"
    )
    op, _ = in_function(line, arguments=arguments)
    assert members.items() <= op.properties.items()


def test_while_regions_share_argument_names():
    loop, _ = in_function(
        "%0:2 = stablehlo.while(%x = %a, %y = %b) : tensor<f32>, tensor<f32> attributes {m.n}",
        "cond {\n    %p = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>",
        "  stablehlo.return %p : tensor<i1>",
        "} do {\n    stablehlo.return %y, %x : tensor<f32>, tensor<f32>\n  }",
    )
    cond, body = (region.block for region in loop.regions)
    assert body.operations[0].operands == body.arguments[::-1] and not set(cond.arguments) & set(body.arguments)


REDUCE = "across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>"


def test_reduce_that_applies_one_op():
    first, second, _ = in_function(
        f"%0 = stablehlo.reduce(%v init: %a) applies stablehlo.maximum {REDUCE}",
        f"%1 = stablehlo.reduce(%v init: %a) applies stablehlo.maximum {REDUCE}",
        arguments="%a: tensor<f32>, %v: tensor<4x4xf32>",
    )
    for op in (first, second):
        applied, returned = op.regions[0].block.operations
        assert applied.name == "stablehlo.maximum" and applied.operands == op.regions[0].block.arguments
        assert returned.operands == applied.results and applied.parent_op is op


def test_reduce_of_two_tensors_with_a_reducer():
    op, _ = in_function(
        "%0:2 = stablehlo.reduce(%v init: %a), (%v init: %b) across dimensions = [0, 1]"
        " : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)",
        ' reducer(%x: tensor<f32> loc("x"), %p: tensor<f32>) (%y: tensor<f32>, %q: tensor<f32>) {',
        "  stablehlo.return %x, %q : tensor<f32>, tensor<f32>\n  }",
        arguments="%a: tensor<f32>, %b: tensor<f32>, %v: tensor<4x4xf32>",
    )
    assert [a.name for a in op.regions[0].block.arguments] == ["x", "y", "p", "q"]
    assert [v.name for v in op.operands] == ["v", "v", "a", "b"]


# --- what has no class, and what a class cannot decode --------------------------------------------------------------


def test_op_without_a_class_keeps_properties_and_attributes():
    (op,) = operations('%0 = "mhlo.x"() <{p = #foo.bar<[1, {2}]>}> {q = 1 : i64} : () -> !stablehlo.token\n')
    assert list(op.properties) == ["p"] and list(op.attributes) == ["q"] and op.result_types == [TOKEN]


def test_rejects_unregistered_dialects_by_default():
    with pytest.raises(MalformedError, match="unregistered dialect"):
        parse(Source('"nobody.knows"() : () -> ()'))


def test_attribute_of_the_wrong_kind_is_kept_for_the_verifier():
    op, _ = in_function('%0 = "stablehlo.iota"() {iota_dimension = "a"} : () -> tensor<4xi32>')
    assert op.properties["iota_dimension"].attribute == "a"


def test_struct_and_enum_attributes_of_ops_without_a_class():
    (op,) = operations(
        '"mhlo.x"() {a = #stablehlo<precision HIGH>, b = #stablehlo.dot<lhs_batching_dimensions = [1]>} : () -> ()'
    )
    assert op.attributes["a"] == EnumAttribute("stablehlo", "precision", "HIGH")
    assert isinstance(op.attributes["b"], StructAttribute)


# --- size -----------------------------------------------------------------------------------------------------------


def test_parses_long_programs():
    lines = [f"%{i + 1} = stablehlo.add %{i}, %{i} : tensor<f32>" for i in range(20_000)]
    module = parse(Source("%0 = stablehlo.constant dense<1.0> : tensor<f32>\n" + "\n".join(lines) + "\n"))
    assert len(module.regions[0].block.operations) == 20_001


@pytest.mark.parametrize(
    ("opening", "middle", "closing"),
    [
        ('"x.y"() ({', "", "}) : () -> ()"),
        ("module {", "", "}"),
        ("func.func @f() {", "", "}"),
        ('"x.y"() : () -> ', "tuple<" * (MAX_NESTING - 2) + "i1" + ">" * (MAX_NESTING - 2), ""),
        ('"x.y"() {a = ', "[" * (MAX_NESTING - 2) + "]" * (MAX_NESTING - 2), "} : () -> ()"),
    ],
)
def test_limits_nesting(opening, middle, closing):
    times = 1 if middle else MAX_NESTING - 4  # a function in generic form has a dictionary with types
    read(opening * times + middle + closing * times)
    for deeper in (opening * 10_000, opening + "tuple<" * 10_000, opening + "[" * 10_000, opening + "{a=" * 10_000):
        with pytest.raises(MalformedError):
            parse(Source(deeper), allow_unregistered_dialect=True)


def test_limits_the_expansion_of_aliases():
    chain = "".join(f"!a{i + 1} = tuple<!a{i}, !a{i}>\n" for i in range(60))
    with pytest.raises(MalformedError, match="alias '!a13' expands beyond the limit of 10000 elements"):
        parse(Source("!a0 = i1\n" + chain))


@pytest.mark.parametrize(
    ("written", "older"),
    [
        ("func.call @f(%x) <no_inline> : (f32) -> f32", "func.call @f(%x) {no_inline} : (f32) -> f32"),
        (
            "%0 = math.isnan %x fastmath<fast> : f32",
            "%0 = math.isnan %x {fastmath = #arith.fastmath<fast>} : f32",
        ),
        (
            'memref.global "private" @g : memref<2xf32> = dense<1.0> alignment = 64',
            'memref.global "private" @g : memref<2xf32> = dense<1.0> {alignment = 64 : i64}',
        ),
    ],
)
def test_forms_of_attributes_that_earlier_versions_of_mlir_have_in_the_dictionary(written: str, older: str) -> None:
    """What is printed is the generic form, which all versions read."""
    program = "func.func @f(%x: f32) -> f32 {{\n{}\nreturn %x : f32\n}}" if "%x" in written else "{}"
    texts = [str(sr.parse(program.format(text))) for text in (written, older)]
    assert texts[0] == texts[1]
    assert any(text in texts[0] for text in ("<{callee = @f}> {no_inline}", "<{alignment = 64", "<{fastmath = "))


@pytest.mark.parametrize(
    ("written", "implied"),
    [
        (
            '"arith.addi"(%i, %i) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32',
            "arith.addi %i, %i : i32",
        ),
        ('"arith.trunci"(%i) <{overflowFlags = #arith.overflow<none>}> : (i32) -> i8', "arith.trunci %i : i32 to i8"),
        ('"arith.addf"(%x, %x) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32', "arith.addf %x, %x : f32"),
        ('"arith.negf"(%x) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32', "arith.negf %x : f32"),
        ('"math.sin"(%x) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32', "math.sin %x : f32"),
    ],
)
def test_flags_that_say_none_are_those_that_are_left_out(written: str, implied: str) -> None:
    program = "func.func @f(%i: i32, %x: f32) {{\n%0 = {}\nreturn\n}}"
    explicit, omitted = (sr.parse(program.format(text)).verify() for text in (written, implied))
    assert difference(explicit.module, omitted.module) is None
    assert str(explicit) == str(omitted)


def test_cases_of_a_switch_may_be_written_without_a_sign() -> None:
    """MLIR prints -2 of type i32 as 4294967294."""
    text = "func.func @f(%i: i32) {{\ncf.switch %i : i32, [default: ^a, {}: ^a]\n^a:\nreturn\n}}"
    signed, unsigned = (sr.parse(text.format(value)).module for value in (-2, 4294967294))
    assert difference(signed, unsigned) is None
