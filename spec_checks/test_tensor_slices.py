"""Compare slices, padding and generated tensors of MLIR's tensor dialect with their oracles."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spec_checks.evaluate import evaluate, type_of
from spec_checks.strategies import INTEGERS, arrays, dtypes, same, shapes
from spec_checks.test_tensor import MANY, Array, Dims, indices, run, tensors
from stablehlo_ref.dialects.mlir_types import DYNAMIC
from stablehlo_ref.ir.types import INDEX, tensor_type
from stablehlo_ref.numerics.dtypes import bit_width, element_type_of
from stablehlo_ref.semantics import tensor as oracle


@st.composite
def windows(draw: st.DrawFn, shape: Dims) -> tuple[Dims, Dims, Dims]:
    """Draw offsets, sizes and strides of a slice inside a shape."""
    strides = tuple(draw(st.integers(1, 3)) for _ in shape)
    sizes = tuple(draw(st.integers(0, (n - 1) // s + 1 if n else 0)) for n, s in zip(shape, strides))
    last = [n - max(m - 1, 0) * s - bool(m) for n, m, s in zip(shape, sizes, strides)]
    return tuple(draw(st.integers(0, max(most, 0))) for most in last), sizes, strides


def partly(data: st.DataObject, numbers: Dims) -> tuple[Dims, list[int]]:
    """Let some numbers be dynamic; return the attribute and the operands."""
    is_dynamic = [data.draw(st.booleans()) for _ in numbers]
    static = tuple(DYNAMIC if d else n for d, n in zip(is_dynamic, numbers))
    return static, [n for d, n in zip(is_dynamic, numbers) if d]


def strided(data: st.DataObject, shape: Dims, values: int) -> tuple[Any, list[int], dict[str, Any]]:
    parts = data.draw(windows(shape))
    split = [partly(data, numbers) for numbers in parts]
    names = ("static_offsets", "static_sizes", "static_strides")
    attributes: dict[str, Any] = {name: static for name, (static, _) in zip(names, split)}
    attributes["operand_segment_sizes"] = (*[1] * values, *(len(dynamic) for _, dynamic in split))
    return parts, [n for _, dynamic in split for n in dynamic], attributes


def without_units(data: st.DataObject, x: Array) -> Array:
    """Drop some dimensions of size 1, the first of those in a row."""
    return x.reshape([n for n in x.shape if n != 1]) if data.draw(st.booleans()) else x


@MANY
@given(data=st.data())
def test_extract_slice(data: st.DataObject) -> None:
    source = tensors(data)
    parts, dynamic, attributes = strided(data, source.shape, 1)
    expected = without_units(data, oracle.extract_slice(source, *parts))
    is_kept = -1 if expected.ndim < source.ndim else DYNAMIC
    unknown = DYNAMIC in attributes["static_sizes"] and is_kept == DYNAMIC
    if not unknown and expected.ndim < source.ndim:  # sizes that are dropped are static
        attributes["static_sizes"], sizes = parts[1], attributes["static_sizes"].count(DYNAMIC)
        first = attributes["operand_segment_sizes"][1]
        dynamic = dynamic[:first] + dynamic[first + sizes :]
        segments = attributes["operand_segment_sizes"]
        attributes["operand_segment_sizes"] = (1, segments[1], 0, segments[3])
    result = tensor_type((None,) * expected.ndim if unknown else expected.shape, element_type_of(source.dtype))
    types = [type_of(source), *[INDEX] * len(dynamic)]
    actual = evaluate(
        "tensor.extract_slice", source, *indices(tuple(dynamic)), types=types, result=result, **attributes
    )
    assert same(actual, expected)


@MANY
@given(data=st.data())
def test_insert_slice(data: st.DataObject) -> None:
    dest = tensors(data)
    parts, dynamic, attributes = strided(data, dest.shape, 2)
    source = data.draw(arrays(dest.dtype, parts[1]))
    before = dest.copy()
    types = [type_of(source), type_of(dest), *[INDEX] * len(dynamic)]
    actual = evaluate("tensor.insert_slice", source, dest, *indices(tuple(dynamic)), types=types, **attributes)
    assert same(actual, oracle.insert_slice(source, dest, *parts)) and same(dest, before)


@MANY
@given(data=st.data())
def test_bitcast(data: st.DataObject) -> None:
    source = data.draw(arrays(data.draw(dtypes(INTEGERS)), data.draw(shapes())))
    target = data.draw(st.sampled_from([d for d in INTEGERS if bit_width(d) == bit_width(source.dtype)]))
    actual = evaluate("tensor.bitcast", source, result=tensor_type(source.shape, element_type_of(target)))
    assert same(actual, oracle.bitcast(source, target))


def body(data: st.DataObject, rank: int) -> tuple[str, Any]:
    """Draw the text of a region that combines indices, and what it computes."""
    names = [f"%i{d}" for d in range(rank)]
    factors = [data.draw(st.integers(-3, 3)) for _ in names]
    lines = ["%s = arith.constant 5 : index"]
    for d, factor in enumerate(factors):
        lines += [f"%f{d} = arith.constant {factor} : index", f"%p{d} = arith.muli %f{d}, {names[d]} : index"]
        lines.append(f"%s{d} = arith.addi {f'%s{d - 1}' if d else '%s'}, %p{d} : index")
    last = f"%s{rank - 1}" if rank else "%s"
    if data.draw(st.booleans()):  # an op that does not run on whole arrays
        lines += [f"%t = tensor.from_elements {last} : tensor<1xindex>", "%z = arith.constant 0 : index"]
        lines.append("%e = tensor.extract %t[%z] : tensor<1xindex>")
        last = "%e"
    arguments = f"^bb0({', '.join(f'{name}: index' for name in names)}):\n" if names else ""
    text = (
        f"{{\n{arguments}"
        + "\n".join(lines)
        + f"\n%r64 = arith.index_cast {last} : index to i64\ntensor.yield %r64 : i64\n}}"
    )
    return text, lambda *index: 5 + sum(f * i for f, i in zip(factors, index))


@MANY
@given(data=st.data(), shape=shapes(max_rank=3))
def test_generate(data: st.DataObject, shape: Dims) -> None:
    text, compute = body(data, len(shape))
    known = [data.draw(st.booleans()) for _ in shape]
    constants = "\n".join(f"%n{d} = arith.constant {n} : index" for d, n in enumerate(shape))
    extents = ", ".join(f"%n{d}" for d, k in enumerate(known) if not k)
    type = tensor_type(tuple(n if k else None for k, n in zip(known, shape)), element_type_of(np.dtype(np.int64)))
    actual = run(f"{constants}\n%r = tensor.generate {extents} {text} : {type}", result=type)
    assert same(actual, oracle.generate(lambda *index: (compute(*index),), shape, np.dtype(np.int64)))


@MANY
@given(data=st.data(), shape=shapes(max_rank=3))
def test_pad(data: st.DataObject, shape: Dims) -> None:
    source = data.draw(arrays(np.dtype(np.int64), shape))
    text, compute = body(data, len(shape))
    low, high = (tuple(data.draw(st.integers(0, 2)) for _ in shape) for _ in range(2))
    expected = oracle.pad(source, low, high, lambda *index: (compute(*index),))
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in range(3))
    lists = [", ".join(data.draw(st.sampled_from([str(n), f"%c{n}"])) for n in numbers) for numbers in (low, high)]
    types = f"{type_of(source)} to {type_of(expected)}"
    program = f"{constants}\n%r = tensor.pad %x0 low[{lists[0]}] high[{lists[1]}] {text} : {types}"
    assert same(run(program, source, result=type_of(expected)), expected)
