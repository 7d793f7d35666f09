"""The value of a constant by its text: nested lists of numbers, a splat, or the bits of all elements."""

import re
from fractions import Fraction
from typing import Any

import numpy as np

from stablehlo_ref.semantics.notation import (
    Array,
    DType,
    TensorType,
    complex_element_type,
    index_space,
    is_boolean,
    is_complex,
    is_integer,
    num_bits,
)
from stablehlo_ref.semantics.rounding import complex_element, element, from_bits, round_to

TOKEN = re.compile(r'[\[\](),]|"0x[0-9A-F]*"|[^\s\[\](),]+')


def constant(value: str, *, result: TensorType) -> Array:
    """`output = value`, where `value` is the text between `dense<` and `>`."""
    shape, element_type = result
    output = np.empty(shape, element_type)
    if value.startswith('"'):
        data = bytes.fromhex(value[3:-1])
        for n, index in enumerate(index_space(shape)):
            output[index] = np.frombuffer(data, element_type, 1, n * output.itemsize)[0]
        return output
    elements = list(_elements([t for t in TOKEN.findall(value) if t not in "[],"], element_type))
    for n, index in enumerate(index_space(shape)):
        output[index] = elements[n if len(elements) > 1 else 0]
    return output


def _elements(tokens: list[str], element_type: DType) -> Any:
    numbers = (token for token in tokens if token not in "()")
    for token in numbers:
        if is_complex(element_type):
            part = complex_element_type(element_type)
            yield complex_element(_element(token, part), _element(next(numbers), part))
        else:
            yield _element(token, element_type)


def _element(token: str, element_type: DType) -> Any:
    if is_boolean(element_type):
        return np.bool_(token == "true")
    if is_integer(element_type):
        return element(element_type, int(token, 0))
    if token.startswith("0x"):
        return from_bits(element_type, int(token, 16) % (1 << num_bits(element_type)))
    return round_to(element_type, -0.0 if token.startswith("-") and not Fraction(token) else Fraction(token))
