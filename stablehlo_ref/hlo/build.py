"""HLO computations as functions and regions. Tuples are flattened: a value that is one is a tree of SSA values.

A computation that is called, also by a fusion, becomes a function; one that an op applies becomes a region, once for
each op that applies it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from stablehlo_ref.define.builder import build_function, build_operation
from stablehlo_ref.diagnostics import LimitError, Location, MalformedError, Source, UnsupportedError
from stablehlo_ref.hlo.text import (
    Attributes,
    Computation,
    HloModule,
    Instruction,
    Reader,
    Shape,
    ShapeTree,
    flat_shapes,
    types_of,
)
from stablehlo_ref.ir.attributes import Attribute, IntegerAttribute
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.lexer import MAX_NESTING, shorten
from stablehlo_ref.ir.locations import DebugLocation, FileLocation, NameLocation
from stablehlo_ref.ir.types import Type, integer_type
from stablehlo_ref.limits.budget import activity, check_time
from stablehlo_ref.limits.stack import FRAMES, collection_paused, on_enough_stack
from stablehlo_ref.suggestions import did_you_mean

Tree: TypeAlias = "Value | tuple[Tree, ...]"  # a value, or the values in a tuple
Converter: TypeAlias = Callable[["ComputationBody", Instruction, list[Tree]], Tree]

REPEATED = 100  # ops that all regions may have for each instruction of the text, as an applied computation is copied
FREE = 10_000  # ops that they may have in any case
# Attributes that say how an instruction is compiled, where it comes from or where it runs, and not what it computes.
WITHOUT_MEANING = frozenset((
    "backend_config", "control-predecessors", "domain", "outfeed_shape", "execution_thread", "async_execution_thread",
    "frontend_attributes", "kind", "metadata", "origin", "original_value", "outer_dimension_partitions",
    "output_to_operand_aliasing", "result_accuracy", "schedule", "sharding", "statistics", "raw_backend_config",
    "cross_program_prefetch_index", "is_composite",
))  # fmt: skip


def flat(tree: Tree) -> Iterator[Value]:
    """Yield the values in a tree, in order."""
    if isinstance(tree, Value):
        yield tree
    else:
        for part in tree:
            yield from flat(part)


def tree_of(shape: ShapeTree, values: Iterator[Value]) -> Tree:
    """Return the next values in a tree of a shape."""
    return next(values) if isinstance(shape, Shape) else tuple(tree_of(part, values) for part in shape)


def read(source: Source, converters: Mapping[str, Converter]) -> Operation:
    """Return the module that an HLO text stands for.

    MalformedError for a text that is not HLO, UnsupportedError for what StableHLO does not have; both with the place.
    """
    reader = Reader(source)
    size = max(len(source.text), 1)
    with collection_paused(), activity(f"reading {source.filename}", lambda: reader.position / size):
        return on_enough_stack(Location(source, 0), FRAMES, _read, reader, converters)


def _read(reader: Reader, converters: Mapping[str, Converter]) -> Operation:
    try:
        return Builder(reader.module(), converters).build()
    except LimitError as error:  # the time for reading is over
        raise error.at(Location(reader.source, reader.start)) from None
    except RecursionError as error:  # Python's recursion limit is low
        raise reader.error("the nesting exceeds Python's recursion limit") from error


class Builder:
    """Makes the functions of a module."""

    def __init__(self, module: HloModule, converters: Mapping[str, Converter]) -> None:
        self.module = module
        self.converters = converters
        self.called = {module.entry.name: module.entry}  # the computations that are functions
        self.order = {name: index for index, name in enumerate(module.computations)}
        self.left = FREE + REPEATED * sum(len(c.instructions) for c in module.computations.values())

    def build(self) -> Operation:
        """Return the module."""
        module = self.module
        functions: dict[str, Operation] = {}
        while pending := [c for name, c in self.called.items() if name not in functions]:
            functions.update((computation.name, self._function(computation)) for computation in pending)
        order = sorted(functions, key=lambda name: (name != module.entry.name, self.order[name]))
        block = Block([], [functions[name] for name in order])
        counts = {"num_partitions": "num_partitions", "replica_count": "num_replicas"}
        attributes: dict[str, Attribute] = {
            f"mhlo.{name}": IntegerAttribute(_count(module.attributes, key), integer_type(32))
            for key, name in counts.items()
            if key in module.attributes
        }
        if module.name:
            attributes["sym_name"] = module.name
        return build_operation(
            "builtin.module", (), (), module.location, attributes=attributes, regions=[Region([block])]
        )

    def symbol(self, computation: Computation) -> str:
        """Return the name of the function of a computation, which for the entry is `main`; it becomes a function."""
        self.called[computation.name] = computation
        if computation is self.module.entry:
            return "main"
        return f"{computation.name}.called" if computation.name == "main" else computation.name

    def _function(self, computation: Computation) -> Operation:
        body = ComputationBody(self, computation, 0)
        arguments = body.arguments()
        results = list(flat(body.run()))
        visibility = "public" if computation is self.module.entry else "private"
        name, location = self.symbol(computation), computation.location
        return build_function(name, arguments, body.ops, results, location, visibility=visibility)

    def debug_location(self, instruction: Instruction) -> DebugLocation | None:
        """Return the name and the file in the `metadata` of an instruction."""
        text = instruction.attributes.text("metadata", "")
        fields = {key: quoted or word for key, quoted, word in re.findall(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|(\d+))', text)}
        place = self.module.places.get(int(fields.get("stack_frame_id", 0)))
        if "source_file" in fields:
            place = fields["source_file"], int(fields.get("source_line", 0)), int(fields.get("source_column", 0))
        file = FileLocation(*place) if place else None
        return NameLocation(fields["op_name"], file) if "op_name" in fields else file


def _count(attributes: Attributes, name: str) -> int:
    """Return a number of processes."""
    if (count := attributes.integer(name)) < 1:
        raise attributes.error(name, "a positive number")
    return count


class ComputationBody:
    """The ops of one computation, as part of a function or of a region."""

    def __init__(self, builder: Builder, computation: Computation, depth: int) -> None:
        self.builder = builder
        self.computation = computation
        self.depth = depth
        self.ops: list[Operation] = []
        self.values: dict[str, Tree] = {}
        self.shapes: dict[str, ShapeTree] = {}  # of the instructions so far
        self.debug_location: DebugLocation | None = None

    # --- from computations --------------------------------------------------------------------------------------

    def arguments(self) -> list[Value]:
        """Return new values for the parameters, flattened."""
        values = [value for parameter in self.computation.parameters for value in flat(self._parameter(parameter))]
        for index, value in enumerate(values):
            value.index = index
        return values

    def _parameter(self, parameter: Instruction) -> Tree:
        location = self.builder.debug_location(parameter)
        types = types_of(parameter.shape)
        values = [Value(t, None, i, _name(parameter.name, i, len(types))) for i, t in enumerate(types)]
        for value in values:
            value.location = location
        self.values[parameter.name] = tree = tree_of(parameter.shape, iter(values))
        return tree

    def bind(self, arguments: Sequence[Tree], location: Location) -> None:
        """Give the parameters values that exist."""
        parameters = self.computation.parameters
        found = [[v.type for v in flat(tree)] for tree in arguments]
        if found != [types_of(parameter.shape) for parameter in parameters]:
            expected = [types_of(parameter.shape) for parameter in parameters]
            raise MalformedError(f"'{self.computation.name}' takes {_text(expected)}, got {_text(found)}", location)
        self.values.update((p.name, tree) for p, tree in zip(parameters, arguments))

    def run(self) -> Tree:
        """Make the ops of all instructions; return the value of the root."""
        if self.depth > MAX_NESTING:
            raise MalformedError(f"nesting exceeds the limit of {MAX_NESTING} levels", self.computation.location)
        for instruction in self.computation.instructions:
            if instruction.name in self.shapes:
                raise MalformedError(f"redefinition of '{instruction.name}'", instruction.location)
            self.shapes[instruction.name] = instruction.shape
            if instruction.opcode != "parameter":
                self.values[instruction.name] = self._instruction(instruction)
        return self.values[self.computation.root.name]

    def _instruction(self, instruction: Instruction) -> Tree:
        check_time("parsing")
        convert = self.builder.converters.get(instruction.opcode)
        if convert is None:
            hint = did_you_mean(instruction.opcode, self.builder.converters)
            message = f"StableHLO has no equal of HLO's '{shorten(instruction.opcode)}'{hint}"
            raise UnsupportedError(message, instruction.location)
        self.debug_location = self.builder.debug_location(instruction)
        tree = convert(self, instruction, [self._operand(instruction, operand) for operand in instruction.operands])
        for name in instruction.attributes.unread(WITHOUT_MEANING):
            message = f"'{name}' of '{instruction.opcode}' is not supported"
            raise UnsupportedError(message, instruction.attributes.location(name))
        found, expected = [v.type for v in flat(tree)], types_of(instruction.shape)
        is_started = instruction.opcode.endswith(("-start", "async-update"))  # only `-done` takes these values
        if found != expected and not is_started:
            message = f"'{instruction.opcode}' has the type {_text([expected])}, got {_text([found])}"
            raise MalformedError(message, instruction.location)
        return tree

    def _operand(self, instruction: Instruction, operand: tuple[str, int]) -> Tree:
        name, offset = operand
        if name not in self.values:
            location = Location(instruction.location.source, offset)
            raise MalformedError(f"use of undefined value '{name}'{did_you_mean(name, self.values)}", location)
        return self.values[name]

    # --- for converters -----------------------------------------------------------------------------------------

    def add(
        self, name: str, operands: Sequence[Value], types: Sequence[Type], location: Location,
        regions: Sequence[Region] = (), members: Mapping[str, object] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> list[Value]:  # fmt: skip
        """Add an op and return its results."""
        self.builder.left -= 1
        if self.builder.left < 0:
            raise MalformedError("applied computations expand beyond the limit of ops", location)
        op = build_operation(
            name, operands, types, location,
            attributes=attributes, members=members, regions=regions, debug_location=self.debug_location,
        )  # fmt: skip
        self.ops.append(op)
        return op.results

    def emit(
        self, i: Instruction, name: str, operands: Sequence[Tree], regions: Sequence[Region] = (),
        members: Mapping[str, object] | None = None, attributes: Mapping[str, Attribute] | None = None,
    ) -> Tree:  # fmt: skip
        """Add an op with the results of an instruction; a layout that is not row-major becomes an attribute."""
        shapes = list(flat_shapes(i.shape))
        fed, types = list(flat(tuple(operands))), [shape.type for shape in shapes]
        values = self.add(name, fed, types, i.location, regions, members, attributes)
        for index, value in enumerate(values):
            value.name = _name(i.name, index, len(values))
        layouts = [(shape.type, shape.layout) for shape in shapes if shape.layout]
        if texts := [f"{t}{{{','.join(map(str, x))}}}" for t, x in layouts if x != tuple(range(len(x)))[::-1]]:
            self.ops[-1].attributes["xla_shape"] = ", ".join(texts)  # such as tensor<2x3xf32>{0,1}
        return tree_of(i.shape, iter(values))

    def computation_named(self, i: Instruction, attribute: str, index: int = 0) -> Computation:
        """Return the computation that an attribute names, which stands before the one that uses it."""
        names = i.attributes.names(attribute)
        name = names[index] if index < len(names) else ""
        order = self.builder.order
        if name not in order or order[name] >= order[self.computation.name]:
            message = f"expected a computation that is defined before this one, got '{shorten(name)}'"
            raise MalformedError(message, i.attributes.location(attribute))
        return self.builder.module.computations[name]

    def applied(self, i: Instruction, attribute: str = "to_apply") -> Region:
        """Return a computation as a region with its parameters as arguments."""
        body = ComputationBody(self.builder, self.computation_named(i, attribute), self.depth + 1)
        arguments = body.arguments()
        return body.closed(arguments, i.location)

    def branch(self, i: Instruction, computation: Computation, operand: Tree) -> Region:
        """Return a computation of one operand as a region without arguments."""
        body = ComputationBody(self.builder, computation, self.depth + 1)
        body.bind([operand], i.location)
        return body.closed([], i.location)

    def closed(self, arguments: list[Value], location: Location) -> Region:
        """Return the computation as a region."""
        self.add("stablehlo.return", list(flat(self.run())), (), location)
        return Region([Block(arguments, self.ops)])

    def call(self, i: Instruction, attribute: str, operands: list[Tree]) -> Tree:
        """Call the function of a computation."""
        computation = self.computation_named(i, attribute)
        ComputationBody(self.builder, computation, 0).bind(operands, i.location)
        return self.emit(i, "func.call", operands, (), {"callee": self.builder.symbol(computation)})


def _name(name: str, index: int, count: int) -> str:
    return name if count == 1 else f"{name}#{index}"


def _text(types: Sequence[Sequence[Type]]) -> str:
    """Return the types of values, each a list if it is a tuple."""
    return ", ".join(str(t[0]) if len(t) == 1 else f"({', '.join(map(str, t))})" for t in types) or "nothing"
