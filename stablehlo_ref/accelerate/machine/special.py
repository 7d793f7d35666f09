"""Ops that have a rule of their own in machine code: products, reductions, gathers, scatters, pads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from stablehlo_ref.accelerate.machine import tensors
from stablehlo_ref.accelerate.machine.assembly import NotCompiled, Register
from stablehlo_ref.accelerate.machine.groups import Splat
from stablehlo_ref.accelerate.machine.indexed import gathered, scattered
from stablehlo_ref.accelerate.machine.large import Held, Large
from stablehlo_ref.accelerate.machine.products import Product
from stablehlo_ref.accelerate.machine.reductions import reduced
from stablehlo_ref.accelerate.python.expressions import shape_of
from stablehlo_ref.define.computation import Run
from stablehlo_ref.execute.nans import canonical_results
from stablehlo_ref.ir.core import Operation

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner


class Site(NamedTuple):
    """An op, its kernel, the function that it is in, and what its instructions are appended to."""

    large: Large
    frame: FramePlanner
    op: Operation
    kernel: Run


Rule = Callable[[Site, Sequence[Held]], list[Held]]  # raises NotCompiled if the kernel has to compute the op


def _product(site: Site, operands: Sequence[Held]) -> list[Held]:
    op, large = site.op, site.large
    product = Product(op)
    product.check(site.kernel)
    result = large.product(product, operands, op)
    is_canonical = op in site.frame.planner.canonical
    return [large.canonical(result, shape_of(op.results[0])) if is_canonical else result]


def _reduce(site: Site, operands: Sequence[Held]) -> list[Held]:
    op, code, canonical = site.op, site.large.code, site.frame.planner.canonical
    registers, body = _registers(op, operands), site.frame.region(op.regions[0])
    results = reduced(code, op, body, registers, shape_of(op.operands[0]), canonical)
    for number, _ in canonical_results(op, canonical):
        results[number] = code.canonical(results[number])
    return list(results)


def _gather(site: Site, operands: Sequence[Held]) -> list[Held]:
    return [gathered(site.large, site.op, *operands)]


def _scatter(site: Site, operands: Sequence[Held]) -> list[Held]:
    return [scattered(site.large, site.op, operands, site.frame.planner.canonical)]


def _pad(site: Site, operands: Sequence[Held]) -> list[Held]:
    if not tensors.fits_registers(site.op.results[0]):
        return [_large_pad(site.large, site.op, *operands)]
    return [tensors.moved(site.large.code, site.op, _registers(site.op, operands), site.kernel)]


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


def _registers(op: Operation, operands: Sequence[Held]) -> list[Register]:
    registers = [x for x in operands if isinstance(x, Register)]
    if len(registers) < len(operands):
        raise NotCompiled(op.name)
    return registers


SPECIAL: Mapping[str, Rule] = {
    "stablehlo.dot_general": _product,
    "stablehlo.reduce": _reduce,
    "stablehlo.gather": _gather,
    "stablehlo.scatter": _scatter,
    "stablehlo.pad": _pad,
}
