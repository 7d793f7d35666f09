"""Compare MLIR's tensor dialect with its oracles."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.evaluate import evaluate, type_of
from spec_checks.examples import examples
from spec_checks.strategies import ALL, arrays, dtypes, same, shapes
from spec_checks.test_dynamism import dynamic_type
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.mlir_types import DYNAMIC
from stablehlo_ref.ir.types import INDEX, tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.semantics import tensor as oracle

Array = np.ndarray[Any, np.dtype[Any]]
Dims = tuple[int, ...]

MANY = examples(everyday=20, all=60)


def tensors(data: st.DataObject, **limits: int) -> Array:
    return data.draw(arrays(data.draw(dtypes(ALL)), data.draw(shapes(**limits))))


def indices(numbers: Dims) -> list[np.int64]:
    return list(map(np.int64, numbers))


def run(text: str, *operands: Array, result: Any) -> Array:
    """Run a program on tensors `%x0`, `%x1`, ... and return its value `%r`."""
    inputs = ", ".join(f"%x{i}: {type_of(x)}" for i, x in enumerate(operands))
    program = sr.load(f"func.func @main({inputs}) -> {result} {{\n{text}\nreturn %r : {result}\n}}\n")
    return program.run(*operands)[0]


# --- sizes and elements ---------------------------------------------------------------------------------------------


@MANY
@given(data=st.data())
def test_dim_and_rank(data: st.DataObject) -> None:
    source, index = tensors(data, max_rank=3), data.draw(st.integers(-1, 3))
    text = f"""%i = arith.constant {index} : index
      %y = tensor.cast %x0 : {type_of(source)} to {data.draw(dynamic_type(source.shape, source.dtype))}
      %a = tensor.dim %x0, %i : {type_of(source)}
      %b = tensor.rank %x0 : {type_of(source)}
      %n = tensor.from_elements %a, %b : tensor<2xindex>
      %r = arith.index_cast %n : tensor<2xindex> to tensor<2xi64>"""
    if 0 <= index < source.ndim:
        expected = [oracle.dim(source, index), oracle.rank(source)]
        assert run(text, source, result="tensor<2xi64>").tolist() == expected
    else:
        with pytest.raises(EvaluationError, match="out of bounds"):
            run(text, source, result="tensor<2xi64>")


@MANY
@given(data=st.data())
def test_extract_and_insert(data: st.DataObject) -> None:
    tensor = tensors(data, min_size=1)
    place = tuple(data.draw(st.integers(0, n - 1)) for n in tensor.shape)
    scalar = data.draw(arrays(tensor.dtype, ()))
    constants = "\n".join(f"%i{d} = arith.constant {i} : index" for d, i in enumerate(place))
    at = f"[{', '.join(f'%i{d}' for d in range(len(place)))}]"
    element = f"tensor<{element_type_of(tensor.dtype)}>"
    text = f"{constants}\n%e = tensor.extract %x0{at} : {type_of(tensor)}\n%r = tensor.from_elements %e : {element}"
    assert same(run(text, tensor, result=element), oracle.extract(tensor, place))
    text = f"{constants}\n%e = tensor.extract %x1[] : {element}\n%r = tensor.insert %e into %x0{at} : {type_of(tensor)}"
    before = tensor.copy()
    assert same(run(text, tensor, scalar, result=type_of(tensor)), oracle.insert(scalar, tensor, place))
    assert same(tensor, before)


@MANY
@given(data=st.data())
def test_from_elements(data: st.DataObject) -> None:
    wanted = tensors(data)
    elements, element = [wanted[i] for i in np.ndindex(*wanted.shape)], element_type_of(wanted.dtype)
    types = [element] * len(elements)
    actual = evaluate("tensor.from_elements", *elements, types=types, result=type_of(wanted))
    assert same(actual, oracle.from_elements(tuple(elements), wanted.shape, wanted.dtype))


@MANY
@given(data=st.data())
def test_splat(data: st.DataObject) -> None:
    input, shape = data.draw(arrays(data.draw(dtypes(ALL)), ())), data.draw(shapes())
    result = data.draw(dynamic_type(shape, input.dtype))
    unknown = [n for n, known in zip(shape, result.shape) if known is None]
    types = [element_type_of(input.dtype)] + [INDEX] * len(unknown)
    actual = evaluate("tensor.splat", input[()], *indices(tuple(unknown)), types=types, result=result)
    assert same(actual, oracle.splat(input, shape))


@MANY
@given(data=st.data())
def test_empty(data: st.DataObject) -> None:
    """The elements of an empty tensor are arbitrary."""
    dtype, shape = data.draw(dtypes(ALL)), data.draw(shapes())
    result = data.draw(dynamic_type(shape, dtype))
    unknown = tuple(n for n, known in zip(shape, result.shape) if known is None)
    actual = evaluate("tensor.empty", *indices(unknown), types=[INDEX] * len(unknown), result=result)
    assert actual.dtype == dtype and actual.shape == shape


# --- shapes ---------------------------------------------------------------------------------------------------------


@MANY
@given(data=st.data())
def test_cast(data: st.DataObject) -> None:
    source = tensors(data)
    types = [data.draw(dynamic_type(source.shape, source.dtype)) for _ in range(2)]
    actual = evaluate("tensor.cast", source, types=types[:1], result=types[1])
    assert same(actual, oracle.cast(source))


@MANY
@given(data=st.data())
def test_reshape(data: st.DataObject) -> None:
    source = tensors(data)
    sizes = tuple(data.draw(st.permutations((*source.shape, 1))))
    shape = np.array(sizes, data.draw(st.sampled_from([np.int32, np.int64])))
    result = data.draw(dynamic_type(sizes, source.dtype))
    assert same(evaluate("tensor.reshape", source, shape, result=result), oracle.reshape(source, sizes))


@st.composite
def reassociations(draw: st.DrawFn) -> tuple[Dims, tuple[Dims, ...]]:
    """Draw a shape and a grouping of its dimensions into groups of neighbours."""
    groups = draw(st.lists(shapes(min_rank=1, max_rank=3, max_size=3), max_size=3))
    shape = tuple(n for group in groups for n in group)
    starts = [sum(map(len, groups[:i])) for i in range(len(groups) + 1)]
    return shape, tuple(tuple(range(start, end)) for start, end in pairwise(starts))


@MANY
@given(data=st.data(), shape_and_groups=reassociations())
def test_collapse_shape(data: st.DataObject, shape_and_groups: Any) -> None:
    shape, reassociation = shape_and_groups
    src = data.draw(arrays(data.draw(dtypes(ALL)), shape))
    types = [data.draw(dynamic_type(shape, src.dtype))]
    expected = oracle.collapse_shape(src, reassociation)
    result = data.draw(dynamic_type(expected.shape, src.dtype))
    actual = evaluate("tensor.collapse_shape", src, types=types, result=result, reassociation=reassociation)
    assert same(actual, expected)


@MANY
@given(data=st.data(), shape_and_groups=reassociations())
def test_expand_shape(data: st.DataObject, shape_and_groups: Any) -> None:
    shape, reassociation = shape_and_groups
    collapsed = [int(np.prod([shape[d] for d in group], dtype=int)) for group in reassociation]
    src = data.draw(arrays(data.draw(dtypes(ALL)), tuple(collapsed)))
    result = data.draw(dynamic_type(shape, src.dtype))
    static = tuple(DYNAMIC if known is None else known for known in result.shape)
    unknown = tuple(n for n, known in zip(shape, result.shape) if known is None)
    types = [tensor_type((None,) * src.ndim, element_type_of(src.dtype)), *[INDEX] * len(unknown)]
    attributes = {"reassociation": reassociation, "static_output_shape": static}
    actual = evaluate("tensor.expand_shape", src, *indices(unknown), types=types, result=result, **attributes)
    assert same(actual, oracle.expand_shape(src, reassociation, shape))


@MANY
@given(data=st.data())
def test_concat(data: st.DataObject) -> None:
    first = tensors(data, min_rank=1)
    dim = data.draw(st.integers(0, first.ndim - 1))
    sizes = [first.shape[dim], *data.draw(st.lists(st.integers(0, 3), max_size=2))]
    inputs = [data.draw(arrays(first.dtype, (*first.shape[:dim], n, *first.shape[dim + 1 :]))) for n in sizes]
    assert same(evaluate("tensor.concat", *inputs, dim=dim), oracle.concat(dim, tuple(inputs)))
