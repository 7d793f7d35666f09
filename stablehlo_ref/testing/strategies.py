"""Strategies for hypothesis: types, arrays, and programs of StableHLO and CHLO, valid and invalid (extra `conform`).

>>> from hypothesis import given
>>> from stablehlo_ref.testing import strategies
>>> @given(strategies.programs(ops=["add", "dot_general"], types=["f32", "bf16"]))
... def test_my_compiler(example):
...     assert_close(my_compiler(example.text, example.inputs), example.program.run(*example.inputs), ...)

What hypothesis draws and shrinks is the structure; contents follow from a number that it draws too.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.arrays.interop import require
from stablehlo_ref.conform.cases import (
    ALONE,
    ELEMENTS,
    PLAIN,
    Case,
    contents,
    invalid_case,
    labels_of,
    valid_case,
)
from stablehlo_ref.conform.programs import Builder, select
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.diagnostics import ArgumentValueError, Source
from stablehlo_ref.ir.attributes import TypeAttribute
from stablehlo_ref.ir.types import TensorType, tensor_type
from stablehlo_ref.suggestions import did_you_mean
from stablehlo_ref.syntax.parser import parse_attribute

st: Any = require("hypothesis.strategies")

MAX_RANK, MAX_SIZE = 3, 4
SEEDS = st.integers(0, (1 << 32) - 1)


def types(elements: Sequence[str] = PLAIN, max_rank: int = MAX_RANK, max_size: int = MAX_SIZE) -> Any:
    """Return a strategy of tensor types as MLIR writes them, such as "tensor<2x0xf32>"."""
    shapes = st.lists(st.integers(0, max_size), max_size=max_rank).map(tuple)
    return st.builds(lambda e, s: str(tensor_type(s, ELEMENTS[e])), st.sampled_from(_elements(elements)), shapes)


def arrays(type: str) -> Any:
    """Return a strategy of arrays of a tensor type such as "tensor<2x3xf32>": moderate numbers and special values."""
    attribute = parse_attribute(Source(type, "<type>"))
    parsed = attribute.type if isinstance(attribute, TypeAttribute) else None
    if not (isinstance(parsed, TensorType) and parsed.is_static):
        raise ArgumentValueError(f"expected a tensor type of known sizes, got {type!r}")
    return SEEDS.map(lambda seed: contents(np.random.Generator(np.random.Philox(seed)), parsed))


def programs(ops: Sequence[str] = (), types: Sequence[str] = (), max_ops: int = 5) -> Any:
    """Return a strategy of cases that are valid programs, with inputs.

    `ops` are names or patterns, such as "add" or "chlo.*", all by default. `types` are element types of most values.
    """
    names, elements = select(ops), [ELEMENTS[name] for name in _elements(types or PLAIN)]

    def example(seed: int, chosen: list[str], element: Any) -> Case | None:
        rng = Random(seed)
        builder = Builder(rng, [element])
        for name in chosen:
            builder.add(REGISTRY[name])
        made = valid_case("", rng, builder) if builder.operations else None
        return None if made is None or made.needs or made.grid != ALONE else made

    chosen = st.lists(st.sampled_from(names), min_size=1, max_size=max_ops)
    drawn = st.builds(example, SEEDS, chosen, st.sampled_from(elements))
    return drawn.filter(lambda found: found is not None)


def invalid_programs(ops: Sequence[str] = ()) -> Any:
    """Return a strategy of cases that are programs of one op which breaks a constraint, `broken`."""
    labels = [(name, label) for name in select(ops) for label in labels_of(REGISTRY[name])]
    drawn = st.builds(lambda seed, choice: invalid_case("", Random(seed), *choice), SEEDS, st.sampled_from(labels))
    return drawn.filter(lambda found: found is not None)


def _elements(names: Sequence[str]) -> Sequence[str]:
    for name in names:
        if name not in ELEMENTS:
            raise ArgumentValueError(f"unknown element type {name!r}{did_you_mean(name, ELEMENTS)}")
    return names
