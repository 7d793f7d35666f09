"""NaNs that ops compute have one sign and one payload; ops that move elements keep the bits of NaNs."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.numerics.nans import canonical_nans

NANS: dict[str, tuple[Any, int]] = {
    "f8E3M4": (ml_dtypes.float8_e3m4, 0x78),
    "f8E4M3": (ml_dtypes.float8_e4m3, 0x7C),
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, 0x7F),
    "f8E5M2": (ml_dtypes.float8_e5m2, 0x7E),
    "f16": (np.float16, 0x7E00),
    "bf16": (ml_dtypes.bfloat16, 0x7FC0),
    "f32": (np.float32, 0x7FC00000),
    "f64": (np.float64, 0x7FF8 << 48),
}
SIZES = ["", "1x", "37x", "3x500x", "9000x"]


def bits(x: Any) -> np.ndarray:
    x = np.ascontiguousarray(x)
    x = x.view(x.real.dtype) if x.dtype.kind == "c" else x
    return x.view(f"u{x.itemsize}")


def noisy_nans(element: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return numbers every third of which is a NaN with the sign bit set and another payload."""
    dtype, pattern = NANS[element]
    x = np.resize(np.array([1.5, -2.0, 0.25]), shape).astype(dtype)
    width = 8 * x.itemsize
    noisy = pattern | 1 << width - 1 | (1 if element != "f8E4M3FN" else 0)
    x.view(f"u{x.itemsize}").reshape(-1)[::3] = noisy
    return x


@pytest.mark.parametrize("element", NANS)
@pytest.mark.parametrize("sizes", SIZES)
def test_kernels_replace_nans(element: str, sizes: str) -> None:
    shape = tuple(int(n) for n in sizes.split("x") if n)
    x, pattern = noisy_nans(element, shape), NANS[element][1]
    result = canonical_nans(x.dtype)(x if x.ndim else x[()])
    nan = np.isnan(x)
    assert (bits(result)[np.atleast_1d(nan)] == pattern).all()
    assert (bits(result)[np.atleast_1d(~nan)] == bits(x)[np.atleast_1d(~nan)]).all()
    assert result.shape == x.shape and result.dtype == x.dtype


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_parts_of_complex_numbers(dtype: Any) -> None:
    x = np.full((3, 4), -np.nan + 2j, dtype).T
    result = canonical_nans(np.dtype(dtype))(x)
    assert result.shape == (4, 3) and (result.imag == 2).all()
    assert (bits(result.real) == bits(np.full((4, 3), np.nan, x.real.dtype))).all()


def test_arrays_without_nan_are_returned_themselves() -> None:
    for x in (np.array([1e38, np.inf, -np.inf, 0.0, 1e-45], np.float32), np.ones((2, 3))[:, ::2], np.ones(10000)):
        with np.errstate(all="ignore"):
            assert canonical_nans(x.dtype)(x) is x


def run(body: str, *operands: Any, result: str = "tensor<4xf32>", operand: str = "tensor<4xf32>") -> Any:
    arguments = ", ".join(f"%a{i}: {operand}" for i in range(len(operands)))
    return sr.load(f"func.func @main({arguments}) -> {result} {{ {body} return %r : {result} }}").run(*operands)[0]


T = "tensor<4xf32>"
INF = np.full(4, np.inf, np.float32)
PAYLOAD = np.full(4, 0xFFC12345, np.uint32).view(np.float32)
INVALID = "%x = stablehlo.subtract %a0, %a0 : tensor<4xf32>"


@pytest.mark.parametrize(
    "body",
    [
        f"%r = stablehlo.subtract %a0, %a0 : {T}",
        f"%r = stablehlo.add %a0, %a0 : {T}",
        f"%r = stablehlo.exponential %a0 : {T}",
        f"%r = chlo.erf %a0 : {T} -> {T}",
        f"%r = stablehlo.maximum %a0, %a0 : {T}",
        f"%r = stablehlo.custom_call @mhlo.erf(%a0) : ({T}) -> {T}",
        f"%x = stablehlo.sqrt %a0 : {T} %r = stablehlo.reverse %x, dims = [0] : {T}",
        f"""%x = stablehlo.sqrt %a0 : {T} %c = stablehlo.compare NE, %x, %x : ({T}, {T}) -> tensor<4xi1>
          %r = stablehlo.select %c, %x, %a0 : tensor<4xi1>, {T}""",
        f"""%x = stablehlo.sqrt %a0 : {T} %c = stablehlo.constant dense<false> : tensor<i1>
          %r = stablehlo.while(%i = %x) : {T} cond {{ stablehlo.return %c : tensor<i1> }}
          do {{ stablehlo.return %i : {T} }}""",
    ],
)
def test_computed_nans_are_canonical(body: str) -> None:
    assert (bits(run(body, PAYLOAD)) == 0x7FC00000).all()


@pytest.mark.parametrize(
    "body",
    [
        f"%r = stablehlo.reverse %a0, dims = [0] : {T}",
        f"%c = stablehlo.constant dense<true> : tensor<i1> %r = stablehlo.select %c, %a0, %a0 : tensor<i1>, {T}",
        f"%r = func.call @f(%a0) : ({T}) -> {T}",
    ],
)
def test_moved_nans_keep_their_bits(body: str) -> None:
    callee = f"func.func private @f(%x: {T}) -> {T} {{ return %x : {T} }}"
    text = f"func.func @main(%a0: {T}) -> {T} {{ {body} return %r : {T} }} {callee}"
    assert (bits(sr.load(text).run(PAYLOAD)[0]) == 0xFFC12345).all()


def test_overrides_of_composites_return_canonical_nans() -> None:
    text = f"""
    func.func @main(%x: {T}) -> {T} {{
      %0 = stablehlo.composite "my.op" %x {{decomposition = @f}} : ({T}) -> {T}
      return %0 : {T}
    }}
    func.func private @f(%x: {T}) -> {T} {{ return %x : {T} }}"""
    stored = PAYLOAD.copy()
    (result,) = sr.load(text).run(PAYLOAD, overrides={"my.op": lambda x: stored})
    assert (bits(result) == 0x7FC00000).all()
    assert (bits(stored) == 0xFFC12345).all()  # what the function keeps is its own
    assert (bits(sr.load(text).run(PAYLOAD)[0]) == 0xFFC12345).all()


@pytest.mark.parametrize("element", ["f32", "f64", "bf16", "complex<f32>"])
def test_large_results_that_are_tested_in_parts(element: str) -> None:
    shape, dtype = (3, 200_001), np.dtype(np.complex64 if element not in NANS else NANS[element][0])
    x = (np.arange(600_003) % 128).reshape(shape).astype(dtype)
    x[0, 5] = x[2, 200_000] = np.inf
    type = f"tensor<3x200001x{element}>"
    for operand in (x, np.asfortranarray(x)):
        result = run(f"%r = stablehlo.subtract %a0, %a0 : {type}", operand, result=type, operand=type)
        parts = np.asarray(result).view(np.float32) if dtype.kind == "c" else np.asarray(result)
        is_nan = np.isnan(parts)
        assert is_nan.sum() == 2 and not parts[~is_nan].any()
        assert (bits(parts[is_nan]) == NANS.get(element, NANS["f32"])[1]).all()


def test_sign_bit_operations() -> None:
    assert (bits(run(f"%r = stablehlo.negate %a0 : {T}", PAYLOAD)) == 0x7FC12345).all()
    assert (bits(run(f"%r = stablehlo.abs %a0 : {T}", PAYLOAD)) == 0x7FC12345).all()
    assert (bits(run(f"{INVALID} %r = stablehlo.negate %x : {T}", INF)) == 0xFFC00000).all()


def test_bitcasts_and_total_order_see_canonical_nans() -> None:
    body = f"{INVALID} %r = stablehlo.bitcast_convert %x : ({T}) -> tensor<4xi32>"
    assert (run(body, INF, result="tensor<4xi32>") == 0x7FC00000).all()
    for operand in ("%x, %a0", "%a0, %x"):
        total = f"{INVALID} %r = stablehlo.compare GT, {operand}, TOTALORDER : ({T}, {T}) -> tensor<4xi1>"
        assert (run(total, INF, result="tensor<4xi1>") == (operand == "%x, %a0")).all()


def test_scattered_updates_keep_their_bits() -> None:
    body = f"""%z = stablehlo.constant dense<0.0> : {T} %i = stablehlo.constant dense<0> : tensor<1xi32>
      %r = "stablehlo.scatter"(%z, %i, %a0) <{{scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}}> ({{
        ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %y : tensor<f32> }})
        : ({T}, tensor<1xi32>, {T}) -> {T}"""
    assert (bits(run(body, PAYLOAD)) == 0xFFC12345).all()
    added = body.replace("stablehlo.return %y", "%s = stablehlo.add %x, %y : tensor<f32> stablehlo.return %s")
    assert (bits(run(added, PAYLOAD)) == 0x7FC00000).all()


@pytest.mark.parametrize("element", ["f4E2M1FN", "f6E2M3FN", "f6E3M2FN"])
def test_invalid_operations_without_nan(element: str) -> None:
    """In formats without NaN, the sign of the zero that replaces it is the same on all machines."""
    t = f"tensor<4x{element}>"
    zero = np.zeros(4, {"f4E2M1FN": ml_dtypes.float4_e2m1fn, "f6E2M3FN": ml_dtypes.float6_e2m3fn,
                        "f6E3M2FN": ml_dtypes.float6_e3m2fn}[element])  # fmt: skip
    result = run(f"%r = stablehlo.divide %a0, %a0 : {t}", zero, result=t, operand=t)
    assert np.signbit(result.astype(np.float32)).all() and (result.astype(np.float32) == 0).all()


def test_arguments_are_not_written_to() -> None:
    for n in (4, 100_000):
        t = f"tensor<{n}xf32>"
        x = np.full(n, 0xFFC12345, np.uint32).view(np.float32)
        text = f"""func.func @main(%x: {t}) -> {t} {{ %y = stablehlo.convert %x : {t}
          %z = stablehlo.abs %y : {t} %r = stablehlo.convert %z : {t} return %r : {t} }}"""
        assert (bits(sr.load(text).run(x)[0]) == 0x7FC00000).all()
        assert (bits(x) == 0xFFC12345).all()


@pytest.mark.parametrize(
    ("op", "attributes", "size"),
    [("all_reduce", "", 4), ("reduce_scatter", "scatter_dimension = 0 : i64, ", 2), ("collective_reduce", "", 4)],
)
def test_collectives_that_compute(op: str, attributes: str, size: int) -> None:
    program = sr.load(f"""
func.func @main(%x: tensor<4xf32>) -> tensor<{size}xf32> {{
  %0 = "stablehlo.{op}"(%x) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) {{{attributes}replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<4xf32>) -> tensor<{size}xf32>
  return %0 : tensor<{size}xf32>
}}
""")
    inputs = [[np.full(4, sign * np.inf, np.float32)] for sign in (1, -1)]
    results = program.run_parallel(inputs, num_replicas=2, num_partitions=1)
    for (result,) in results[:1] if op == "collective_reduce" else results:  # others than the root get zeros
        assert (bits(result) == NANS["f32"][1]).all()


@pytest.mark.parametrize("init", ["0.0", "0xFFC00001"])
@pytest.mark.parametrize("returned", ["%i2, %s, %t", "%i2, %r, %t"])
def test_results_that_a_loop_stacks(init: str, returned: str) -> None:
    """Rows of the first state are NaNs that each turn computes; rows that no turn writes are as they were."""
    program = sr.load(f"""func.func @main(%x: tensor<2xf32>, %n: tensor<i32>) -> (tensor<4x2xf32>, tensor<2xui32>) {{
      %c = stablehlo.constant dense<{init}> : tensor<f32>
      %s0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r0:3 = stablehlo.while(%i = %zero, %p = %s0, %u = %x) : tensor<i32>, tensor<4x2xf32>, tensor<2xf32>
        cond {{
          %less = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %less : tensor<i1>
        }} do {{
          %t = stablehlo.subtract %u, %u : tensor<2xf32>
          %row = stablehlo.reshape %t : (tensor<2xf32>) -> tensor<1x2xf32>
          %s = stablehlo.dynamic_update_slice %p, %row, %i, %zero
              : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
          %r = stablehlo.reverse %s, dims = [1] : tensor<4x2xf32>
          %i2 = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return {returned} : tensor<i32>, tensor<4x2xf32>, tensor<2xf32>
        }}
      %bits = stablehlo.bitcast_convert %r0#2 : (tensor<2xf32>) -> tensor<2xui32>
      return %r0#1, %bits : tensor<4x2xf32>, tensor<2xui32> }}""")
    for turns, fast in ((0, True), (3, True), (3, False), (40, True)):
        stack, last = program.run(np.array([np.inf, -np.nan], np.float32), np.int32(turns), fast=fast)
        rest = bits(np.float32(0)) if init == "0.0" else 0xFFC00001
        assert (bits(stack)[:turns] == 0x7FC00000).all() and (bits(stack)[turns:] == rest).all()
        assert turns == 0 or (last == 0x7FC00000).all()


def test_state_whose_nans_another_place_of_the_state_observes() -> None:
    program = sr.load("""func.func @main(%x: tensor<2xf32>, %n: tensor<i32>) -> tensor<2xui32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %b0 = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xui32>
      %r0:4 = stablehlo.while(%i = %zero, %p = %x, %q = %x, %b = %b0)
          : tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xui32>
        cond {
          %less = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %less : tensor<i1>
        } do {
          %t = stablehlo.subtract %p, %p : tensor<2xf32>
          %bits = stablehlo.bitcast_convert %q : (tensor<2xf32>) -> tensor<2xui32>
          %i2 = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %i2, %t, %t, %bits : tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xui32>
        }
      return %r0#3 : tensor<2xui32> }""")
    for fast in (True, False):
        (result,) = program.run(np.array([np.inf, -np.inf], np.float32), np.int32(2), fast=fast)
        assert (result == 0x7FC00000).all()
