"""The Python API: loading, signatures, arguments, errors."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.ir.core import Operation

ADD = """\
func.func @main(%x: tensor<2xf32> loc("args[0]"), %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %y : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
ONE, TWO = np.array([1, 2], np.float32), np.array([10, 20], np.float32)


def failing(**arguments: object) -> str:
    program = sr.load(ADD)
    with pytest.raises(sr.EvaluationError) as caught:
        program.run(**arguments)
    return caught.value.diagnostics[0].message


def test_arguments_by_position_and_by_name() -> None:
    program = sr.load(ADD)
    expected = np.array([11, 22], np.float32)
    for results in (
        program.run(ONE, TWO),
        program.run(y=TWO, x=ONE),
        program.run(ONE, y=TWO),
        program.run(**{"args[0]": ONE, "y": TWO}),
    ):
        assert len(results) == 1
        np.testing.assert_array_equal(results[0], expected)
        assert results[0].dtype == np.float32


def test_errors_name_the_wrong_argument() -> None:
    assert failing(x=ONE) == "@main takes 2 arguments, but 1 is given (missing: y)"
    assert failing(x=ONE, z=TWO) == "@main has no argument 'z'; it has x (args[0]), y"
    assert failing(x=ONE, y=TWO.astype(np.float64)) == (
        "argument 'y': expected dtype float32 for tensor<2xf32>, got float64; to convert it, write x.astype(np.float32)"
    )
    assert failing(x=ONE, y=np.ones(3, np.float32)) == "argument 'y': expected shape (2,) for tensor<2xf32>, got (3,)"


def test_inputs_and_outputs_have_names_types_and_locations() -> None:
    program = sr.load(ADD)
    first, second = program.inputs
    assert (first.name, str(first.type), first.names) == ("x", "tensor<2xf32>", ("x", "args[0]"))
    assert (second.name, second.location.line if second.location else None) == ("y", 1)
    assert [str(p.type) for p in program.outputs] == ["tensor<2xf32>"]
    assert list(program.functions) == ["main"]


def test_argument_may_be_named_self() -> None:
    text = ADD.replace("%x", "%self").replace("%y", "%context").replace("@main", "@other")
    program = sr.load(text)
    np.testing.assert_array_equal(program.run(self=ONE, context=TWO)[0], ONE + TWO)


def test_name_in_the_text_takes_precedence_over_location() -> None:
    crossed = ADD.replace('loc("args[0]")', 'loc("y")').replace("%y: tensor<2xf32>)", "%y: tensor<2xf32> loc(#l))")
    program = sr.load(crossed.replace("stablehlo.add", "stablehlo.subtract") + '#l = loc("x")\n')
    assert [p.names for p in program.inputs] == [("x", "y"), ("y", "x")]
    np.testing.assert_array_equal(program.run(x=TWO, y=ONE)[0], TWO - ONE)


def test_arguments_of_bounded_and_of_unsupported_types() -> None:
    bounded = sr.load(ADD.replace("2xf32>", "?xf32, #stablehlo.bounds<2>>"))
    np.testing.assert_array_equal(bounded.run(ONE, TWO)[0], ONE + TWO)
    with pytest.raises(sr.EvaluationError, match="argument 'x': expected shape"):
        bounded.run(np.ones(3, np.float32), np.ones(3, np.float32))
    identity = sr.load("func.func @main(%x: tensor<2xtf32>) -> tensor<2xtf32> {\n return %x : tensor<2xtf32>\n}")
    with pytest.raises(sr.UnsupportedError, match="argument 'x': unsupported element type tf32"):
        identity.run(ONE)


def test_entry_can_be_chosen() -> None:
    text = ADD + ADD.replace("@main", "@twice").replace("%x, %y", "%x, %x")
    program = sr.load(text, entry="twice")
    np.testing.assert_array_equal(program.run(ONE, TWO)[0], ONE * 2)
    np.testing.assert_array_equal(program.with_entry("main").run(ONE, TWO)[0], ONE + TWO)
    with pytest.raises(sr.EvaluationError, match="there is no function @other; there are @main, @twice"):
        sr.load(text, entry="other").run()


def test_only_function_is_the_entry() -> None:
    one = ADD.replace("@main", "@one")
    assert sr.load(one).run(ONE, TWO)
    with pytest.raises(sr.EvaluationError, match="no function is called @main: choose one of @one, @two"):
        sr.load(one + ADD.replace("@main", "@two")).run(ONE, TWO)


def test_only_public_function_is_the_entry() -> None:
    helper = ADD.replace("@main", "private @helper")
    program = sr.load(helper + ADD.replace("@main", "@one"))
    assert program.entry.name == "one"
    assert sr.load(helper).entry.name == "helper"


def test_results_can_be_written_to() -> None:
    identity = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n return %x : tensor<2xf32>\n}"
    x = ONE.copy()
    (result,) = sr.load(identity).run(x)
    result[0] = 7
    np.testing.assert_array_equal(x, ONE)
    constant = (
        "func.func @main() -> tensor<2xf32> {\n %0 = stablehlo.constant dense<1.0> : tensor<2xf32>\n"
        " return %0 : tensor<2xf32>\n}"
    )
    program = sr.load(constant)
    program.run()[0][0] = 7
    np.testing.assert_array_equal(program.run()[0], np.ones(2, np.float32))


def test_operands_that_are_used_later_are_not_overwritten() -> None:
    text = """
    func.func @main(%x: tensor<4xf32>, %u: tensor<1xf32>, %i: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = stablehlo.add %x, %x : tensor<4xf32>
      %1 = stablehlo.dynamic_update_slice %0, %u, %i : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
      %2 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
      return %1, %2 : tensor<4xf32>, tensor<4xf32>
    }
    """
    x = np.arange(4, dtype=np.float32)
    first, second = sr.load(text).run(x, np.array([9], np.float32), np.array(2, np.int32))
    np.testing.assert_array_equal(first, [0, 2, 9, 6])
    np.testing.assert_array_equal(second, [0, 1, 9, 3])
    np.testing.assert_array_equal(x, np.arange(4))


def test_element_types_of_ml_dtypes() -> None:
    text = ADD.replace("f32", "bf16")
    x = np.array([1, 2], ml_dtypes.bfloat16)
    (result,) = sr.load(text).run(x, x)
    assert result.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(result.astype(np.float32), [2, 4])


def test_loads_from_paths_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    for source in (path, str(path), ADD.encode(), b"\xef\xbb\xbf" + ADD.encode()):
        np.testing.assert_array_equal(sr.load(source).run(ONE, TWO)[0], ONE + TWO)


def test_errors_show_location_line_and_caret(tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text(ADD.replace("%x, %y :", "%x, %z :"))
    with pytest.raises(sr.MalformedError) as caught:
        sr.load(path)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.severity, diagnostic.filename, diagnostic.line) == ("error", str(path), 2)
    first, line, caret = str(caught.value).splitlines()[:3]
    assert first.startswith(f"{path}:2:{diagnostic.column}: error: ")
    assert line == "  %0 = stablehlo.add %x, %z : tensor<2xf32>"
    assert caret.index("^") == (diagnostic.column or 0) - 1


def test_all_failed_checks_are_reported() -> None:
    text = """
    func.func @main() {
      %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
      check.expect_eq_const %0, dense<[1, 3]> : tensor<2xi32>
      check.expect_eq_const %0, dense<[1, 2]> : tensor<2xi32>
      check.expect_eq_const %0, dense<[0, 0]> : tensor<2xi32>
      return
    }
    """
    with pytest.raises(sr.EvaluationError) as caught:
        sr.load(text).run()
    assert [d.line for d in caught.value.diagnostics] == [4, 6]
    assert "1 of 2 elements differ" in caught.value.diagnostics[0].message
    assert caught.value.diagnostics[0].notes == ("at [1]: actual 2, expected 3",)


def test_recursion_stops_at_the_limit_of_depth() -> None:
    text = """
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = func.call @main(%x) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    """
    with pytest.raises(sr.EvaluationError, match="calls are nested deeper than the limit of 128"):
        sr.load(text).run(np.float32(1))


def test_endless_loop_stops_at_the_limits_of_steps_and_time() -> None:
    text = """
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.while(%a = %x) : tensor<f32>
        cond {
          %p = stablehlo.constant dense<true> : tensor<i1>
          stablehlo.return %p : tensor<i1>
        } do {
          stablehlo.return %a : tensor<f32>
        }
      return %0 : tensor<f32>
    }
    """
    with pytest.raises(sr.EvaluationError, match="more loop iterations and calls than the limit of 1000") as caught:
        sr.load(text, limits=sr.Limits(max_steps=1000)).run(np.float32(1))
    assert caught.value.diagnostics[0].line == 3
    with pytest.raises(sr.EvaluationError, match=r"longer than the limit of 0\.05 seconds"):
        sr.load(text).run(np.float32(1), limits=sr.Limits(max_seconds=0.05))


def test_tensor_larger_than_the_limit_is_not_allocated() -> None:
    text = """
    func.func @main() -> tensor<1000000x1000000x1000xf32> {
      %0 = stablehlo.iota dim = 0 : tensor<1000000x1000000x1000xf32>
      return %0 : tensor<1000000x1000000x1000xf32>
    }
    """
    with pytest.raises(sr.EvaluationError, match="is larger than the limit"):
        sr.load(text).run()


@pytest.mark.parametrize("op", ["iota dim = 1 :", "broadcast_in_dim %x, dims = [] : (tensor<f32>) ->"])
def test_empty_tensor_with_a_huge_dimension_is_an_error(op: str) -> None:
    """The size in bytes of one row is more than numpy can represent."""
    t = "tensor<0x9223372036854775807xf32>"
    text = f"func.func @main(%x: tensor<f32>) -> {t} {{ %0 = stablehlo.{op} {t} return %0 : {t} }}"
    with pytest.raises(sr.EvaluationError, match=r"numpy cannot represent the shape of tensor<0x") as caught:
        sr.parse(text).run(np.float32(1))
    assert caught.value.diagnostics[0].line == 1


def test_result_too_large_to_copy_is_an_error() -> None:
    text = """
    func.func @main() -> tensor<1000000000000xi1> {
      %0 = stablehlo.constant dense<true> : tensor<1000000000000xi1>
      return %0 : tensor<1000000000000xi1>
    }
    """
    with pytest.raises(sr.EvaluationError):
        sr.load(text).run()


def test_registered_handlers_of_custom_calls() -> None:
    text = """
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.custom_call @test.negate(%x) : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    """
    with pytest.raises(sr.UnsupportedError, match=r"no handler is registered for custom_call @test\.negate"):
        sr.load(text).run(ONE)
    sr.register_custom_call("test.negate", lambda call, x: [-x])
    np.testing.assert_array_equal(sr.load(text).run(ONE)[0], -ONE)
    sr.register_custom_call("test.negate", lambda call, x: [x.astype(np.float64)])
    with pytest.raises(sr.EvaluationError, match="got float64"):
        sr.load(text).run(ONE)


def raising(call: object, x: np.ndarray) -> list[np.ndarray]:
    raise KeyError("k")


@pytest.mark.parametrize(
    ("handler", "message"),
    [
        (raising, "the handler of custom_call @test.other raised KeyError: 'k'"),
        (lambda call, x: None, "returned None, not a sequence of values"),
        (lambda call, x: [], "returned 0 values, not 1"),
    ],
)
def test_errors_name_the_handler_that_failed(handler: Callable[..., list[np.ndarray]], message: str) -> None:
    sr.register_custom_call("test.other", handler)
    text = ADD.replace("stablehlo.add %x, %y :", "stablehlo.custom_call @test.other(%x) : (tensor<2xf32>) ->")
    with pytest.raises(sr.EvaluationError) as raised:
        sr.load(text).run(ONE, TWO)
    assert message in raised.value.diagnostics[0].message
    assert raised.value.diagnostics[0].line == 2


@pytest.mark.parametrize("operands", ["%x) : (tensor<2xf32>)", "%x, %s) : (tensor<2xf32>, tensor<f32>)"])
def test_check_of_values_of_different_types_is_an_error(operands: str) -> None:
    text = f"""
    func.func @main(%x: tensor<2xf32>, %s: tensor<f32>) {{
      stablehlo.custom_call @check.eq({operands} -> ()
      return
    }}
    """
    with pytest.raises(sr.EvaluationError, match=r"@check\.eq expected two operands of the same type, got \(t"):
        sr.load(text).run(np.ones(2, np.float32), np.float32(1))


def test_missing_computation_is_an_error_when_it_is_called() -> None:
    text = """
    func.func @main() {
      stablehlo.custom_call @test.calls() {called_computations = [@missing]} : () -> ()
      return
    }
    """
    program = sr.load(text)
    program.run(custom_calls={"test.calls": lambda call: []})
    with pytest.raises(sr.EvaluationError, match="there is no function @missing") as raised:
        program.run(custom_calls={"test.calls": lambda call: call.computations[0]()})
    assert raised.value.diagnostics[0].line == 3


def test_program_prints_as_mlir() -> None:
    program = sr.load(ADD)
    again = sr.load(str(program))
    np.testing.assert_array_equal(again.run(ONE, TWO)[0], ONE + TWO)
    assert str(again) == str(program)


def test_object_that_fails_to_convert_to_an_array_is_an_error() -> None:
    class Failing:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            raise RuntimeError("no")

    assert failing(x=Failing(), y=TWO) == "argument 'x': expected an array for tensor<2xf32>: no"


def test_huge_binary_file_is_rejected_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "zeros.mlir"
    with path.open("wb") as file:
        file.write(b"module {\n ")
        file.truncate(1 << 36)
    with pytest.raises(sr.MalformedError, match="neither UTF-8 text nor MLIR bytecode") as caught:
        sr.load(path)
    assert (caught.value.diagnostics[0].line, caught.value.diagnostics[0].column) == (2, 2)


def test_nothing_keeps_programs_that_have_run() -> None:
    def operations() -> int:
        gc.collect()
        return sum(isinstance(thing, Operation) for thing in gc.get_objects())

    before = operations()
    for op in ("tanh", "sine", "sqrt"):
        sr.parse(ADD.replace("add %x, %y", f"{op} %x")).run(ONE, TWO)
    assert operations() <= before
