"""Cases: programs with their inputs, made from a name alone, so that a campaign is a list of names.

`op/stablehlo.dot_general/f32/17` is the 17th program of that op on operands of f32, `exhaustive/stablehlo.tanh/bf16/0` all
values of a type, `chain/5/17` five ops, and `invalid/stablehlo.dot_general/C10/3` a program that breaks one constraint.
Every process, and every version of Python, makes the same case of a name.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.arrays.random_values import random_array
from stablehlo_ref.conform.programs import Builder
from stablehlo_ref.conform.solve import Solver, is_elementwise_on
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.formulas import labelled_formulas
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import TensorType, Type, tensor_type
from stablehlo_ref.numerics.dtypes import bit_width, kind, numpy_dtype
from stablehlo_ref.conform.members import COMMON, OTHERS
from stablehlo_ref.syntax.printer import print_operation

DIALECTS = ("stablehlo", "chlo")
ELEMENTS: dict[str, Type] = {str(element): element for element in dict.fromkeys((*COMMON, *OTHERS))}
TRIES = 8  # to draw a program with an element type
EVERY_VALUE = 16  # bits of an operand all of whose values are tried; half of them each for two operands


@dataclass(frozen=True)
class Case:
    """A program as text, with inputs; `broken` is the constraint that it breaks, "" for a valid program."""

    name: str
    text: str
    inputs: tuple[Array, ...]
    broken: str = ""


def names_of_ops() -> list[str]:
    """Return the ops that cases are made of, in the order of their definitions: those that one process can run."""
    return [name for name, definition in REGISTRY.items() if definition.dialect in DIALECTS and _is_alone(definition)]


def _is_alone(definition: OpDefinition) -> bool:
    return bool(definition.mnemonic) and not (definition.traits.terminator or definition.traits.communicates)


# --- names ------------------------------------------------------------------------------------------------------------


def exhaustive(ops: Sequence[str]) -> Iterator[str]:
    """Yield the cases of all values of unary ops on types of at most 16 bits, of all pairs on at most 8."""
    for name in ops:
        for element_name, element in ELEMENTS.items():
            count = _operands_of_each_value(REGISTRY[name], element)
            if count:
                yield f"exhaustive/{name}/{element_name}/0"


def _operands_of_each_value(definition: OpDefinition, element: Type) -> int:
    """Return the number of operands, 1 or 2, of an elementwise op all of whose values are tried; 0 for other ops."""
    count = len(definition.operands)
    if not (definition.traits.elementwise and count in (1, 2)) or kind(numpy_dtype(element)) == "complex":
        return 0
    width = bit_width(numpy_dtype(element)) * count
    return count if width <= EVERY_VALUE and is_elementwise_on(definition, element) else 0


def single(ops: Sequence[str], rounds: int) -> Iterator[str]:
    """Yield cases of one op: in each round, each op on each element type once."""
    for number in range(rounds):
        for name in ops:
            for element in ELEMENTS:
                if takes(REGISTRY[name], ELEMENTS[element]):
                    yield f"op/{name}/{element}/{number}"


def takes(definition: OpDefinition, element: Type) -> bool:
    """Return whether an operand or result of an op may be a tensor of an element type."""
    members = (*definition.operands, *definition.results)
    types = [tensor_type((2,) * rank, element) for rank in range(3)]
    return any(member.constraint.holds(type) for member in members for type in types)


def chains(lengths: Sequence[int], count: int) -> Iterator[str]:
    """Yield cases of several ops that use each other's results."""
    for number in range(count):
        yield f"chain/{lengths[number % len(lengths)]}/{number}"


def invalid(ops: Sequence[str], rounds: int) -> Iterator[str]:
    """Yield cases that break a single constraint, each constraint of each op once in a round."""
    for number in range(rounds):
        for name in ops:
            for label in dict.fromkeys(label for label, _ in labelled_formulas(REGISTRY[name].op_class)):
                yield f"invalid/{name}/{label}/{number}"


# --- cases ------------------------------------------------------------------------------------------------------------


def case(name: str) -> Case | None:
    """Return the case of a name; None if the search for its members finds none."""
    rng = random.Random(zlib.crc32(name.encode()))
    shape, *rest = name.split("/")
    return _MAKERS[shape](name, rng, rest)


def _single(name: str, rng: random.Random, rest: Sequence[str]) -> Case | None:
    op, element, _ = rest
    for _ in range(TRIES):
        builder = Builder(rng, [ELEMENTS[element]])
        found = builder.add(REGISTRY[op])
        if found is not None and any(has_elements(value.type, element) for value in (*found.operands, *found.results)):
            return _case(name, rng, builder)
    return None


def has_elements(type: Type, element: str) -> bool:
    """Return whether a type is that of tensors of an element type."""
    return isinstance(type, TensorType) and str(type.element_type) == element


def _chain(name: str, rng: random.Random, rest: Sequence[str]) -> Case | None:
    builder = Builder(rng, [rng.choice(list(ELEMENTS.values()))])
    ops = names_of_ops()
    for _ in range(int(rest[0])):
        builder.add(REGISTRY[rng.choice(ops)])
    return _case(name, rng, builder) if builder.operations else None


def _invalid(name: str, rng: random.Random, rest: Sequence[str]) -> Case | None:
    op, label, _ = rest
    builder = Builder(rng)
    return _case(name, rng, builder, label) if builder.add(REGISTRY[op], label) else None


def _exhaustive(name: str, rng: random.Random, rest: Sequence[str]) -> Case | None:
    op, element, _ = rest
    definition = REGISTRY[op]
    dtype = numpy_dtype(ELEMENTS[element])
    every = every_value(dtype)
    count = len(definition.operands)
    arrays = [every] if count == 1 else [np.repeat(every, len(every)), np.tile(every, len(every))]
    builder = Builder(rng)
    if not builder.add_on(definition, [TensorType(array.shape, ELEMENTS[element]) for array in arrays]):
        return None
    return Case(name, print_operation(builder.module()), tuple(arrays))


_MAKERS: dict[str, Callable[[str, random.Random, Sequence[str]], Case | None]] = {
    "op": _single,
    "chain": _chain,
    "invalid": _invalid,
    "exhaustive": _exhaustive,
}


def _case(name: str, rng: random.Random, builder: Builder, broken: str = "") -> Case:
    module = builder.module()
    generator = np.random.Generator(np.random.Philox(key=zlib.crc32(name.encode())))
    inputs = [] if broken else [contents(generator, argument.type) for argument in builder.arguments]
    return Case(name, print_operation(module), tuple(inputs), broken)


# --- contents ---------------------------------------------------------------------------------------------------------


def every_value(dtype: DType) -> Array:
    """Return all values of a type of at most 16 bits, in the order of their bits."""
    if kind(dtype) == "boolean":
        return np.array([False, True])
    bits = np.arange(1 << bit_width(dtype), dtype=np.uint16 if dtype.itemsize == 2 else np.uint8)
    return bits.view(dtype)


def contents(generator: np.random.Generator, type: Type) -> Array:
    """Return an array of a tensor type: moderate numbers, and one time in four some special values among them."""
    if not isinstance(type, TensorType):
        return np.zeros((), bool)
    shape = tuple(n or 0 for n in type.shape)
    dtype = numpy_dtype(type.element_type)
    array = np.array(random_array(generator, dtype, shape))
    if array.size and kind(dtype) == "floating" and generator.random() < 0.25:
        specials = special_values(dtype)
        places = generator.random(shape) < 0.3
        array[places] = specials[generator.integers(0, len(specials), int(places.sum()))]
    array.setflags(write=False)
    return array


def special_values(dtype: DType) -> Array:
    """Return zeros, ones, infinities, NaN, and the smallest and largest numbers of a floating-point type, as it has them."""
    with np.errstate(all="ignore"):
        named = np.array([0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 1e300, -1e300, 1e-40, 1e-310]).astype(dtype)
    return named
