"""Cut a program into smaller ones: some of its ops, with the values that they need as inputs.

A *prefix cut* is the whole program with intermediate values as additional outputs; a *suffix cut* are its last ops, fed
at the cut; both, and a single op, are made by `segment`. Constants are copied into a segment and never fed, since ops
such as `dynamic_reshape` and backends depend on their values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from stablehlo_ref.debug.origins import set_origins
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.diagnostics import Location, UnsupportedError
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.types import ComplexType, FloatType, FunctionType, TensorType
from stablehlo_ref.passes.call_graph import functions
from stablehlo_ref.program import Program

FLATTENING = ("stablehlo-legalize-composite-to-call", "inline", "symbol-dce")
CHECKS = "check."  # ops that compare values, and return none
LITERALS = ("stablehlo.constant", "chlo.constant")  # whose values no backend computes
CONSTANTS = (*LITERALS, "stablehlo.iota")


class Flat:
    """A program whose entry calls no function that can be inlined, as a list of ops in the order of the text.

    Ops that check values are left out: those of a backend may fail.
    """

    def __init__(self, program: Program) -> None:
        self.program = program.transform(*FLATTENING)
        name = self.program.entry.name
        entry = functions(self.program.module).get(name)
        if entry is None or len(entry.regions[0].blocks) != 1:
            raise UnsupportedError(f"@{name} is not one block of ops, which `diff` needs", self.program.module.location)
        self.block = entry.regions[0].block
        before = functions(program.module)[name].regions[0].block
        set_origins(program.value_index, before, self.block)
        self.arguments: list[Value] = self.block.arguments
        self.ops = [op for op in self.block.operations[:-1] if not op.name.startswith(CHECKS)]
        self.outputs: list[Value] = self.block.operations[-1].operands

    @cached_property
    def positions(self) -> dict[Value, int]:
        """The index of the op that defines each value."""
        return {result: index for index, op in enumerate(self.ops) for result in op.results}

    def live_at(self, index: int) -> list[Value]:
        """Return the values defined before op `index` that it or later ops use, or that are outputs; no constants."""
        return needed_by(self.ops[index:], self.outputs)

    def live_after(self, start: int, end: int) -> list[Value]:
        """Return the results of the ops from `start` to `end` that later ops use, or that are outputs."""
        inner = {result: None for op in self.ops[start:end] for result in op.results}
        used = {o: None for op in self.ops[end:] for o in operands_of(op)} | dict.fromkeys(self.outputs)
        return [value for value in inner if value in used]

    def slice_of(self, start: int, end: int, value: Value) -> list[Operation]:
        """Return the ops from `start` to `end` that a value depends on."""
        needed, kept = {value}, []
        for op in reversed(self.ops[start:end]):
            if needed.intersection(op.results):
                kept.append(op)
                needed.update(operands_of(op))
        return kept[::-1]


@dataclass(frozen=True)
class Segment:
    """A program made of ops of another: its inputs and outputs are `feeds` and `wanted` there."""

    program: Program
    feeds: tuple[Value, ...]
    wanted: tuple[Value, ...]

    @cached_property
    def text(self) -> str:
        """The program as a backend is given it."""
        return str(self.program)


def is_observable(value: Value) -> bool:
    """Return whether a value can be an input or output of a segment: a static tensor."""
    return isinstance(value.type, TensorType) and value.type.is_static


def is_constant(value: Value) -> bool:
    return isinstance(value.owner, Operation) and value.owner.name in CONSTANTS


def is_literal(value: Value) -> bool:
    return isinstance(value.owner, Operation) and value.owner.name in LITERALS


def operands_of(op: Operation) -> list[Value]:
    """Return the values that an op uses: its operands, and what its regions take from outside, each once."""
    inside: set[Value] = set()
    used: dict[Value, None] = {}
    for inner in op.walk():
        used.update(dict.fromkeys(inner.operands))
        inside.update(inner.results if inner is not op else ())
        inside.update(a for region in inner.regions for block in region.blocks for a in block.arguments)
    return [value for value in used if value not in inside]


def needed_by(ops: Sequence[Operation], wanted: Iterable[Value] = ()) -> list[Value]:
    """Return the values, other than constants, that ops and outputs need from elsewhere."""
    made = {result for op in ops for result in op.results}
    used = {operand: None for op in ops for operand in operands_of(op)} | dict.fromkeys(wanted)
    return [value for value in used if value not in made and not is_constant(value)]


def segment(
    flat: Flat, ops: Sequence[Operation], wanted: Sequence[Value], feeds: Sequence[Value] | None = None
) -> Segment:
    """Return the program of `ops`, in order, with the outputs `wanted`; `feeds` are its inputs, else what it needs."""
    inputs = list(needed_by(ops, wanted) if feeds is None else feeds)
    present = {result for op in ops for result in op.results}
    used = {o: None for op in ops for o in operands_of(op)} | dict.fromkeys(wanted)
    constants = [v.owner for v in used if is_constant(v) and v not in present and v not in inputs]
    copied = [op for op in constants if isinstance(op, Operation)]
    body = _body([*copied, *ops], inputs, wanted, flat.program.module.location)
    module = _module(flat, body, [v.type for v in inputs], [v.type for v in wanted])
    program = Program(module, flat.program.entry.name, flat.program.limits)
    program._verified = flat.program._verified  # its ops are those of a program that was verified
    return Segment(program, tuple(inputs), tuple(wanted))


def _body(ops: Sequence[Operation], inputs: Sequence[Value], wanted: Sequence[Value], location: Location) -> Block:
    arguments = [Value(value.type, None, index, value.name) for index, value in enumerate(inputs)]
    for argument, value in zip(arguments, inputs):
        argument.location, argument.origin = value.location, value.origin
    mapping: dict[Value, Value] = dict(zip(inputs, arguments))
    made = [clone(op, mapping) for op in ops]
    return Block(arguments, [*made, build_operation("func.return", [mapping[v] for v in wanted], (), location)])


def _module(flat: Flat, body: Block, inputs: Sequence[object], outputs: Sequence[object]) -> Operation:
    """Return a module with the other functions and the attributes of the program, and `body` as the entry."""
    old = flat.program.module
    entry = functions(old)[flat.program.entry.name]
    members: dict[str, object] = {
        "function_type": FunctionType(tuple(inputs), tuple(outputs)),  # type: ignore[arg-type]
        "arg_attrs": (),
        "res_attrs": (),
    }
    names = ("sym_name", "sym_visibility")
    members |= {name: entry.properties[name] for name in names if name in entry.properties}
    function = build_operation("func.func", (), (), entry.location, members=members, regions=[Region([body])])
    others = [clone(op, {}) for op in old.regions[0].block.operations if op is not entry]
    module = Operation(old.name, [], (), dict(old.properties), dict(old.attributes), [], old.location)
    module.regions = [Region([Block([], [*others, function])])]
    module.regions[0].parent = module
    return module


def fed_to(op: Operation) -> list[Value]:
    """Return what a single op is fed: all that it uses but literals of integers, on which shapes may depend."""
    return [value for value in operands_of(op) if not is_literal(value) or is_fractional(value)]


def is_fractional(value: Value) -> bool:
    """Return whether a value is a tensor of floating-point or complex numbers."""
    return isinstance(value.type, TensorType) and isinstance(value.type.element_type, FloatType | ComplexType)


def single(flat: Flat, op: Operation) -> Segment:
    """Return the program of one op; its inputs are `fed_to(op)`."""
    return segment(flat, [op], op.results, fed_to(op))
