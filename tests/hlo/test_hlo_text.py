"""HLO text as an input: values calculated by hand."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hlo_modules import instruction, run

import stablehlo_ref as sr

F32 = np.float32


# --- literals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "literal", "expected"),
    [
        ("f32[]", "5", F32(5)),
        ("f32[3]{0}", "{1, -0, nan}", np.array([1, -0.0, np.nan], F32)),
        ("f32[2,2]{1,0}", "{ { inf, -inf }, { 1e-40, 3.5 } }", np.array([[np.inf, -np.inf], [1e-40, 3.5]], F32)),
        ("f32[2,1,2]{2,1,0}", "{ { /*i0=0 */{1, 2} }, { /*i0=1*/ {3, 4} } }", np.array([[[1, 2]], [[3, 4]]], F32)),
        ("f32[2,3]{0,1}", "7", np.full((2, 3), 7, F32)),
        ("f32[0]{0}", "{}", np.zeros(0, F32)),
        ("f32[2,0]{1,0}", "{ {}, {} }", np.zeros((2, 0), F32)),
        ("pred[]", "true", np.True_),
        ("pred[2]{0}", "{1, false}", np.array([True, False])),
        ("s8[2]{0}", "{-128, 127}", np.array([-128, 127], np.int8)),
        ("u64[1]{0}", "{18446744073709551615}", np.array([2**64 - 1], np.uint64)),
        ("s4[2]{0}", "{-8, 7}", np.array([-8, 7], ml_dtypes.int4)),
        ("bf16[2]{0}", "{1.5, 0.1}", np.array([1.5, 0.1], ml_dtypes.bfloat16)),
        ("f8e4m3fn[2]{0}", "{448, nan}", np.array([448, np.nan], ml_dtypes.float8_e4m3fn)),
        ("c64[]", "(1, -2)", np.complex64(1 - 2j)),
        ("c128[2]{0}", "{(1, inf), (nan, 0.1)}", np.array([complex(1, np.inf), complex(np.nan, 0.1)])),
    ],
)
def test_literals(shape: str, literal: str, expected: Any) -> None:
    (result,) = run(f"  ROOT %c = {shape} constant({literal})")
    assert result.dtype == np.asarray(expected).dtype and result.shape == np.asarray(expected).shape
    assert np.asarray(result).tobytes() == np.asarray(expected).tobytes()


def test_the_bits_of_a_nan() -> None:
    (result,) = run("  ROOT %c = f32[2]{0} constant({nan(0x412345), -nan})")
    assert result.view(np.uint32).tolist() == [0x7FC12345, 0xFFC00000]


@pytest.mark.parametrize(
    ("shape", "literal", "message"),
    [
        ("f32[2]{0}", "{1, 2, 3}", "expected 2 elements of tensor<2xf32>, got 3"),
        ("f32[2,2]{1,0}", "{ {1, 2, 3}, {4} }", "expected elements in braces as of shape (2, 2)"),
        ("f32[2]{0}", "{1, x}", "expected an element of f32, got 'x'"),
        ("s8[]", "128", "expected an element of i8, got '128'"),
        ("u8[]", "-1", "expected an element of ui8, got '-1'"),
        ("pred[]", "2", "expected an element of i1, got '2'"),
        ("c64[]", "1", "expected an element of complex<f32>, got '1'"),
        ("f32[1000000000,1000000000]{1,0}", "{1}", "expected 1000000000000000000 elements"),
        ("f32[2]{0}", "{...}", "the elements are left out; print the module with `print_large_constants=True`"),
        ("s32[]", "1" * 500, "expected an element of i32"),
    ],
)
def test_bad_literals(shape: str, literal: str, message: str) -> None:
    found = instruction(f"ROOT %c = {shape} constant({literal})")
    assert message in found and found.startswith("<string>:4:")


def test_a_splat_needs_no_memory() -> None:
    program = sr.parse("HloModule m\nENTRY e {\n ROOT c = f32[1000000,1000000,1000]{2,1,0} constant(3)\n}")
    (constant,) = [op for op in program.module.walk() if op.name == "stablehlo.constant"]
    assert constant.properties["value"].array.strides == (0, 0, 0)


# --- ops --------------------------------------------------------------------------------------------------------------


def test_a_bitcast_reads_bytes_in_the_order_of_layouts() -> None:
    x = np.arange(6, dtype=F32).reshape(2, 3)
    (same,) = run("  %x = f32[2,3]{1,0} parameter(0)\n  ROOT %b = f32[3,2]{1,0} bitcast(%x)", x)
    assert same.tolist() == [[0, 1], [2, 3], [4, 5]]
    (transposed,) = run("  %x = f32[2,3]{1,0} parameter(0)\n  ROOT %b = f32[3,2]{0,1} bitcast(%x)", x)
    assert transposed.tolist() == x.T.tolist()
    (column,) = run("  %x = f32[2,3]{0,1} parameter(0)\n  ROOT %b = f32[6]{0} bitcast(%x)", x)
    assert column.tolist() == [0, 3, 1, 4, 2, 5]
    (bits,) = run("  %x = f32[2,3]{1,0} parameter(0)\n  ROOT %b = s32[2,3]{1,0} bitcast(%x)", x)
    assert bits.tolist() == x.view(np.int32).tolist()


def test_layouts_do_not_change_other_ops() -> None:
    x = np.arange(6, dtype=F32).reshape(2, 3)
    body = """
  %x = f32[2,3]{0,1:T(8,128)S(5)} parameter(0)
  %c = f32[2,3]{1,0} copy(%x)
  ROOT %r = f32[6]{0} reshape(f32[2,3]{1,0} %c)"""
    assert run(body, x)[0].tolist() == [0, 1, 2, 3, 4, 5]
    text = str(
        sr.parse("HloModule m\nENTRY e {\n x = f32[2,3]{1,0} parameter(0)\n ROOT y = f32[2,3]{0,1} negate(x)\n}")
    )
    assert 'xla_shape = "tensor<2x3xf32>{0,1}"' in text


def test_tuples_are_flattened() -> None:
    body = """
  %p = (f32[], (s32[], f32[2]{0})) parameter(0)
  %q = f32[] parameter(1)
  %inner = (s32[], f32[2]{0}) get-tuple-element(%p), index=1
  %v = f32[2]{0} get-tuple-element(%inner), index=1
  ROOT %t = (f32[2]{0}, (), (f32[], s32[])) tuple(%v, %empty, %pair)"""
    body = body.replace("  ROOT", "  %empty = () tuple()\n  %n = s32[] get-tuple-element(%inner), index=0\n"
                        "  %pair = (f32[], s32[]) tuple(%q, %n)\n  ROOT")  # fmt: skip
    results = run(body, F32(1), np.int32(2), np.array([3, 4], F32), F32(5))
    assert [x.tolist() for x in results] == [[3, 4], 5, 2]


def test_branches_take_operands_of_their_own() -> None:
    branches = """
%twice (a: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  ROOT %s = f32[] add(%a, %a)
}

%first (b: (f32[], f32[])) -> f32[] {
  %b = (f32[], f32[]) parameter(0)
  ROOT %g = f32[] get-tuple-element(%b), index=0
}
"""
    body = """
  %p = {type}[] parameter(0)
  %x = f32[] parameter(1)
  %y = f32[] constant(-1)
  %t = (f32[], f32[]) tuple(%y, %x)
  ROOT %c = f32[] conditional(%p, %x, %t), {names}"""
    of_booleans = body.format(type="pred", names="true_computation=%twice, false_computation=%first")
    assert [float(run(of_booleans, np.bool_(p), F32(3), before=branches)[0]) for p in (True, False)] == [6, -1]
    of_numbers = body.format(type="s32", names="branch_computations={%twice, %first}")
    assert [float(run(of_numbers, np.int32(p), F32(3), before=branches)[0]) for p in (0, 1, 7)] == [6, -1, -1]


def test_loops_fusions_and_asynchronous_calls() -> None:
    before = """
%body (s: (s32[], f32[])) -> (s32[], f32[]) {
  %s = (s32[], f32[]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %v = f32[] get-tuple-element(%s), index=1
  %w = f32[] multiply(%v, %v)
  ROOT %r = (s32[], f32[]) tuple(%next, %w)
}

%condition (s.1: (s32[], f32[])) -> pred[] {
  %s.1 = (s32[], f32[]) parameter(0)
  %i.1 = s32[] get-tuple-element(%s.1), index=0
  %three = s32[] constant(3)
  ROOT %l = pred[] compare(%i.1, %three), direction=LT
}

%halve (h: f32[]) -> f32[] {
  %h = f32[] parameter(0)
  %half = f32[] constant(0.5)
  ROOT %m = f32[] multiply(%h, %half)
}
"""
    body = """
  %x = f32[] parameter(0)
  %zero = s32[] constant(0)
  %start = (s32[], f32[]) tuple(%zero, %x)
  %loop = (s32[], f32[]) while(%start), condition=%condition, body=%body
  %y = f32[] get-tuple-element(%loop), index=1
  %f = f32[] fusion(%y), kind=kLoop, calls=%halve, backend_config={"outer":["1"]}
  %async = ((f32[]), f32[], u32[]) async-start(%f), calls=%halve, async_execution_thread="main"
  %update = ((f32[]), f32[], u32[]) async-update(%async)
  %done = f32[] async-done(%update)
  %copy = (f32[], f32[], u32[]) copy-start(%done)
  ROOT %z = f32[] copy-done(%copy)"""
    assert float(run(body, F32(2), before=before)[0]) == 2.0**8 / 4


def test_windows_with_all_fields() -> None:
    add = "%add (a: f32[], b: f32[]) -> f32[] {\n %a = f32[] parameter(0)\n %b = f32[] parameter(1)\n" \
          " ROOT %s = f32[] add(%a, %b)\n}"  # fmt: skip
    body = """
  %x = f32[4]{0} parameter(0)
  %zero = f32[] constant(0)
  ROOT %r = f32[3]{0} reduce-window(%x, %zero), window={WINDOW}, to_apply=%add"""
    body = body.replace("WINDOW", "size=2 stride=2 pad=1_0 lhs_dilate=2 rhs_dilate=3")
    # of 0 1 0 2 0 3 0 4, elements 0 and 3, 2 and 5, 4 and 7
    assert run(body, np.array([1, 2, 3, 4], F32), before=add)[0].tolist() == [2, 3, 4]
    body = body.replace("pad=1_0", "pad=0_1")
    # of 1 0 2 0 3 0 4 0
    assert run(body, np.array([1, 2, 3, 4], F32), before=add)[0].tolist() == [1, 2, 3]
    conv = """
  %x = f32[1,1,3]{2,1,0} parameter(0)
  %k = f32[1,1,2]{2,1,0} constant({ { {1, 10} } })
  ROOT %r = f32[1,1,2]{2,1,0} convolution(%x, %k), window={size=2 rhs_reversal=1}, dim_labels=bf0_oi0->bf0"""
    assert run(conv, np.array([[[1, 2, 3]]], F32))[0].tolist() == [[[12, 23]]]


def test_padding_slices_and_pairs() -> None:
    x = np.array([1, 2, 3], F32)
    body = "  %x = f32[3]{0} parameter(0)\n  %z = f32[] constant(0)\n"
    assert run(f"{body}  ROOT %p = f32[5]{{0}} pad(%x, %z), padding=1_-1_1", x)[0].tolist() == [0, 1, 0, 2, 0]
    assert run(f"{body}  ROOT %s = f32[2]{{0}} slice(%x), slice={{[0:3:2]}}", x)[0].tolist() == [1, 3]
    values, indices = run("  %x = f32[3]{0} parameter(0)\n"
                          "  ROOT %t = (f32[2]{0}, s32[2]{0}) topk(%x), k=2, largest=true", x)  # fmt: skip
    assert (values.tolist(), indices.tolist()) == ([3, 2], [2, 1])


@pytest.mark.parametrize(
    ("shape", "line", "expected"),
    [
        ("f32[2,2]", "cholesky(%m), lower=true", [[2, 0], [1, 2]]),
        ("f32[2,1]", "triangular-solve(%l, %b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE", [[2], [1]]),
        ("f32[2,1]", "triangular-solve(%l, %b), left_side=true, lower=true, unit_diagonal=true", [[4], [0]]),
        ("f32[2,2]", "map(%m, %m), dimensions={0,1}, to_apply=%first", [[4, 2], [2, 5]]),
        ("f32[2,2]", "batch-norm-inference(%m, %v, %v, %v, %v), epsilon=0, feature_index=1", [[4, 2], [2, 5]]),
        ("s32[]", "get-dimension-size(%b), dimensions={0}", 2),
        ("f32[2,2]", "reduce-precision(%m), exponent_bits=8, mantissa_bits=1", [[4, 2], [2, 4]]),
        ("f32[2,2]", "reverse(%m), dimensions={1}", [[2, 4], [5, 2]]),
        ("f32[4,1]", "concatenate(%b, %b), dimensions={0}", [[4], [4], [4], [4]]),
        ("f32[1,2]", "dynamic-slice(%m, %one, %one), dynamic_slice_sizes={1,2}", [[2, 5]]),
        ("f32[2,2]", "dot(%m, %m), lhs_contracting_dims={1}, rhs_contracting_dims={1}", [[20, 18], [18, 29]]),
        ("f32[2,2]", "dot(%m, %m), lhs_batch_dims={0}, lhs_contracting_dims={}, rhs_batch_dims={0}", None),
        (
            "f32[2,2]",
            "dot(%m, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=dot_f32_f32_f32",
            None,
        ),
        ("f32[2]", "reduce(%m, %ten), dimensions={0}, to_apply=%minimum", [2, 2]),
        ("f32[2,2]", "broadcast(%v), dimensions={0}", [[1, 1], [1, 1]]),
        ("pred[2,2]", "compare(%m, %m), direction=GE, type=TOTALORDER", [[True, True], [True, True]]),
        ("f32[2,2]", "opt-barrier(%m)", [[4, 2], [2, 5]]),
    ],
)
def test_ops_one_by_one(shape: str, line: str, expected: Any) -> None:
    before = """
%first (a: f32[], b: f32[]) -> f32[] {
  ROOT %a = f32[] parameter(0)
  %b = f32[] parameter(1)
}

%minimum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] minimum(%a, %b)
}
"""
    body = f"""
  %m = f32[2,2]{{1,0}} constant({{ {{4, 2}}, {{2, 5}} }})
  %l = f32[2,2]{{1,0}} constant({{ {{2, 0}}, {{1, 2}} }})
  %b = f32[2,1]{{1,0}} constant({{ {{4}}, {{4}} }})
  %v = f32[2]{{0}} constant({{1, 1}})
  %one = s32[] constant(1)
  %ten = f32[] constant(10)
  ROOT %r = {shape} {line}"""
    if expected is None:  # of a type that the op does not have
        with pytest.raises(sr.InvalidError, match=r"<string>:\d+:8: error: 'stablehlo.dot_general' op"):
            run(body, before=before)
    else:
        assert run(body, before=before)[0].tolist() == expected


@pytest.mark.parametrize(("order", "expected"), [("PARTIAL", [False, False]), ("TOTAL", [True, True])])
def test_the_order_of_a_comparison(order: str, expected: list[bool]) -> None:
    body = f"""
  %x = f32[2]{{0}} constant({{-0, 1}})
  %y = f32[2]{{0}} constant({{0, nan}})
  ROOT %r = pred[2]{{0}} compare(%x, %y), direction=LT, order={order}"""
    assert run(body)[0].tolist() == expected


def test_random_numbers_of_an_algorithm() -> None:
    body = """
  %s = u64[2]{0} constant({1, 2})
  ROOT %r = (u64[2]{0}, u32[3]{0}) rng-bit-generator(%s), algorithm=ALGORITHM"""
    mlir = """func.func @main() -> tensor<3xui32> {
  %s = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = ALGORITHM : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
  return %1 : tensor<3xui32>
}"""
    for hlo, name in (("rng_three_fry", "THREE_FRY"), ("rng_philox", "PHILOX"), ("rng_default", "DEFAULT")):
        expected = sr.load(mlir.replace("ALGORITHM", name)).run()[0].tolist()
        assert run(body.replace("ALGORITHM", hlo))[1].tolist() == expected


def test_arguments_of_regions_are_numbered() -> None:
    """Comparators are recognized by the numbers of their arguments."""
    program = sr.load("""HloModule m

less {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  %c = s32[] parameter(2)
  %d = s32[] parameter(3)
  ROOT %r = pred[] compare(%a, %b), direction=LT, type=TOTALORDER
}

ENTRY %main {
  %x = f32[3]{0} parameter(0)
  %y = s32[3]{0} parameter(1)
  ROOT %s = (f32[3]{0}, s32[3]{0}) sort(%x, %y), dimensions={0}, is_stable=true, to_apply=less
}
""")
    blocks = [block for op in program.module.walk() for region in op.regions for block in region.blocks]
    assert [[a.index for a in block.arguments] for block in blocks] == [[], [0, 1], [0, 1, 2, 3]]
    keys, values = program.run(np.array([2, np.nan, -1], F32), np.array([0, 1, 2], np.int32))
    assert np.array_equal(values, [2, 0, 1]) and np.array_equal(keys[:2], [-1, 2])


def test_custom_calls() -> None:
    before = "%double (a: f32[]) -> f32[] {\n %a = f32[] parameter(0)\n ROOT %s = f32[] add(%a, %a)\n}"
    body = """
  %x = f32[] parameter(0)
  ROOT %r = (f32[], f32[]) custom-call(%x), custom_call_target="my.call", called_computations={%double}, CONFIG"""

    def handler(call: Any, x: Any) -> list[Any]:
        seen.append(call.backend_config)
        return [x, *call.computations[0](x)]

    seen: list[Any] = []
    configs = ('backend_config="a\\"b"', 'api_version=API_VERSION_TYPED_FFI, backend_config={n = 3 : i32, s = "t"}')
    for config in configs:
        text = f"HloModule m\n{before}\nENTRY %main {{\n{body.replace('CONFIG', config)}\n}}"
        results = sr.load(text).run(F32(3), custom_calls={"my.call": handler})
        assert [float(x) for x in results] == [3, 6]
    assert seen == ['a"b', {"n": 3, "s": "t"}]


def test_collective_ops_on_a_grid() -> None:
    text = """HloModule m, replica_count=4

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

ENTRY %main (x: f32[1]) -> (f32[1], f32[1], f32[2]) {
  %x = f32[1]{0} parameter(0)
  %sum = f32[1]{0} all-reduce(%x), replica_groups=GROUPS, to_apply=%add
  %moved = f32[1]{0} collective-permute(%x), source_target_pairs={{0,1},{1,0}}
  %both = f32[2]{0} all-gather(%x), replica_groups={{0,1},{2,3}}, dimensions={0}
  ROOT %t = (f32[1]{0}, f32[1]{0}, f32[2]{0}) tuple(%sum, %moved, %both)
}
"""
    inputs = [[np.array([n], F32)] for n in (1, 2, 10, 20)]
    sums = {"{{0,1},{2,3}}": [3, 3, 30, 30], "[2,2]<=[4]": [3, 3, 30, 30], "[2,2]<=[2,2]T(1,0)": [11, 22, 11, 22]}
    sums |= {"mesh['x'=2,'y'=2] {'y'}": [3, 3, 30, 30], "mesh['x'=2,'y'=2] {'x'}": [11, 22, 11, 22]}
    sums |= {"mesh['x'=4] {'x':(1)2}": [11, 22, 11, 22], "mesh['x'=4] {'x':(2)2}": [3, 3, 30, 30]}
    for groups, expected in sums.items():
        results = sr.parse(text.replace("GROUPS", groups)).run_parallel(inputs, num_replicas=4)
        assert [float(r[0][0]) for r in results] == expected
        assert [float(r[1][0]) for r in results] == [2, 1, 0, 0]
        assert [r[2].tolist() for r in results] == [[1, 2], [1, 2], [10, 20], [10, 20]]


@pytest.mark.parametrize("part", ["f32[]", "f32[1,2]{1,0}"])
def test_processes_exchange_the_elements_of_tuples(part: str) -> None:
    text = f"""HloModule m, replica_count=4

ENTRY %main (x: {part}, y: {part}) -> ({part}, {part}) {{
  %x = {part} parameter(0)
  %y = {part} parameter(1)
  ROOT %t = ({part}, {part}) all-to-all(%x, %y), replica_groups={{{{0,2}},{{3,1}}}}
}}
"""
    shape = () if part == "f32[]" else (1, 2)
    inputs = [[np.full(shape, n, F32), np.full(shape, 10 * n, F32)] for n in (1, 2, 3, 4)]
    results = sr.parse(text).run_parallel(inputs, num_replicas=4)
    assert [[float(array.flat[0]) for array in r] for r in results] == [[1, 3], [40, 20], [10, 30], [4, 2]]
    assert results[0][0].shape == shape


@pytest.mark.parametrize("operands", ["%x, %z", "%x"])
def test_exchanged_elements_have_one_type(operands: str) -> None:
    line = f"%z = f32[] constant(0)\n  ROOT %t = (f32[2,3]{{1,0}}, f32[2,3]{{1,0}}) all-to-all({operands})"
    assert "<string>:5:8: error: expected operands and results of one type" in instruction(line)


def test_a_composite_is_what_it_calls() -> None:
    before = """%double (a: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  ROOT %s = f32[] add(%a, %a)
}
"""
    called = 'to_apply=%double, is_composite=true, frontend_attributes={composite.name="my.double"}'
    body = f"  %x = f32[] parameter(0)\n  ROOT %y = f32[] call(%x), {called}"
    assert float(run(body, F32(3), before=before)[0]) == 6


@pytest.mark.parametrize("groups", ["mesh['x'=2,'y'=2] {'z'}", "mesh['x'=4] {'x','x'}", "mesh['x'=4] {'x':(3)2}"])
def test_axes_of_groups_are_checked(groups: str) -> None:
    op = f"ROOT %y = f32[2]{{0}} all-gather(%x), replica_groups={groups}, dimensions={{0}}"
    text = f"HloModule m\nENTRY %main (x: f32[1]) -> f32[2] {{\n  %x = f32[1]{{0}} parameter(0)\n  {op}\n}}\n"
    with pytest.raises(sr.MalformedError, match="axes of a mesh of at most 1048576 processes, that do not overlap"):
        sr.parse(text)


def test_names_and_locations_of_the_model() -> None:
    text = """HloModule m
FileNames
1 "model.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=3 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY %main.3 (x.1: f32[2]) -> f32[2] {
  %x.1 = f32[2]{0} parameter(0), metadata={op_name="weights"}
  ROOT %sin.1 = f32[2]{0} sine(%x.1), metadata={op_name="jit(f)/sin" stack_frame_id=1}
}
"""
    program = sr.parse(text)
    assert program.inputs[0].names == ("x.1", "weights")
    (sine,) = [op for op in program.module.walk() if op.name == "stablehlo.sine"]
    assert sine.model_location == "jit(f)/sin at model.py:7:3"
    assert (sine.location.line, sine.location.column) == (16, 8)
    assert program.run(weights=np.zeros(2, F32))[0].tolist() == [0, 0]
