"""custom_calls with malformed configurations, operands and results: located errors that name the target."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from routines import flag

import stablehlo_ref as sr
from spec_checks.examples import examples
from stablehlo_ref.define.spec import shape
from stablehlo_ref.ir.types import BufferType, TensorType, TupleType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype

A, VECTOR, INFO, NUMBER = "tensor<3x3xf64>", "tensor<3xf64>", "tensor<i32>", "tensor<i32>"
PIVOTS, COMPLEX, FIVE = "tensor<3xi32>", "tensor<3x3xcomplex<f64>>", "tensor<5xf32>"
COMPUTATION = """
func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}
"""


@dataclass(frozen=True)
class Call:
    """A custom_call: types of operands and results, entries of the configuration, and other attributes.

    `number` is the value of all elements of the operands.
    """

    target: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    config: dict[str, str] | str | None = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    number: int = 1

    def text(self) -> str:
        written = dict(self.attributes)
        if self.config is not None:
            entries = self.config if isinstance(self.config, str) else "{" + joined(self.config) + "}"
            written["mhlo.backend_config"] = entries
        names = ", ".join(f"%x{i}" for i in range(len(self.operands)))
        parameters = ", ".join(f"%x{i}: {t}" for i, t in enumerate(self.operands))
        bound = f"%r:{len(self.results)} = " if self.results else ""
        operands, results = ", ".join(self.operands), ", ".join(self.results)
        return f"""
        func.func @main({parameters}) {{
          {bound}stablehlo.custom_call @{self.target}({names}) {{{joined(written)}}} : ({operands}) -> ({results})
          return
        }}
        {COMPUTATION}
        """


def joined(entries: dict[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in entries.items())


SVD = (A, VECTOR, A, A, INFO)
GEEV = {"compute_left": flag("V"), "compute_right": flag("V")}
SEGMENTS = {"operandSegmentSizes": "array<i32: 1, 1>", "resultSegmentSizes": "array<i32: 0, 1>", "dimension": "0"}
CHOLESKY = Call("lapack_dpotrf_ffi", (A,), (A, INFO), {"uplo": flag("L")})
CALLS = [
    CHOLESKY,
    Call("mhlo.erf", (FIVE,), (FIVE,)),
    Call("mhlo.scan", (FIVE, "tensor<f32>"), ("tensor<f32>",), SEGMENTS,
         {"called_computations": "[@sum]"}),
    Call("X64Combine", ("tensor<2xui32>",) * 2, ("tensor<2xui64>",)),
    Call("X64SplitLow", ("tensor<2xui64>",), ("tensor<2xui32>",)),
    Call("X64SplitHigh", ("tensor<2xi64>",), ("tensor<2xui32>",)),
    Call("lapack_dgetrf_ffi", (A,), (A, PIVOTS, INFO)),
    Call("lapack_dtrsm_ffi", (A, A), (A,), {"diag": flag("N"), "side": flag("L"), "trans_x": flag("N"),
                                            "uplo": flag("L")}),
    Call("lapack_dgtsv_ffi", (VECTOR, VECTOR, VECTOR, A), (VECTOR, VECTOR, VECTOR, A, INFO)),
    Call("lapack_dgeqrf_ffi", (A,), (A, VECTOR)),
    Call("lapack_dgeqp3_ffi", (A, PIVOTS), (A, PIVOTS, VECTOR)),
    Call("lapack_dorgqr_ffi", (A, VECTOR), (A,)),
    Call("lapack_dormqr_ffi", (A, VECTOR, A), (A,), {"left": "true", "transpose": "false"}),
    Call("lapack_dgehrd_ffi", (A,), (A, "tensor<2xf64>", INFO), {"low": "1 : i32", "high": "3 : i32"}),
    Call("lapack_dsytrd_ffi", (A,), (A, VECTOR, "tensor<2xf64>", "tensor<2xf64>", INFO), {"uplo": flag("U")}),
    Call("lapack_dgesdd_ffi", (A,), SVD, {"mode": flag("A")}),
    Call("lapack_dgesvd_ffi", (A,), SVD, {"mode": flag("N")}),
    Call("lapack_dsyevd_ffi", (A,), (A, VECTOR, INFO), {"mode": flag("V"), "uplo": flag("L")}),
    Call("lapack_dgeev_ffi", (A,), (VECTOR, VECTOR, COMPLEX, COMPLEX, INFO), GEEV),
    Call("lapack_zgeev_ffi", (COMPLEX,), ("tensor<3xcomplex<f64>>", COMPLEX, COMPLEX, INFO), GEEV),
    Call("lapack_dgees_ffi", (A,), (A, A, VECTOR, VECTOR, INFO, INFO), {"mode": flag("V"), "sort": flag("N")}),
    Call("tridiagonal_solve_perturbed_ffi", (VECTOR, VECTOR, VECTOR, A), (A,)),
    Call("lapack_dpotrf", (NUMBER,) * 3 + (A,), (A, INFO), None),
    Call("lapack_dgehrd", (NUMBER,) * 6 + (A,), (A, "tensor<2xf64>", INFO, VECTOR), None),
    Call("lapack_dgesdd", (NUMBER,) * 6 + (A,), SVD, None),
    Call("lapack_dgeev", (NUMBER,) * 4 + (A,), (A, A, A, VECTOR, VECTOR, COMPLEX, COMPLEX, INFO), None, number=86),
    Call("lapack_dgees", (NUMBER,) * 4 + (A,), (A, VECTOR, VECTOR, A, INFO, INFO), None),
    Call("blas_dtrsm", (NUMBER,) * 7 + ("tensor<f64>", A, A), (A,), None),
    Call("cusolver_syevj", (A,), (A, VECTOR, INFO), None, {"backend_config": '"\\00\\00\\00\\00\\00"'}),
    Call("cusolver_potrf_ffi", (A,), (A, INFO), {"lower": "true"}),
    Call("cusolver_gesvd_ffi", (A,), SVD, {"compute_uv": "true", "full_matrices": "true", "transposed": "false"}),
    Call("cusolver_gesvdj_ffi", (A,), SVD, {"compute_uv": "true", "full_matrices": "false"}),
    Call("cuhybrid_eig_real", (A,), (VECTOR, VECTOR, COMPLEX, COMPLEX, INFO), {"left": "true", "right": "true"}),
    Call("cusolver_geev_ffi", (A,), (A, "tensor<3xcomplex<f64>>", A, A, INFO), {"left": "false", "right": "true"}),
    Call("cusolver_syrk_ffi", (A, A, "tensor<f64>", "tensor<f64>"), (A,), {"transpose": "true"}),
    Call("cu_cholesky_update_ffi", (A, VECTOR), (A, VECTOR)),
    Call("cusparse_gtsv2_ffi", (VECTOR, VECTOR, VECTOR, A), (A,)),
    Call("ApproxTopK", (FIVE, "tensor<5xi32>", "tensor<f32>", NUMBER), ("tensor<2xf32>", "tensor<2xi32>"),
         {"reduction_dim": "0 : i64", "top_k": "2 : i64"}, {"called_computations": "[@greater]"}),
    Call("TopK", (FIVE,), ("tensor<2xf32>", "tensor<2xi32>"), {"k": "2 : i64", "largest": "true"}),
    Call("mhlo.topk", (FIVE,), ("tensor<2xf32>", "tensor<2xi32>"), None,
         {"mhlo.attributes": "{k = 2 : i64, largest = false}"}),
    Call("stablehlo.dynamic_top_k", (FIVE, NUMBER), ("tensor<1xf32>", "tensor<1xi32>"), None),
    Call("Eigh", (A,), (A, VECTOR), None, {"backend_config": '"1,1,15,0.00001"'}),
    Call("LuDecomposition", (A,), (A, PIVOTS, PIVOTS), None),
    Call("Qr", (A,), (A, VECTOR), None),
    Call("ProductOfElementaryHouseholderReflectors", (A, VECTOR), (A,), None),
    Call("cu_threefry2x32_ffi", ("tensor<3xui32>",) * 4, ("tensor<3xui32>",) * 2),
    Call("cu_lu_pivots_to_permutation", (PIVOTS,), (PIVOTS,)),
    Call("stablehlo.dynamic_rng_bit_generator", ("tensor<2xui64>", PIVOTS), ("tensor<2xui64>", "tensor<1x1x1xui32>"),
         None, {"rng_algorithm": "#stablehlo<rng_algorithm PHILOX>"}),
    Call("stablehlo.dynamic_reduce_window",
         (FIVE, "tensor<f32>", *["tensor<1xi32>"] * 4, "tensor<1x2xi32>"), ("tensor<7xf32>",), None,
         {"called_computations": "[@sum]"}),
    Call("AllocateBuffer", (), (A,), None),
    Call("Sharding", (A,), (A,), None, {"mhlo.sharding": '"{replicated}"'}),
    Call("shape_assertion", ("tensor<i1>", NUMBER), (), None, {"error_message": '"no {0}"'}),
    Call("SPMDFullToShardShape", (A,), (A,), None, {"mhlo.sharding": '"{manual}"'}),
    Call("SPMDShardToFullShape", (A,), (A,), None, {"mhlo.sharding": '"{devices=[1,1]0}"'}),
    Call("CreateBuffer", (), ("memref<3xf64>",), None),
    Call("Pin", (VECTOR,), ("memref<3xf64>",), None),
    Call("Unpin", ("memref<3xf64>",), (VECTOR,), None),
]  # fmt: skip
VALUES = [
    '"text"', '""', "1.5 : f32", "true", "unit", "-1 : i64", "0 : i64", "2 : i64", "7 : i32", "86 : ui8",
    "1114112 : i64", "9223372036854775807 : i64", "[]", "[1 : i64]", "{}", "{a = 1 : i32}",
    "dense<[1, 2]> : tensor<2xi32>", "array<i64: 1, 2>", "@missing", "[@missing]", "[@greater]", "[@greater, @sum]",
    "f32", "#stablehlo<rng_algorithm DEFAULT>", "#stablehlo<precision HIGH>", '"{devices=[3,1]<=[3]}"',
    '"{devices=[0,0]0}"',     '"{devices=[2,2]<=[2,2]T(0,0)}"', '"{devices=[9]1,2,3}"',
]  # fmt: skip
TYPES = [
    "tensor<f64>", "tensor<3xf64>", "tensor<2x3xf64>", "tensor<3x2xf64>", "tensor<2x3x3xf64>", "tensor<0x3xf64>",
    "tensor<3x3xf32>", "tensor<3x3xcomplex<f32>>", "tensor<3x3xi32>", "tensor<3x3xi1>", "tensor<i64>", "tensor<2xi32>",
    "tensor<3x3xbf16>", "!stablehlo.token", "memref<2xf32>", "tuple<tensor<3xf64>, tensor<i32>>",
]  # fmt: skip


@st.composite
def with_other_attributes(draw: st.DrawFn, call: Call) -> Call:
    """Return the call with one or two attributes or entries of its configuration changed."""
    for _ in range(draw(st.integers(1, 2))):
        kind = draw(st.sampled_from(["entry", "entry", "attribute", "attribute", "config"]))
        if kind == "entry" and isinstance(call.config, dict):
            call = replace(call, config=draw(changed(call.config)))
        elif kind == "attribute":
            names = ("called_computations", "mhlo.attributes", "rng_algorithm", "mhlo.sharding", "error_message")
            call = replace(call, attributes=draw(changed(call.attributes, *names)))
        elif kind == "config":
            call = replace(call, config=draw(st.sampled_from([None, *VALUES])))
    return call


@st.composite
def with_other_types(draw: st.DrawFn, call: Call) -> Call:
    """Return the call with its operands and results changed."""
    return replace(call, operands=draw(other_types(call.operands)), results=draw(other_types(call.results)))


@st.composite
def changed(draw: st.DrawFn, entries: dict[str, str], *more: str) -> dict[str, str]:
    """Return entries with one removed or given another value."""
    name = draw(st.sampled_from([*entries, *more, "other"]))
    rest = {k: v for k, v in entries.items() if k != name}
    return draw(st.sampled_from([rest, rest | {name: draw(st.sampled_from(VALUES))}]))


@st.composite
def other_types(draw: st.DrawFn, types: tuple[str, ...]) -> tuple[str, ...]:
    """Return types with one removed, added or replaced."""
    index = draw(st.integers(0, len(types)))
    added = draw(st.sampled_from([(), (draw(st.sampled_from(TYPES)),)]))
    return types[:index] + added + types[index + draw(st.integers(0, 1)) :]


def argument(type: Type, number: int) -> object:
    """Return an argument of a type whose elements are all `number`."""
    if isinstance(type, TupleType):
        return tuple(argument(element, number) for element in type.elements)
    if not isinstance(type, TensorType | BufferType):
        return None
    return np.full(shape(type), number).astype(numpy_dtype(type.element_type))[()]


def message(call: Call, is_exact: bool) -> str:
    """Return the message of the error that a call ends with, "" without one."""
    try:
        program = sr.load(call.text())
        program.run(*(argument(parameter.type, call.number) for parameter in program.inputs), exact_lapack=is_exact)
    except sr.StablehloError as error:
        assert error.diagnostics[0].location is not None, call.text()
        return str(error)
    return ""


EXAMPLES = examples(everyday=6, all=20)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.target)
def test_well_formed_call_runs(call: Call) -> None:
    assert message(call, is_exact=True) == ""


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.target)
@EXAMPLES
@given(data=st.data(), is_exact=st.booleans())
def test_malformed_attribute_is_a_located_error(call: Call, data: st.DataObject, is_exact: bool) -> None:
    found = message(data.draw(with_other_attributes(call)), is_exact)
    assert not any(text in found for text in (" raised ", "internal error", "unsupported types")), found


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.target)
@EXAMPLES
@given(data=st.data(), is_exact=st.booleans())
def test_malformed_type_is_a_located_error(call: Call, data: st.DataObject, is_exact: bool) -> None:
    found = message(data.draw(with_other_types(call)), is_exact)
    assert not any(text in found for text in (" raised ", "internal error")), found


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"config": {}}, "custom_call @lapack_dpotrf_ffi: missing configuration entry 'uplo'"),
        ({"config": {"uplo": "65 : ui8"}}, "expected 'uplo' to be one of 76 (L), 85 (U), got 65"),
        ({"config": {"uplo": '"L"'}}, "expected 'uplo' to be one of 76 (L), 85 (U), got 'L'"),
        ({"config": '"uplo"'}, "expected a dictionary as backend_config, got 'uplo'"),
        ({"operands": (A, A)}, "expected 1 operands, got 2"),
        ({"operands": (VECTOR,)}, "operand #0 of type tensor<3xf64> must have at least 2 dimensions"),
        ({"operands": ("tensor<2x3xf64>",)}, "operand #0 of type tensor<2x3xf64> must have size 2 instead of 3"),
        ({"operands": ("tensor<3x3xi32>", )}, "unsupported types (tensor<3x3xi32>) -> (tensor<3x3xf64>, tensor<i32>)"),
        ({"results": (A,)}, "expected at least 2 results, got 1"),
    ],
)  # fmt: skip
def test_message_of_a_malformed_call(changes: dict[str, Any], expected: str) -> None:
    assert expected in message(replace(CHOLESKY, **changes), is_exact=False)


def test_init_value_of_another_type() -> None:
    (call,) = [call for call in CALLS if call.target == "stablehlo.dynamic_reduce_window"]
    operands = (call.operands[0], "!stablehlo.token", *call.operands[2:])
    expected = "expected an init value of type tensor<f32>, got !stablehlo.token"
    assert expected in message(replace(call, operands=operands), is_exact=False)
