"""Cases: programs with their inputs, made from a name alone, so that a campaign is a list of names.

`op/stablehlo.dot_general/f32/17` is the 17th program of that op on operands of f32, `exhaustive/stablehlo.tanh/bf16/0`
all values of a type, `chain/5/17` five ops, and `invalid/stablehlo.dot_general/C10/3` a program that breaks one
constraint. Every process, and every version of Python, makes the same case of a name.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.arrays.random_values import random_array
from stablehlo_ref.conform.members import COMMON, OTHERS, QUANTIZED
from stablehlo_ref.conform.programs import ASYNC_START, Builder
from stablehlo_ref.conform.solve import is_elementwise_on
from stablehlo_ref.define.definition import REGISTRY, OpDefinition, member_of_each
from stablehlo_ref.define.formulas import labelled_formulas
from stablehlo_ref.diagnostics import EvaluationError, InvalidError, LimitError, StablehloError
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import IndexType, TensorType, TupleType, Type, tensor_type
from stablehlo_ref.limits import Limits
from stablehlo_ref.numerics.dtypes import bit_width, kind, numpy_dtype
from stablehlo_ref.program import Program
from stablehlo_ref.reading.parsing import parse
from stablehlo_ref.syntax.printer import print_operation

DIALECTS = ("stablehlo", "chlo")
ELEMENTS: dict[str, Type] = {str(element): element for element in dict.fromkeys((*COMMON, *OTHERS))}
TRIES = 8  # to draw a program with an element type that runs
CONTENTS = 6  # inputs that are tried
LIMITS = Limits(max_seconds=10.0)  # of the interpreter, for a case
GRIDS = ((1, 1), (2, 1), (1, 2), (4, 1), (1, 4), (2, 2))
NEEDS = {"stablehlo.infeed": "an infeed", "stablehlo.outfeed": "a reader of the outfeed"}
ONE = "of"
EVERY_VALUE = 16  # bits of an operand all of whose values are tried; half of them each for two operands


@dataclass(frozen=True)
class Case:
    """A program as text, with inputs and the interpreter's results.

    `broken` is the constraint that an invalid program breaks, "" for a valid one; `others` after it do not hold either.
    `needs` is what a run needs besides inputs, which most backends cannot give it: an infeed, or several processes.
    """

    name: str
    text: str
    inputs: tuple[Any, ...] = ()
    expected: tuple[Any, ...] = ()
    broken: str = ""
    others: tuple[str, ...] = ()
    needs: str = ""


def names_of_ops() -> list[str]:
    """Return the ops that cases are made of, in the order of their definitions: all but the end of regions."""
    return [
        name
        for name, definition in REGISTRY.items()
        if definition.dialect in DIALECTS and definition.mnemonic and not definition.traits.terminator
    ]


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
            for label in labels_of(REGISTRY[name]):
                yield f"invalid/{name}/{label}/{number}"


def labels_of(definition: OpDefinition) -> list[str]:
    """Return the labels of the constraints of an op that the verifier checks, as far as programs can break them."""
    formulas = labelled_formulas(definition.op_class, "constraints") if definition.name != ASYNC_START else []
    return list(dict.fromkeys(label for label, _ in formulas))


# --- cases ------------------------------------------------------------------------------------------------------------


def case(name: str) -> Case | None:
    """Return the case of a name; None if the search finds no program that is valid, or invalid as it is to be."""
    rng = random.Random(zlib.crc32(name.encode()))
    shape, *rest = name.split("/")
    return _MAKERS[shape](name, rng, rest)


def _single(name: str, rng: random.Random, rest: Sequence[str]) -> Case | None:
    op, element, _ = rest
    for _ in range(TRIES):
        builder = Builder(rng, [ELEMENTS[element]])
        found = builder.add(REGISTRY[op])
        if found is not None and any(has_elements(value.type, element) for value in data_of(found)):
            made = valid_case(name, rng, builder)
            if made is not None:
                return made
    return None


def data_of(op: Operation) -> list[Value]:
    """Return the operands and results of an op but for the operands that shapes depend on."""
    shaping = REGISTRY[op.name].traits.shape_operands
    members = member_of_each(REGISTRY[op.name].operands, len(op.operands))
    return [v for v, member in zip(op.operands, members) if member.name not in shaping] + op.results


def has_elements(type: Type, element: str) -> bool:
    """Return whether a type is that of tensors of an element type."""
    return isinstance(type, TensorType) and str(type.element_type) == element


def _chain(name: str, rng: random.Random, rest: Sequence[str]) -> Case | None:
    ops = [op for op in names_of_ops() if not REGISTRY[op].traits.communicates and op not in NEEDS]
    for _ in range(TRIES):
        builder = Builder(rng, [rng.choice(list(ELEMENTS.values()))])
        for _ in range(int(rest[0])):
            builder.add(REGISTRY[rng.choice(ops)])
        made = valid_case(name, rng, builder) if builder.operations else None
        if made is not None:
            return made
    return None


def _invalid(name: str, rng: random.Random, rest: Sequence[str]) -> Case | None:
    op, label, _ = rest
    for _ in range(TRIES):
        builder = Builder(rng, [rng.choice(QUANTIZED)] if rng.random() < 0.3 else [])
        broken = builder.add_broken(REGISTRY[op], label)
        text = "" if broken is None else print_operation(builder.module())
        if broken is not None and is_rejected_by(text, label):
            generator = np.random.Generator(np.random.Philox(key=rng.getrandbits(64)))
            inputs = tuple(builder.fixed.get(v, contents(generator, v.type)) for v in builder.arguments)
            return Case(name, text, inputs, broken=label, others=broken.others)
    return None


def is_rejected_by(text: str, label: str) -> bool:
    """Return whether the verifier rejects a program for a constraint."""
    try:
        parse(text).verify()
    except InvalidError as error:
        return f" op ({label}): " in str(error)
    except StablehloError:
        return False
    return False


def _exhaustive(name: str, rng: random.Random, rest: Sequence[str]) -> Case | None:
    """Return the case of all values of a type; of one of them, or of a pair, if the last part of the name is `of5`."""
    op, element, which = rest
    definition = REGISTRY[op]
    every = every_value(numpy_dtype(ELEMENTS[element]))
    count = len(definition.operands)
    arrays = [every] if count == 1 else [np.repeat(every, len(every)), np.tile(every, len(every))]
    if which.startswith(ONE):
        arrays = [array[[int(which.removeprefix(ONE))]] for array in arrays]
    builder = Builder(rng)
    if not builder.add_on(definition, [TensorType(array.shape, ELEMENTS[element]) for array in arrays]):
        return None
    text = print_operation(builder.module())
    return Case(name, text, tuple(arrays), tuple(parse(text).run(*arrays)))


def of_one_value(name: str, index: int) -> str:
    """Return the name of the case of one of the values of an exhaustive case."""
    return f"{name.rpartition('/')[0]}/{ONE}{index}"


_MAKERS: dict[str, Callable[[str, random.Random, Sequence[str]], Case | None]] = {
    "op": _single,
    "chain": _chain,
    "invalid": _invalid,
    "exhaustive": _exhaustive,
}


# --- runs -------------------------------------------------------------------------------------------------------------


def valid_case(name: str, rng: random.Random, builder: Builder) -> Case | None:
    """Return the program of a builder with inputs on which the interpreter runs it; None if there are none."""
    text = print_operation(builder.module())
    try:
        program = parse(text).verify()
    except StablehloError:
        return None
    program.limits = LIMITS
    needs = next((what for op in program.module.walk() if (what := _needs(op.name))), "")
    generator = np.random.Generator(np.random.Philox(key=rng.getrandbits(64)))
    for _ in range(CONTENTS):
        inputs = tuple(builder.fixed.get(v, contents(generator, v.type)) for v in builder.arguments)
        try:
            return Case(name, text, inputs, _results(program, inputs, needs, generator), needs=needs)
        except EvaluationError as error:
            if isinstance(error, LimitError):
                return None
        except StablehloError:
            return None
    return None


def _needs(op: str) -> str:
    return NEEDS.get(op) or ("several processes" if op in REGISTRY and REGISTRY[op].traits.communicates else "")


def _results(program: Program, inputs: Sequence[Any], needs: str, generator: np.random.Generator) -> tuple[Any, ...]:
    """Return the results of a run; of the first process, on the first grid of processes that the program runs on."""
    if not needs:
        return tuple(program.run(*inputs))
    infeed = [
        [contents(generator, result.type) for result in op.results[:-1]]
        for op in program.module.walk()
        if op.name == "stablehlo.infeed"
    ]
    for replicas, partitions in GRIDS:
        count = replicas * partitions
        try:
            found = program.run_parallel(
                [inputs] * count, num_replicas=replicas, num_partitions=partitions, infeed=infeed * count
            )
        except EvaluationError as error:
            if (replicas, partitions) == GRIDS[-1]:
                raise error
        else:
            return tuple(found[0])
    return ()


# --- contents ---------------------------------------------------------------------------------------------------------


def every_value(dtype: DType) -> Array:
    """Return all values of a type of at most 16 bits, in the order of their bits."""
    if kind(dtype) == "boolean":
        return np.array([False, True])
    bits = np.arange(1 << bit_width(dtype), dtype=np.uint16 if dtype.itemsize == 2 else np.uint8)
    return bits.view(dtype)


def contents(generator: np.random.Generator, type: Type) -> Any:
    """Return a value of a type, for tensors an array: moderate numbers, one time in four with some special values."""
    if isinstance(type, TupleType):
        return tuple(contents(generator, element) for element in type.elements)
    if isinstance(type, IndexType):
        return np.asarray(generator.integers(0, 8))
    if not isinstance(type, TensorType):
        return None  # a token
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
    """Return zeros, ones, infinities, NaN, and the smallest and largest numbers of a type, as it has them."""
    with np.errstate(all="ignore"):
        named = np.array([0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 1e300, -1e300, 1e-40, 1e-310]).astype(
            dtype
        )
    return named
