"""Cut a program into smaller ones: some of its ops, with the values that they need as inputs.

A *prefix cut* is the whole program with intermediate values as additional outputs; a *suffix cut* are its last ops, fed
at the cut; both, and a single op, are made by `subprogram`. Constants are copied into a subprogram and never fed, since
ops such as `dynamic_reshape` and backends depend on their values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

from stablehlo_ref.debug.traces.record import joined
from stablehlo_ref.define.builder import build_module
from stablehlo_ref.define.definition import definition_of, facts_of, is_constant_like
from stablehlo_ref.define.facts import Arithmetic
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.core import Block, Operation, Value, captured
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.types import ComplexType, FloatType, TensorType
from stablehlo_ref.ir.value_index import local_name, segment
from stablehlo_ref.limits.stack import FRAMES, on_enough_stack
from stablehlo_ref.passes.inline import INLINED
from stablehlo_ref.passes.symbols import functions
from stablehlo_ref.program import Program

CALLS = {"func.call": "callee", "stablehlo.composite": "decomposition"}  # the attribute that names the function
FLATTENING = ("stablehlo-legalize-composite-to-call", "inline", "symbol-dce")
CHECKS = "check."  # ops that compare values, and return none
BRANCHES = ("stablehlo.if", "stablehlo.case")
LOOP = "stablehlo.while"


def _named(program: Program) -> Program:
    """Return a copy of a program whose values have their names in it as origins, which passes keep."""
    copies: dict[Value, Value] = {}
    module = on_enough_stack(program.module.location, FRAMES, clone, program.module, copies)
    for value, copy in copies.items():
        copy.origin = program.value_index.unique_name(value)
    return program._with(module)


def _set_origins(flat: Block) -> None:
    """Name the values of a flat program, and of regions in it, as traces of the program do.

    The name is that of the value in its function, `@relu/%3`; where several calls of the function were inlined, it is
    the address of the value, `%t/%3`. Constants, which have one value, always have the first.
    """
    blocks, found = [(flat, "")], list[tuple[Value, str, str]]()
    for block, prefix in blocks:
        found += [(value, value.origin, joined(prefix, local_name(value.origin))) for value in block.arguments]
        for op in block.operations:
            names = [result.origin.split(INLINED) for result in op.results] or [[op.name]]
            inner = reduce(joined, map(segment, reversed(names[0][1:])), prefix)
            found += [(v, name, joined(inner, local_name(name))) for v, (name, *_) in zip(op.results, names)]
            blocks += [(b, joined(inner, segment(names[0][0]))) for region in op.regions for b in region.blocks]
    counts = Counter(name for _, name, _ in found)
    for value, name, address in found:
        is_constant = isinstance(value.owner, Operation) and is_constant_like(value.owner)
        value.origin = name if counts[name] == 1 or is_constant else address


def set_turn(ops: list[Operation], loop: Operation, turn: int) -> None:
    """Let addresses of values in a loop say the turn: `%t/%loop[2]/%3`."""
    address = loop.results[0].origin.partition("#")[0] if loop.results else ""
    for value in (value for outer in ops for op in outer.walk() for value in op.results):
        if address and value.origin.startswith(f"{address}/"):
            value.origin = f"{address}[{turn}]{value.origin.removeprefix(address)}"


class Flat:
    """A program whose entry calls no function that can be inlined, as a list of ops in the order of the text.

    Ops that check values are left out: those of a backend may fail.
    """

    def __init__(self, program: Program) -> None:
        self.program = _named(program).transform(*FLATTENING)
        name = self.program.entry.name
        entry = functions(self.program.module).get(name)
        if entry is None or len(entry.regions[0].blocks) != 1:
            raise UnsupportedError(f"@{name} is not one block of ops, which `diff` needs", self.program.module.location)
        self.block = entry.regions[0].block
        _set_origins(self.block)
        self.arguments: list[Value] = self.block.arguments
        self.ops = [op for op in self.block.operations[:-1] if not op.name.startswith(CHECKS)]
        self.outputs: list[Value] = self.block.operations[-1].operands


@dataclass(frozen=True)
class Subprogram:
    """A program made of ops of another: its inputs and outputs are `feeds` and `wanted` there."""

    program: Program
    feeds: tuple[Value, ...]
    wanted: tuple[Value, ...]

    @cached_property
    def text(self) -> str:
        """The program as a backend is given it."""
        return str(self.program)


def is_control_flow(op: Operation) -> bool:
    """Return whether an op runs the ops in its regions, or in a function, one after the other."""
    definition = definition_of(op)
    return definition is not None and "plan_control_flow" in definition.roles


def is_observable(value: Value) -> bool:
    """Return whether a value can be an input or output of a subprogram: a static tensor."""
    return isinstance(value.type, TensorType) and value.type.is_static


def is_constant_op(op: Operation) -> bool:
    """Return whether an op has the same result in each program: a constant, or `iota`."""
    return facts_of(op).arithmetic is Arithmetic.MOVES and not op.operands and bool(op.results)


def is_constant(value: Value) -> bool:
    return isinstance(value.owner, Operation) and is_constant_op(value.owner)


def is_literal(value: Value) -> bool:
    """Return whether a value is that of an attribute, which no backend computes."""
    return isinstance(value.owner, Operation) and is_constant_like(value.owner)


def branch_of(op: Operation, index: Any) -> int:
    """Return the number of the region of a conditional that is taken."""
    number, count = int(index), len(op.regions)
    if op.name == "stablehlo.if":
        return 1 - number
    return number if 0 <= number < count else count - 1


def operands_of(op: Operation) -> list[Value]:
    """Return the values that an op uses: its operands, and what its regions take from outside, each once."""
    return list(dict.fromkeys([*op.operands, *(value for region in op.regions for value in captured(region))]))


def needed_by(ops: Sequence[Operation], wanted: Iterable[Value] = ()) -> list[Value]:
    """Return the values, other than constants, that ops and outputs need from elsewhere."""
    made = {result for op in ops for result in op.results}
    used = {operand: None for op in ops for operand in operands_of(op)} | dict.fromkeys(wanted)
    return [value for value in used if value not in made and not is_constant(value)]


def sinks(ops: Sequence[Operation], outputs: Iterable[Value] = ()) -> list[Value]:
    """Return the results that no other of the ops uses, or that are outputs, as far as they can be observed."""
    used = {operand for op in ops for operand in operands_of(op)} - set(outputs)
    return [result for op in ops for result in op.results if result not in used and is_observable(result)]


def slice_of(ops: Sequence[Operation], value: Value) -> list[Operation]:
    """Return those of some ops in order that a value depends on."""
    needed, kept = {value}, []
    for op in reversed(ops):
        if needed.intersection(op.results):
            kept.append(op)
            needed.update(operands_of(op))
    return kept[::-1]


def subprogram(
    flat: Flat, ops: Sequence[Operation], wanted: Sequence[Value], feeds: Sequence[Value] | None = None
) -> Subprogram:
    """Return the program of `ops`, in order, with the outputs `wanted`; `feeds` are its inputs, else what it needs."""
    inputs = list(needed_by(ops, wanted) if feeds is None else feeds)
    present = {result for op in ops for result in op.results}
    used = {o: None for op in ops for o in operands_of(op)} | dict.fromkeys(wanted)
    constants = [v.owner for v in used if is_constant(v) and v not in present and v not in inputs]
    copied = [op for op in constants if isinstance(op, Operation)]
    arguments = [Value(value.type, None, index, value.name) for index, value in enumerate(inputs)]
    for argument, value in zip(arguments, inputs):
        argument.location, argument.origin = value.location, value.origin
    mapping = dict(zip(inputs, arguments))
    made = [clone(op, mapping) for op in (*copied, *ops)]
    module = _module(flat, arguments, made, [mapping[v] for v in wanted])
    verified = flat.program._verified  # its ops are those of that program
    program = Program(module, flat.program.entry.name, flat.program.limits, verified)
    return Subprogram(program, tuple(inputs), tuple(wanted))


def _module(flat: Flat, arguments: Sequence[Value], ops: Sequence[Operation], results: Sequence[Value]) -> Operation:
    """Return a module with the other functions and the attributes of the program, and another entry."""
    old, name = flat.program.module, flat.program.entry.name
    entry = functions(old)[name]
    others = [clone(op, {}) for op in old.regions[0].block.operations if op is not entry]
    module = build_module(arguments, ops, results, entry.location, others)
    module.properties, module.attributes = dict(old.properties), dict(old.attributes)
    module.regions[0].block.operations[0].properties["sym_name"] = name
    return module


def fed_to(op: Operation) -> list[Value]:
    """Return what a single op is fed: all that it uses but literals of integers, on which shapes may depend."""
    return [value for value in operands_of(op) if not is_literal(value) or has_fractions(value)]


def has_fractions(value: Value) -> bool:
    """Return whether a value is a tensor or scalar of floating-point or complex numbers."""
    return isinstance(getattr(value.type, "element_type", value.type), FloatType | ComplexType)


def single(flat: Flat, op: Operation) -> Subprogram:
    """Return the program of one op; its inputs are `fed_to(op)`."""
    return subprogram(flat, [op], op.results, fed_to(op))
