"""Cases: programs with their inputs, made from a name alone, so that a campaign is a list of names.

`op/stablehlo.dot_general/f32/17` is the 17th program of that op on operands of f32, `exhaustive/stablehlo.tanh/bf16/0`
all values of a type, `dynamic/stablehlo.add/f32/0` a program with unknown dimensions, `chain/5/17` five ops, and
`invalid/stablehlo.dot_general/C10/3` a program that breaks one constraint. `quant.i8` is an element type that is
quantized to i8, `quant.axis` one that is along an axis. Every process, and every version of Python, makes the same case
of a name.
"""

from __future__ import annotations

import random
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.arrays.random_values import random_array
from stablehlo_ref.conform.members import COMMON, OTHERS, QUANTIZED, draw_tensor, per_axis
from stablehlo_ref.conform.programs import ASYNC_START, Builder, names_of_ops
from stablehlo_ref.conform.solve import Solver
from stablehlo_ref.debug.evaluate import same_bits
from stablehlo_ref.define.definition import REGISTRY, OpDefinition, member_of_each
from stablehlo_ref.define.formulas import labelled_formulas
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError, InvalidError, LimitError, StablehloError
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import IndexType, QuantizedType, TensorType, TupleType, Type, tensor_type
from stablehlo_ref.limits import Limits
from stablehlo_ref.limits.budget import current
from stablehlo_ref.numerics.dtypes import bit_width, kind, numpy_dtype
from stablehlo_ref.program import Program
from stablehlo_ref.reading.parsing import parse
from stablehlo_ref.syntax.printer import print_operation

PER_AXIS = "quant.axis"
TRIES = 8  # to draw a program with an element type that runs
INVALID_TRIES = 3
# The shapes of operands in a program that has an op several times.
SHAPES = (
    (3,), (2, 4), (), (2, 1, 3), (1, 5), (4, 3, 2), (2, 2, 3, 1), (4,), (3, 3), (1, 2, 2), (5, 3), (2,), (2, 2),
    (3, 3, 3),
)  # fmt: skip
ROUNDS_OF_SHAPES, SHOWN = 3, 3  # how often each is drawn, and how many ops of a kind are kept
SQUARE = ((2, 2), (3, 3), (2, 2, 2)) * 4  # shapes whose types leave open to which dimensions attributes refer
CONTENTS = 6  # inputs that are tried
MAX_SIZE = 1 << 20  # of a tensor: a search may have led to any shape
LIMITS = Limits(max_seconds=10.0)  # of the interpreter, for a case
ALONE = Grid(1, 1)
GRIDS = (Grid(2, 1), Grid(4, 1), Grid(1, 2), Grid(1, 4), Grid(2, 2), ALONE)
IDS = ("stablehlo.replica_id", "stablehlo.partition_id")
NEEDS = {"stablehlo.infeed": "an infeed", "stablehlo.outfeed": "a reader of the outfeed"}
MAX_CHAIN = 100  # ops
EVERY_VALUE = 16  # bits of an operand all of whose values are tried; half of them each for two operands


def element_name(element: Type) -> str:
    """Return the name of an element type in names of cases: `f32`, or `quant.i8` for all that are quantized to i8."""
    if not isinstance(element, QuantizedType):
        return str(element)
    return PER_AXIS if element.quantization_dimension is not None else f"quant.{element.storage_type}"


ELEMENTS = {element_name(element): element for element in (*COMMON, *OTHERS, *QUANTIZED[::-1], per_axis(0, 2))}
PLAIN = [name for name, element in ELEMENTS.items() if not isinstance(element, QuantizedType)]


@dataclass(frozen=True)
class Case:
    """A program as text, with inputs and the interpreter's results: in a grid of processes, those of each in turn.

    `broken` is the constraint that an invalid program breaks, "" for a valid one; `others` after it do not hold either.
    `needs` is what a run needs besides inputs, which backends are not given: an infeed. `static` is the same program
    with known dimensions, for one with unknown ones.
    """

    name: str
    text: str
    inputs: tuple[Any, ...] = ()
    expected: tuple[Any, ...] = ()
    broken: str = ""
    others: tuple[str, ...] = ()
    needs: str = ""
    grid: Grid = ALONE
    static: str = ""

    @cached_property
    def program(self) -> Program:
        """The program with known dimensions, verified; InvalidError for one that is not valid."""
        return _verified(self.static or self.text)

    def __repr__(self) -> str:
        return f"\n{self.text}inputs: {', '.join(map(repr, self.inputs)) or 'none'}"


# --- names ------------------------------------------------------------------------------------------------------------


def operands_of_each_value(definition: OpDefinition, element: Type) -> int:
    """Return the number of operands, 1 or 2, of an elementwise op all of whose values are tried; 0 for other ops."""
    count = len(definition.operands)
    if not (definition.traits.elementwise and count in (1, 2)) or kind(numpy_dtype(element)) == "complex":
        return 0
    width = bit_width(numpy_dtype(element)) * count
    is_tried = width <= EVERY_VALUE and Solver(definition, random.Random(0)).on(tensor_type((1,), element)) is not None
    return count if is_tried else 0


def takes(definition: OpDefinition, element: Type) -> bool:
    """Return whether an operand or result of an op may be a tensor of an element type."""
    members = (*definition.operands, *definition.results)
    types = [tensor_type((2,) * rank, element) for rank in range(3)]
    return any(member.constraint.holds(type) for member in members for type in types)


def labels_of(definition: OpDefinition) -> list[str]:
    """Return the labels of the constraints of an op that the verifier checks, as far as programs can break them."""
    formulas = labelled_formulas(definition.op_class, "constraints") if definition.name != ASYNC_START else []
    return list(dict.fromkeys(label for label, _ in formulas))


# --- cases ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def case(name: str) -> Case | None:
    """Return the case of a name; None if the search finds no program that is valid, or invalid as it is to be.

    ArgumentValueError for a name of no case.
    """
    shape, *rest = name.split("/")
    if not _is_name(shape, rest):
        raise ArgumentValueError(f"expected the name of a case, such as op/stablehlo.tanh/bf16/0, got {name!a}")
    rng = random.Random(zlib.crc32(name.encode()))
    return _MAKERS[shape](name, rng, rest)


def _is_name(shape: str, rest: Sequence[str]) -> bool:
    """Return whether the parts of a name are those of a case."""
    match shape, rest:
        case "chain", [length, number]:
            return _is_number(length, MAX_CHAIN) and _is_number(number)
        case "invalid", [op, label, number] if op in names_of_ops():
            return label in labels_of(REGISTRY[op]) and _is_number(number)
        case "op" | "dynamic", [op, element, number] if op in names_of_ops():
            return element in ELEMENTS and _is_number(number)
        case "exhaustive", [op, element, which] if op in names_of_ops() and element in ELEMENTS:
            return which == "0" and operands_of_each_value(REGISTRY[op], ELEMENTS[element]) > 0
    return False


def _is_number(text: str, most: int = 10**9) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) <= most


def _single(name: str, rng: random.Random, rest: Sequence[str]) -> Case | None:
    op, element, number = rest
    is_once = number == "0" or runs_in_grid(op)
    made = None if is_once else _of_shapes(name, rng, op, element)
    return made or next((made for _, made in _of_one_op(name, rng, *rest)), None)


def _of_one_op(name: str, rng: random.Random, op: str, element: str, number: str) -> Iterator[tuple[Builder, Case]]:
    """Yield programs of an op on an element type, with what builds them."""
    for _ in range(TRIES):
        builder = Builder(rng, [ELEMENTS[element]])
        found = builder.add(REGISTRY[op])
        if found is not None and any(has_elements(value.type, element) for value in data_of(found)):
            made = valid_case(name, rng, builder)
            if made is not None:
                yield builder, made


def _of_shapes(name: str, rng: random.Random, op: str, element: str) -> Case | None:
    """Return a program that has an op several times, on operands of different shapes and with other attributes."""
    for is_careful in (False, True):  # at first, only the whole program is tried
        builder, seen = Builder(rng, [ELEMENTS[element]], sharing=0.0), Counter[object]()
        for shape in SHAPES * ROUNDS_OF_SHAPES + (SQUARE if REGISTRY[op].attributes else ()):
            before = len(builder.operations), len(builder.arguments)
            type = draw_tensor(rng, ELEMENTS[element], shape)
            added = builder.add_on(REGISTRY[op], type) if not seen[type] else None
            others = [draw_tensor(rng, ELEMENTS[element], sizes) for sizes in (shape[1:], None)]
            like = [type, others[0]] if shape in SQUARE else [type, type, *others]
            added = added or builder.add(REGISTRY[op], like)
            seen[type] += 1
            new = _properties(added, element) if added is not None else set()
            if all(seen[each] >= SHOWN for each in new) or (is_careful and valid_case(name, rng, builder) is None):
                del builder.operations[before[0] :], builder.arguments[before[1] :]
            else:
                seen.update(new)
        made = valid_case(name, rng, builder) if builder.operations else None
        if made is not None:
            return made
    return None


def _properties(op: Operation, element: str) -> set[object]:
    """Return what others may do differently: kinds of shapes, and attributes; none if no value has the element type."""
    types = [value.type for value in data_of(op)]
    shapes = [type.shape for type in types if isinstance(type, TensorType)]
    if not any(has_elements(type, element) for type in types) or any(0 in shape for shape in shapes):
        return set()
    kinds = {(len(shape), shape[-1:] and (shape[-1] or 0) % 2, 1 in shape) for shape in shapes[-len(op.results) :]}
    ranks = tuple(map(len, shapes))
    return kinds | {(name, str(value), ranks) for name, value in op.properties.items()}


def _dynamic(name: str, rng: random.Random, rest: Sequence[str]) -> Case | None:
    """Return a program of an op in which dimensions are unknown, as far as it stays valid, and the results the same."""
    for builder, made in _of_one_op(name, rng, *rest):
        for number in range(TRIES):
            text = builder.text_with_unknown(of_results=number % 2 == 0)
            with suppress(StablehloError):
                program = _verified(text, LIMITS)
                is_dynamic = any(isinstance(p.type, TensorType) and not p.type.is_static for p in program.inputs)
                results = program.run(*made.inputs) if is_dynamic else ()
                if results and all(map(same_bits, map(np.asarray, results), map(np.asarray, made.expected))):
                    return replace(made, text=text, static=made.text)
    return None


def data_of(op: Operation) -> list[Value]:
    """Return the operands and results of an op but for the operands that shapes depend on."""
    shaping = REGISTRY[op.name].traits.shape_operands
    members = member_of_each(REGISTRY[op.name].operands, len(op.operands))
    return [v for v, member in zip(op.operands, members) if member.name not in shaping] + op.results


def has_elements(type: Type, element: str) -> bool:
    """Return whether a type is that of tensors of an element type."""
    return isinstance(type, TensorType) and element_name(type.element_type) == element


def _chain(name: str, rng: random.Random, rest: Sequence[str]) -> Case | None:
    ours = f"{__name__.partition('.')[0]}."  # ops of this package are always there
    ops = [op for op in names_of_ops() if REGISTRY[op].op_class.__module__.startswith(ours)]
    ops = [op for op in ops if not runs_in_grid(op) and op not in NEEDS]
    for attempt in range(TRIES):
        builder = Builder(rng, [rng.choice(list(ELEMENTS.values()))])
        for place in range(int(rest[0])):
            # Another op that is chosen instead changes the choice, but not the order or the number of ops.
            seed = f"{name}/{attempt}/{place}"
            builder.add(REGISTRY[min(ops, key=lambda op: random.Random(f"{seed}/{op}").random())])
        made = valid_case(name, rng, builder) if builder.operations else None
        if made is not None:
            return made
    return None


def _invalid(name: str, rng: random.Random, rest: Sequence[str]) -> Case | None:
    made = (invalid_case(name, rng, *rest[:2]) for _ in range(INVALID_TRIES))
    return next((found for found in made if found is not None), None)


def invalid_case(name: str, rng: random.Random, op: str, label: str) -> Case | None:
    """Return a program of an op that breaks a constraint, and of which the verifier says so; None if none is found."""
    builder = Builder(rng, [rng.choice(QUANTIZED)] if rng.random() < 0.3 else [])
    broken = builder.add_broken(REGISTRY[op], label)
    text = "" if broken is None else print_operation(builder.module())
    if broken is None or not _is_rejected_by(text, label):
        return None
    generator = np.random.Generator(np.random.Philox(key=rng.getrandbits(64)))
    inputs = tuple(builder.fixed.get(v, contents(generator, v.type)) for v in builder.arguments)
    return Case(name, text, inputs, broken=label, others=broken.others)


def _is_rejected_by(text: str, label: str) -> bool:
    """Return whether the verifier rejects a program for a constraint."""
    try:
        parse(text).verify()
    except InvalidError as error:
        return f" op ({label}): " in str(error)
    except StablehloError:
        return False
    return False


def _exhaustive(name: str, rng: random.Random, rest: Sequence[str]) -> Case | None:
    """Return the case of all values of a type, or of all pairs."""
    op, element, _ = rest
    definition = REGISTRY[op]
    every = every_value(numpy_dtype(ELEMENTS[element]))
    count = len(definition.operands)
    arrays = [every] if count == 1 else [np.repeat(every, len(every)), np.tile(every, len(every))]
    builder = Builder(rng)
    if not builder.add_on(definition, TensorType(arrays[0].shape, ELEMENTS[element])):
        return None
    text = print_operation(builder.module())
    return Case(name, text, tuple(arrays), tuple(_verified(text).run(*arrays)))


_MAKERS: dict[str, Callable[[str, random.Random, Sequence[str]], Case | None]] = {
    "op": _single,
    "dynamic": _dynamic,
    "chain": _chain,
    "invalid": _invalid,
    "exhaustive": _exhaustive,
}


# --- runs -------------------------------------------------------------------------------------------------------------


def valid_case(name: str, rng: random.Random, builder: Builder) -> Case | None:
    """Return the program of a builder with inputs on which the interpreter runs it; None if there are none."""
    text = print_operation(builder.module())
    try:
        program = _verified(text, LIMITS)
    except StablehloError:
        return None
    if any(prod(n or 0 for n in v.type.shape) > MAX_SIZE for v in builder.values if isinstance(v.type, TensorType)):
        return None
    ops = [op.name for op in program.module.walk()]
    needs = next((NEEDS[op] for op in ops if op in NEEDS), "")
    is_parallel = any(map(runs_in_grid, ops))
    # In programs of many ops, every third one is on numbers of which most types have all results.
    few = {v for op in builder.operations[0 if is_parallel else 3 :: 1 if is_parallel else 3] for v in op.operands}
    generator = np.random.Generator(np.random.Philox(key=rng.getrandbits(64)))
    for grid in GRIDS if is_parallel else (ALONE,) * CONTENTS:
        inputs = tuple(
            builder.fixed.get(v, (few_numbers if v in few else contents)(generator, v.type))
            for _ in grid.processes
            for v in builder.arguments
        )
        try:
            return Case(name, text, inputs, _results(program, inputs, grid, generator), needs=needs, grid=grid)
        except LimitError:
            return None
        except EvaluationError:  # it may run on other numbers
            continue
        except StablehloError:
            return None
    return None


def _verified(text: str, limits: Limits | None = None) -> Program:
    """Return a program that has no more memory than what is in force allows."""
    program, memory = parse(text).verify(), current.get().memory
    limits = limits or program.limits
    program.limits = limits if memory is None else replace(limits, max_total_bytes=memory.limit)
    return program


def runs_in_grid(op: str) -> bool:
    """Return whether what an op does depends on other processes."""
    return op in IDS or (op in REGISTRY and REGISTRY[op].traits.communicates)


def _results(program: Program, inputs: Sequence[Any], grid: Grid, generator: np.random.Generator) -> tuple[Any, ...]:
    """Return the results of a run, of all processes in turn."""
    reads = [op for op in program.module.walk() if op.name == "stablehlo.infeed"]
    if grid == ALONE and not reads:
        return tuple(program.run(*inputs))
    infeed = [[contents(generator, result.type) for result in op.results[:-1]] for op in reads]
    each = len(inputs) // grid.count
    given = [inputs[i * each : (i + 1) * each] for i in range(grid.count)]
    replicas, partitions = grid.num_replicas, grid.num_partitions
    found = program.run_parallel(given, num_replicas=replicas, num_partitions=partitions, infeed=infeed * grid.count)
    return tuple(result for results in found for result in results)


# --- contents ---------------------------------------------------------------------------------------------------------


def every_value(dtype: DType) -> Array:
    """Return all values of a type of at most 16 bits, in the order of their bits."""
    if kind(dtype) == "boolean":
        return np.array([False, True])
    bits = np.arange(1 << bit_width(dtype), dtype=np.uint16 if dtype.itemsize == 2 else np.uint8)
    return bits.view(dtype)


def contents(generator: np.random.Generator, type: Type) -> Any:
    """Return a value of a type, for tensors an array: moderate numbers, often with special values among them."""
    if isinstance(type, TupleType):
        return tuple(contents(generator, element) for element in type.elements)
    if isinstance(type, IndexType):
        return np.asarray(generator.integers(0, 8))
    if not isinstance(type, TensorType):
        return None  # a token
    shape = tuple(n or 0 for n in type.shape)
    dtype = numpy_dtype(type.element_type)
    array = np.array(random_array(generator, dtype, shape))
    if array.size and kind(dtype) in ("integer", "floating") and generator.random() < 0.6:
        specials = special_values(type.element_type)
        places = generator.random(shape) < 0.5
        array[places] = specials[generator.integers(0, len(specials), int(places.sum()))]
    array.setflags(write=False)
    return array


def few_numbers(generator: np.random.Generator, type: Type) -> Any:
    """Return a value of a type: the numbers 0, 1 and 2, of which most types have all sums and products of four.

    Square matrices have 4 on their diagonals, so that they are positive definite.
    """
    if not isinstance(type, TensorType):
        return contents(generator, type)
    dtype = numpy_dtype(type.element_type)
    array = generator.integers(0, 3 if bit_width(dtype) >= 8 else 2, [n or 0 for n in type.shape])
    if type.rank > 1 and type.shape[-1] == type.shape[-2]:
        array[..., range(array.shape[-1]), range(array.shape[-1])] = 4
    array = array.astype(dtype)
    array.setflags(write=False)
    return array


def special_values(element: Type) -> Array:
    """Return zeros, ones, infinities, NaN, and the smallest and largest numbers of a type, as it has them."""
    dtype = numpy_dtype(element)
    if isinstance(element, QuantizedType):
        return np.array([element.storage_min, element.storage_max, *element.zero_points]).astype(dtype)
    if kind(dtype) == "integer":
        top = (1 << bit_width(dtype)) - 1
        return np.array([0, 1, top >> 1, (top >> 1) + 1, top, bit_width(dtype)], np.uint64).astype(dtype)
    numbers = [0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 1e300, -1e300, 1e-40, 1e-310]
    with np.errstate(all="ignore"):
        return np.array(numbers).astype(dtype)
