"""Simplify programs, and fold constants: `stablehlo-aggressive-simplification` and passes with it.

Each pattern keeps every bit of the results but those of NaNs, for all operands: `x + 0.0` is not x where x is -0.0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from stablehlo_ref.define.definition import traits_of
from stablehlo_ref.define.spec import element_type, is_float, is_integer, is_quantized, is_signed_integer, num_bits
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.types import BOOLEAN, Type
from stablehlo_ref.ops.comparison import ComparisonDirection
from stablehlo_ref.ops.extensibility import TYPED_FFI
from stablehlo_ref.passes.analysis import defined_by, is_pure
from stablehlo_ref.passes.canonicalize import CASTS, FOLDED_ELEMENTS, FOLDS, dead_loops, folding
from stablehlo_ref.passes.emit import Emitter, static_shape
from stablehlo_ref.passes.patterns import Patterns, elements_of, rewrite, shape_of, splat, static
from stablehlo_ref.passes.registry import PassOption, count, flag, transformation
from stablehlo_ref.passes.simplify_movement import MOVEMENT

ARITHMETIC = Patterns()
on = ARITHMETIC.on

LIMIT = PassOption("fold-op-element-limit", count, "the largest number of elements of a result (default 65536)")
ASSUME = PassOption("assume-no-undeclared-side-effects", flag, "whether calls in loops that do not run may be removed")
FLOAT = PassOption("optimize-float", flag, "changes nothing, as results keep all their bits")


@transformation(
    "stablehlo-aggressive-simplification", "replace ops that compute nothing, or what a simpler op computes", LIMIT
)
def simplify(module: Operation, fold_op_element_limit: int = FOLDED_ELEMENTS) -> None:
    """Replace ops that compute nothing, or what a simpler op computes, until none is left.

    Constants become the second operands of commutative ops. Neutral operands, reshapes of reshapes, transposes of
    transposes, broadcasts of broadcasts and slices of all there is disappear, dynamic ops with known shapes become
    static ones, results of `sort` and `reduce` that nothing uses are not computed, and what a loop does not change is
    taken from outside. Results keep all their bits, except that NaNs may have other ones. So `x + 0.0` stays, whose
    result is 0.0 where x is -0.0, as does a `reduce` over no dimension unless its initial value is neutral; and no
    result of a `reduce` is dropped that others are computed from.
    """
    rewrite(module, MOVEMENT, EMPTY, ARITHMETIC, folding(fold_op_element_limit, "select"))


@transformation("stablehlo-aggressive-folder", "fold ops on constants", ASSUME, LIMIT, FLOAT)
def aggressive_folder(
    module: Operation,
    fold_op_element_limit: int = FOLDED_ELEMENTS,
    assume_no_undeclared_side_effects: bool = False,
    optimize_float: bool = True,
) -> None:
    """Replace ops whose operands are constants by constants, and canonicalize.

    Ops with effects, most ops with regions, and ops with more elements in a result than the limit stay, as do ops whose
    results are implementation-defined, and functions of one operand that are NaN, or infinite where the operand is
    finite, so that it can still be found where these come from. Long constants of equal elements are not joined. Of a
    loop whose condition is false, and of a `case` with a constant index, only branches and bodies with effects stay, as
    something may rely on them being there; with `assume_no_undeclared_side_effects` calls do not count as such.
    `optimize_float` changes nothing, as results keep all their bits.
    """
    tables = FOLDS, dead_loops(assume_no_undeclared_side_effects), folding(fold_op_element_limit)
    rewrite(module, CASTS, *tables)


@transformation(
    "stablehlo-target-independent-optimization", "simplify, and fold ops on constants", ASSUME, LIMIT, FLOAT
)
def target_independent_optimization(
    module: Operation,
    fold_op_element_limit: int = FOLDED_ELEMENTS,
    assume_no_undeclared_side_effects: bool = False,
    optimize_float: bool = True,
) -> None:
    """Do what `stablehlo-aggressive-simplification` and `stablehlo-aggressive-folder` do, until nothing changes."""
    tables = FOLDS, dead_loops(assume_no_undeclared_side_effects), folding(fold_op_element_limit)
    rewrite(module, CASTS, *tables, MOVEMENT, EMPTY, ARITHMETIC)


def _is_number(value: Value) -> bool:
    return is_integer(value.type) or is_float(value.type) or elements_of(value) == BOOLEAN


# --- arithmetic -----------------------------------------------------------------------------------------------------


@on("add", "and", "maximum", "minimum", "multiply", "or", "xor")
def constant_second(emit: Emitter, op: Operation) -> Value | None:
    """Make `op(constant, x)` `op(x, constant)`."""
    lhs, rhs = op.operands
    if defined_by(lhs, "constant") is None or defined_by(rhs, "constant") is not None:
        return None
    return emit.value(op.name, rhs, lhs, type=op.results[0].type)


def is_neutral(name: str, element: np.generic, type: Type) -> bool:
    """Return whether `op(x, element)` is x for all x: of floats, only -0.0 for `add` and 0.0 for `subtract`."""
    number = element.item() if isinstance(element.item(), bool | int) else float(element)
    match name:
        case "multiply":
            return number == 1
        case "add" | "subtract" if is_float(type):
            return number == 0 and (math.copysign(1, number) < 0) == (name == "add")
        case "add" | "subtract" | "or" | "xor":
            return number == 0
        case "and":
            return _has_all_bits(number, type)
    return False


def _has_all_bits(number: float, type: Type) -> bool:
    element = element_type(type)
    return number == (1 if element == BOOLEAN else -1 if is_signed_integer(type) else (1 << num_bits(element)) - 1)


@on("add", "and", "multiply", "or", "subtract", "xor")
def neutral(emit: Emitter, op: Operation) -> Value | None:
    """Make `x + 0`, `x - 0`, `x * 1`, `x & ~0`, `x | 0` and `x ^ 0` x."""
    x, other = op.operands
    element = splat(other) if _is_number(other) else None
    return x if element is not None and is_neutral(op.name.partition(".")[2], element, other.type) else None


@on("and", "multiply", "or")
def absorbing(emit: Emitter, op: Operation) -> Value | None:
    """Make `x & 0`, `x * 0` of integers, and `x | ~0` the constant."""
    other = op.operands[1]
    element = splat(other) if _is_number(other) and not is_float(other.type) else None
    if element is None:
        return None
    return other if (_has_all_bits(int(element), other.type) if op.name == "stablehlo.or" else not element) else None


@on("subtract", "xor")
def equal_operands(emit: Emitter, op: Operation) -> Value | None:
    """Make `x - x` of integers, and `x ^ x`, 0."""
    (x, other), type = op.operands, static(op.results[0])
    is_exact = x is other and type is not None and not is_float(type) and _is_number(x)
    return emit.constant(type, 0) if is_exact and type else None


SWAPPED = {
    ComparisonDirection.GE: ComparisonDirection.LE,
    ComparisonDirection.GT: ComparisonDirection.LT,
    ComparisonDirection.LE: ComparisonDirection.GE,
    ComparisonDirection.LT: ComparisonDirection.GT,
}
TRUE_OF_EQUAL = (ComparisonDirection.EQ, ComparisonDirection.GE, ComparisonDirection.LE)


@on("compare")
def compare(emit: Emitter, op: Operation) -> Value | None:
    """Compare integers with constants on the right; make `x == x` true, `x < x` false, `p != false`, `p == true` p."""
    (lhs, rhs), type, direction = op.operands, static(op.results[0]), op.properties["comparison_direction"]
    if not _is_number(lhs) or is_float(lhs.type):
        return None
    if lhs is rhs:
        return None if type is None else emit.constant(type, direction in TRUE_OF_EQUAL)
    if defined_by(lhs, "constant") is not None and defined_by(rhs, "constant") is None:
        members = {**op.properties, "comparison_direction": SWAPPED.get(direction, direction)}
        return emit.value(op.name, rhs, lhs, type=op.results[0].type, **members)
    element = splat(rhs)
    if element is None or element.dtype.kind != "b":
        return None
    return lhs if direction == (ComparisonDirection.EQ if element else ComparisonDirection.NE) else None


@on("complex")
def complex_of_parts(emit: Emitter, op: Operation) -> Value | None:
    """Make `complex(real(z), imag(z))` z."""
    real, imag = defined_by(op.operands[0], "real"), defined_by(op.operands[1], "imag")
    return real.operands[0] if real and imag and real.operands[0] is imag.operands[0] else None


@on("real", "imag")
def part_of_complex(emit: Emitter, op: Operation) -> Value | None:
    """Make `real(complex(x, y))` x, and `imag(complex(x, y))` y."""
    made = defined_by(op.operands[0], "complex")
    return made.operands[op.name == "stablehlo.imag"] if made else None


@on("select")
def select(emit: Emitter, op: Operation) -> Value | None:
    """Select the only choice, and make `select(not(p), x, y)` `select(p, y, x)`, also where `not(p)` is broadcast."""
    predicate, x, y = op.operands
    element = True if x is y else splat(predicate)
    if element is not None:
        return x if element else y
    if negation := defined_by(predicate, "not"):
        return emit.value(op.name, negation.operands[0], y, x, type=op.results[0].type)
    broadcast = defined_by(predicate, "broadcast_in_dim")
    negation = defined_by(broadcast.operands[0], "not") if broadcast else None
    if broadcast is None or negation is None or len(emit.rewriter.uses(predicate)) > 1:
        return None
    positive = emit.value(broadcast.name, negation.operands[0], type=predicate.type, **broadcast.properties)
    return emit.value(op.name, positive, y, x, type=op.results[0].type)


# --- regions --------------------------------------------------------------------------------------------------------


def _with_arguments(
    region: Region, kept: Sequence[int], mapping: dict[Value, Value], returned: Sequence[int]
) -> Region:
    """Return a copy of a region that has some of its arguments, and returns some of its results.

    Other arguments are replaced by the values in `mapping`; ops that use those that are not there are left out.
    """
    arguments = [Value(region.block.arguments[i].type, None, n) for n, i in enumerate(kept)]
    for argument, i in zip(arguments, kept):
        argument.name = region.block.arguments[i].name
        mapping[region.block.arguments[i]] = argument
    unknown = {argument for argument in region.block.arguments if argument not in mapping}
    operations = []
    for op in region.block.operations[:-1]:
        if unknown.isdisjoint(operand for inner in op.walk() for operand in inner.operands):
            operations.append(clone(op, mapping))
        else:
            unknown.update(op.results)
    terminator = clone(region.block.operations[-1], mapping)
    terminator.operands = [terminator.operands[i] for i in returned]
    return Region([Block(arguments, [*operations, terminator])])


def _with_results(op: Operation, new: Operation, kept: Sequence[int]) -> list[Value]:
    """Return the results of an op that computes some of those of `op`; the others, which nothing uses, stay."""
    return [new.results[kept.index(i)] if i in kept else result for i, result in enumerate(op.results)]


@on("while")
def loop_invariant(emit: Emitter, op: Operation) -> Sequence[Value] | None:
    """Use what a loop passes on unchanged from outside, in the loop and after it."""
    body = op.regions[1].block
    returned = body.operations[-1].operands
    columns = zip(op.operands, op.regions[0].block.arguments, body.arguments, returned, op.results)
    same = [
        value in (operand, argument) and {x.type for x in (tested, argument, value, result)} == {operand.type}
        for operand, tested, argument, value, result in columns
    ]
    if not any(same):
        return None
    emit.rewriter.settle(op)
    kept = [i for i, is_same in enumerate(same) if not is_same]
    regions = []
    for region, results in zip(op.regions, ([0], kept)):
        outer = {region.block.arguments[i]: op.operands[i] for i, is_same in enumerate(same) if is_same}
        regions.append(_with_arguments(region, kept, dict(outer), results))
    new = emit.operation(op.name, [op.operands[i] for i in kept], [op.result_types[i] for i in kept], regions)
    return [new.results[kept.index(i)] if i in kept else operand for i, operand in enumerate(op.operands)]


@on("sort")
def sort(emit: Emitter, op: Operation) -> Sequence[Value] | None:
    """Do not sort operands whose results nothing uses and that are not compared; count the dimension from the front."""
    emit.rewriter.settle(op)
    (region,), rank = op.regions, len(shape_of(op.results[0]))
    read = {operand for inner in op.walk() if inner is not op for operand in inner.operands}
    pairs = zip(op.results, region.block.arguments[::2], region.block.arguments[1::2])
    kept = [i for i, (result, *pair) in enumerate(pairs) if emit.rewriter.uses(result) or not read.isdisjoint(pair)]
    dimension = op.properties.get("dimension", -1)
    if (len(kept) == len(op.results) and dimension >= 0) or not kept:
        return None
    arguments = [argument for i in kept for argument in (2 * i, 2 * i + 1)]
    new = emit.operation(
        op.name, [op.operands[i] for i in kept], [op.result_types[i] for i in kept],
        [_with_arguments(region, arguments, {}, [0])], **{**op.properties, "dimension": dimension % max(rank, 1)},
    )  # fmt: skip
    return _with_results(op, new, kept)


@on("reduce")
def reduce_unused(emit: Emitter, op: Operation) -> Sequence[Value] | None:
    """Do not reduce operands whose results nothing uses, and from which no others are computed."""
    emit.rewriter.settle(op)
    (region,), count = op.regions, len(op.results)
    kept = [i for i, result in enumerate(op.results) if emit.rewriter.uses(result)]
    if not kept or len(kept) == count or not is_pure(op):
        return None
    needed = _needed(region.block, kept)
    if {i % count for i, argument in enumerate(region.block.arguments) if argument in needed} != set(kept):
        return None
    arguments = [i + start for start in (0, count) for i in kept]
    regions = [_with_arguments(region, arguments, {}, kept)]
    new = emit.operation(
        op.name, [op.operands[i] for i in arguments], [op.result_types[i] for i in kept], regions, **op.properties
    )
    return _with_results(op, new, kept)


def _needed(block: Block, returned: Sequence[int]) -> set[Value]:
    """Return the values in a block that some of its results are computed from."""
    needed = {block.operations[-1].operands[i] for i in returned}
    for op in reversed(block.operations[:-1]):
        if not needed.isdisjoint(op.results):
            needed.update(operand for inner in op.walk() for operand in inner.operands)
    return needed


@on("reduce")
def reduce_to_known(emit: Emitter, op: Operation) -> Sequence[Value] | None:
    """Make a `reduce` of nothing the initial values, one over no dimension whose initial value is neutral the operand.

    One whose body returns values from outside has those as results, if they are reduced from anything.
    """
    emit.rewriter.settle(op)
    block, inits, operand = op.regions[0].block, op.operands[len(op.results) :], static(op.operands[0])
    returned, types = block.operations[-1].operands, [static(result) for result in op.results]
    if operand is None or None in types:
        return None
    if not operand.size:
        if any(elements_of(init) != elements_of(result) for init, result in zip(inits, op.results)):
            return None
        fill = partial(emit.value, "stablehlo.broadcast_in_dim", broadcast_dimensions=())
        return [fill(init, type=type) for init, type in zip(inits, types)]
    inside = {*block.arguments, *(result for inner in block.operations for result in inner.results)}
    if inside.isdisjoint(returned):
        return returned if is_pure(op) else None
    body, element = block.operations[0], splat(inits[0])
    is_binary = body.operands in (block.arguments, block.arguments[::-1])
    is_call = is_binary and body.results == returned and len(block.operations) == 2
    if op.properties["dimensions"] or element is None or not is_call or not traits_of(body).commutative:
        return None
    return op.operands[:1] if is_neutral(body.name.partition(".")[2], element, inits[0].type) else None


# --- others ---------------------------------------------------------------------------------------------------------


@on("get_tuple_element")
def element_of_tuple(emit: Emitter, op: Operation) -> Value | None:
    """Make an element of a `tuple` the operand of that."""
    made = defined_by(op.operands[0], "tuple")
    return made.operands[op.properties["index"]] if made else None


@on("tuple")
def tuple_of_elements(emit: Emitter, op: Operation) -> Value | None:
    """Make a tuple of all elements of another one that tuple."""
    elements = [defined_by(x, "get_tuple_element") for x in op.operands]
    sources = {element.operands[0] for element in elements if element}
    indices = [element.properties["index"] for element in elements if element]
    return sources.pop() if len(sources) == 1 and indices == list(range(len(op.operands))) else None


@on("custom_call")
def typed_ffi(emit: Emitter, op: Operation) -> Sequence[Value] | None:
    """Make `mhlo.backend_config`, which old calls have beside an empty `backend_config`, that of a typed call."""
    config = op.properties.get(FFI_CONFIG)
    is_old = op.properties.get("api_version", 1) == 1 and not op.properties.get("backend_config")
    if not is_old or not isinstance(config, dict):
        return None
    members = {name: value for name, value in op.properties.items() if name != FFI_CONFIG}
    members |= {"api_version": TYPED_FFI, "backend_config": config}
    return emit.operation(op.name, op.operands, op.result_types, **members).results


FFI_CONFIG = "ffi_config"


EMPTY = Patterns()


@EMPTY.on("*")
def empty(emit: Emitter, op: Operation) -> Sequence[Value] | None:
    """Make results and operands without elements constants, except of ops with effects."""
    is_empty = any((type := static(x)) and not type.size for x in (*op.operands, *op.results))
    if not is_empty or not op.name.startswith("stablehlo.") or op.name == "stablehlo.constant" or not is_pure(op):
        return None
    results = [_empty(emit, x) if emit.rewriter.uses(x) else None for x in op.results]
    if any(results):
        return [result or x for result, x in zip(results, op.results)]
    mapping = {x: made for x in op.operands if not defined_by(x, "constant") and (made := _empty(emit, x))}
    if not mapping:
        return None
    emit.rewriter.settle(op)
    new = clone(op, mapping)
    emit.insert(new)
    return new.results


def _empty(emit: Emitter, value: Value) -> Value | None:
    type = static(value)
    if type is None or type.size or is_quantized(type):
        return None
    return emit.constant(type, np.zeros(static_shape(type)))
