"""Ops that have a rule of their own in machine code: products, reductions, gathers, scatters, pads.

A gather or scatter of few elements is a slice for each index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from math import prod

import numpy as np

from stablehlo_ref.accelerate.ir import NotCompiled, shape_of
from stablehlo_ref.accelerate.machine import tensors
from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, literal
from stablehlo_ref.accelerate.machine.large import Held, Large, Splat
from stablehlo_ref.accelerate.machine.products import Product
from stablehlo_ref.accelerate.machine.reductions import Site, applied, reduce, registers_of
from stablehlo_ref.accelerate.machine.tensors import Memory, fits_registers, offset
from stablehlo_ref.algorithms.indexed_windows import index_components
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.numerics.dtypes import BOOL

MAX_INDICES = 16  # of one op, each of which is some instructions


Rule = Callable[[Site, Sequence[Held]], list[Held]]  # raises NotCompiled if the kernel has to compute the op


def _gather(site: Site, operands: Sequence[Held]) -> list[Held]:
    """Write a gather: its result is in registers, or the view of one slice."""
    large, op, (x, indices) = site.large, site.op, operands
    code, p, shape = large.code, op.properties, shape_of(op.results[0])
    sizes: Sequence[int] = p["slice_sizes"]
    starts = _start_indices(
        code, op, indices, "start_index_map", "operand_batching_dims", "start_indices_batching_dims"
    )
    whole = large.memory(x, shape_of(op.operands[0]))
    large.groups.flush()
    places = [tensors.clamped_start(code, start, whole, sizes) for start in starts]
    offset_dims = list(p["offset_dims"])
    if not fits_registers(op.results[0]):
        return [_view(large, op, whole, places, shape)]
    parts = [tensors.sliced(code, whole, place, [1] * len(sizes), sizes) for place in places]
    offsets = [shape[d] for d in offset_dims]
    batch = [n for d, n in enumerate(shape) if d not in offset_dims]
    numbers = np.arange(prod(shape)).reshape([*batch, *offsets])
    numbers = np.moveaxis(numbers, range(len(batch), len(shape)), offset_dims)
    return [code.shuffled(parts, [divmod(n, prod(sizes)) for n in numbers.reshape(-1).tolist()])]


def _view(large: Large, op: Operation, whole: Memory, places: Sequence[Register], shape: tuple[int, ...]) -> Held:
    """Return the only slice of a gather."""
    if len(places) != 1:
        raise NotCompiled(op.name)
    removed = {*op.properties["collapsed_slice_dims"], *op.properties["operand_batching_dims"]}
    kept = iter([stride for d, stride in enumerate(whole.strides) if d not in removed])
    offset_dims = op.properties["offset_dims"]
    return large.arrays.view(
        whole, places[0], shape, tuple(next(kept) if d in offset_dims else 0 for d in range(len(shape)))
    )


def _scatter(site: Site, operands: Sequence[Held]) -> list[Held]:
    """Write a scatter to one tensor, in place if it is in memory: an update that is out of bounds is left out."""
    large, op, canonical = site.large, site.op, site.canonical
    code, p = large.code, op.properties
    if len(operands) != 3 or op.results[0].type != op.operands[0].type or op in canonical:
        raise NotCompiled(op.name)
    x, indices, updates = operands
    names = ("scatter_dims_to_operand_dims", "input_batching_dims", "scatter_indices_batching_dims")
    starts = _start_indices(code, op, indices, *names)
    shape, windows = shape_of(op.operands[0]), shape_of(op.operands[2])
    sizes = _window_sizes(op, shape, windows)
    if not isinstance(updates, Register) or any(sizes[d] != 1 for d in p["scatter_dims_to_operand_dims"]):
        raise NotCompiled(op.name)
    whole = large.memory(x, shape)
    target = whole if isinstance(x, Register) else large.own(whole, large.loop, op)
    large.groups.flush()
    window_dims = list(p["update_window_dims"])
    numbers = np.arange(prod(windows)).reshape(windows)
    numbers = np.moveaxis(numbers, window_dims, range(numbers.ndim - len(window_dims), numbers.ndim))
    for start, row in zip(starts, numbers.reshape(len(starts), -1).tolist()):
        update = code.shuffled([updates], [(0, n) for n in row])
        _update(code, op, target, start, sizes, update, canonical)
    if isinstance(x, Register):
        return [code.load(target.pointer, x.kind)]
    return [large.arrays.changed(target, op)]


def _window_sizes(op: Operation, shape: Sequence[int], windows: Sequence[int]) -> list[int]:
    """Return the sizes of an update along all dimensions of the operand."""
    removed = {*op.properties["inserted_window_dims"], *op.properties["input_batching_dims"]}
    kept = iter([windows[d] for d in op.properties["update_window_dims"]])
    return [1 if d in removed else next(kept) for d in range(len(shape))]


def _update(
    code: Assembly, op: Operation, target: Memory, starts: Sequence[Register], sizes: Sequence[int], update: Register,
    canonical: Set[Operation],
) -> None:  # fmt: skip
    """Append an update of a window, if it is in bounds."""
    inside, place = literal(Kind(BOOL), True), offset(code, starts, target.strides)
    for start, whole, size in zip(starts, target.shape, sizes):
        inside = code.binary("and", inside, code.compare("ule", start, literal(start.kind, whole - size)))

    def combine() -> None:
        old = tensors.sliced(code, target, place, [1] * len(sizes), sizes)
        (new,) = applied(code, op.regions[0], [old, update], canonical)
        tensors.updated(code, target, new, place, sizes)

    code.when(inside, combine)


def _start_indices(
    code: Assembly, op: Operation, indices: Held, indexed: str, batching: str, of_indices: str
) -> list[list[Register]]:
    """Return the start of each slice along all dimensions of the operand, as integers of 64 bits."""
    p, shape = op.properties, shape_of(op.operands[1])
    if not isinstance(indices, Register):
        raise NotCompiled(op.name)
    axis: int = p["index_vector_dim"]
    batch = [n for d, n in enumerate(shape) if d != axis]
    if prod(batch) > MAX_INDICES:
        raise NotCompiled(op.name)
    components = index_components(np.arange(prod(shape)).reshape(shape), axis)
    starts = []
    for at in np.ndindex(*batch):
        start = [literal(Kind(INDEX), 0) for _ in shape_of(op.operands[0])]
        for d, numbers in zip(p[indexed], components):
            start[d] = _as_index(code, code.element(indices, int(numbers[at])))
        for d, of_index in zip(p[batching], p[of_indices]):
            start[d] = literal(Kind(INDEX), at[of_index - (of_index > axis)])
        starts.append(start)
    return starts


def _as_index(code: Assembly, x: Register) -> Register:
    """Return an index as an integer of 64 bits, which is unsigned if the index is one of so many bits already."""
    if x.kind.dtype.itemsize == INDEX.itemsize:
        return x
    return code.cast("zext" if x.kind.dtype.kind == "u" else "sext", x, INDEX)


def _product(site: Site, operands: Sequence[Held]) -> list[Held]:
    op, large = site.op, site.large
    product = Product(op, site.frame.planner.mode.reproducible)
    product.check(site.kernel)
    result = large.product(product, operands, op)
    is_canonical = op in site.canonical
    return [large.canonical(result, shape_of(op.results[0])) if is_canonical else result]


def _pad(site: Site, operands: Sequence[Held]) -> list[Held]:
    if not tensors.fits_registers(site.op.results[0]):
        return [_large_pad(site.large, site.op, *operands)]
    return [tensors.moved(site.large.code, site.op, registers_of(site.op, operands), site.kernel)]


def _large_pad(large: Large, op: Operation, x: Held, value: Held) -> Held:
    """Fill a new array, and copy the operand to its place."""
    p, shape = op.properties, shape_of(op.results[0])
    low, high, interior = p["edge_padding_low"], p["edge_padding_high"], p["interior_padding"]
    if not isinstance(value, Register) or any(interior) or min(*low, *high) < 0:
        raise NotCompiled(op.name)
    target = large.arrays.scratch(value.kind.dtype, shape, large.loop)
    large.assign(Splat(value, shape), target)
    start = sum(n * stride for n, stride in zip(low, target.strides))
    large.assign(x, large.arrays.view(target, start, shape_of(op.operands[0])))
    return target


SPECIAL: Mapping[str, Rule] = {
    "stablehlo.dot_general": _product,
    "stablehlo.reduce": reduce,
    "stablehlo.gather": _gather,
    "stablehlo.scatter": _scatter,
    "stablehlo.pad": _pad,
}
