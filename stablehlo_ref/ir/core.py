"""The program: operations in blocks in regions of operations. Plain data; op classes define what operations mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

from stablehlo_ref.diagnostics import Location
from stablehlo_ref.ir.locations import DebugLocation, model_location
from stablehlo_ref.ir.types import FunctionType, Type
from stablehlo_ref.limits.budget import within_time

MALFORMED = "<malformed>"  # the name of what stands for an op that could not be read


class Value:
    """An SSA value: the result of an operation, or the argument of a block."""

    __slots__ = ("index", "location", "name", "origin", "owner", "type")

    def __init__(self, type: Type, owner: Operation | Block | None, index: int, name: str = "") -> None:
        self.type = type
        self.owner = owner
        self.index = index
        self.name = name  # as in the text, without `%`; need not be unique
        self.location: DebugLocation | None = None  # of a block argument: its `loc(...)`
        self.origin = ""  # its name in the program that this one was made of, if that is known

    @property
    def producer(self) -> Operation | None:
        """The op that the value is a result of; None for a block argument."""
        return self.owner if isinstance(self.owner, Operation) else None

    def __repr__(self) -> str:
        return f"<Value %{self.name or self.index}: {self.type}>"


class Operation:
    """One op. `attributes` are its discardable attributes.

    `properties` are the values of attribute members if the op has a class, and the attributes between `<{` and `}>` if
    it has none.
    """

    __slots__ = (
        "attributes", "debug_location", "location", "name", "operands", "parent", "properties",
        "regions", "results", "spelling", "successors",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        operands: list[Value],
        result_types: Sequence[Type],
        properties: dict[str, Any],
        attributes: dict[str, Any],
        regions: Sequence[Region],
        location: Location,
    ) -> None:
        self.name = name
        self.operands = operands
        if len(result_types) == 1:  # a comprehension takes longer
            self.results = [Value(result_types[0], self, 0)]
        else:
            self.results = [Value(type, self, index) for index, type in enumerate(result_types)]
        self.properties = properties
        self.attributes = attributes
        self.regions: Sequence[Region] = regions or ()  # most ops have none
        self.location = location  # where the op is in the text
        self.debug_location: DebugLocation | None = None  # its `loc(...)`
        # The dialect whose form of the op is printed, `mhlo`, if that is not its own; of a module `vhlo` and a version.
        self.spelling = ""
        self.successors: Sequence[str] = ()  # labels of the blocks that a terminator may branch to
        self.parent: Block | None = None
        for region in regions:
            region.parent = self

    def __repr__(self) -> str:
        return f"<Operation {self.name} at {self.location}>"

    @property
    def mnemonic(self) -> str:
        """The name without the dialect, `add`."""
        return self.name.partition(".")[2]

    @property
    def operand_types(self) -> list[Type]:
        return [operand.type for operand in self.operands]

    @property
    def result_types(self) -> list[Type]:
        return [result.type for result in self.results]

    def operand_names(self) -> list[str]:
        """Return the names of the operands in the text; "" for those without a name."""
        return [operand.name for operand in self.operands]

    @property
    def block_arguments(self) -> list[Value]:
        """The arguments of all blocks in its regions."""
        return [argument for region in self.regions for block in region.blocks for argument in block.arguments]

    def producers(self) -> list[Operation | None]:
        """Return the ops that the operands are results of; None for block arguments."""
        return [operand.producer for operand in self.operands]

    @property
    def model_location(self) -> str | None:
        """The name and the file of the op in the model that the program was made from, or None if they are unknown."""
        return model_location(self.debug_location)

    @property
    def parent_op(self) -> Operation | None:
        """The op whose region contains this op."""
        return self.parent.parent.parent if self.parent and self.parent.parent else None

    def symbol(self, name: str) -> Operation | None:
        """Return the op that `@name` refers to, in the nearest op around this one that defines it, or None."""
        scope = self.parent_op
        while scope is not None:
            for block in (block for region in scope.regions for block in region.blocks):
                if found := block.symbol(name):
                    return found
            scope = scope.parent_op
        return None

    def walk(self) -> Iterator[Operation]:
        """Yield this op and every op inside it in pre-order."""
        pending = [iter([self])]
        while pending:
            for op in pending[-1]:
                yield op
                if op.regions:
                    pending.append(
                        iter([inner for r in op.regions for block in r.blocks for inner in block.operations])
                    )
                    break
            else:
                pending.pop()


class Block:
    """Operations in order; the last is the terminator."""

    __slots__ = ("_symbols", "arguments", "label", "operations", "parent")

    def __init__(self, arguments: list[Value], operations: list[Operation], label: str = "") -> None:
        self.arguments = arguments
        self.operations = operations
        self.label = label
        self.parent: Region | None = None
        self._symbols: tuple[list[Operation], int, dict[str, Operation]] | None = None
        for argument in arguments:
            argument.owner = self
        for operation in operations:
            operation.parent = self

    def symbol(self, name: str) -> Operation | None:
        """Return the block's op that defines the symbol `name`.

        The table of symbols is kept between lookups. It is rebuilt if the list of ops is another one or has another
        length, if the op found has been renamed or moved, and if the name is missing, as an op may have been renamed.
        Only a table without any symbols is trusted to have none, so that lookups through many inner blocks stay fast.
        """
        if self._symbols is not None:
            operations, count, table = self._symbols
            found = table.get(name)
            is_current = operations is self.operations and count == len(operations)
            is_found = found is not None and symbol_name(found) == name and found.parent is self
            if is_current and (is_found or not table):
                return found
        table = {defined: op for op in self.operations if (defined := symbol_name(op)) is not None}
        self._symbols = self.operations, len(self.operations), table
        return table.get(name)


class Region:
    """A list of blocks; StableHLO's regions have one. The spec calls a region of an op an *input function*."""

    __slots__ = ("blocks", "parent")

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = blocks
        self.parent: Operation | None = None
        for block in blocks:
            block.parent = self

    @property
    def block(self) -> Block:
        """The region's only block."""
        return self.blocks[0]

    @property
    def function_type(self) -> FunctionType:
        """The types of the arguments and of the operands of a terminator: the first that does not branch."""
        arguments = self.blocks[0].arguments if self.blocks else []
        terminators = (block.operations[-1] for block in self.blocks if block.operations)
        returned = next((op.operands for op in terminators if not op.successors), [])
        return FunctionType(tuple(v.type for v in arguments), tuple(v.type for v in returned))


location_of = attrgetter("location")  # of an op


def symbol_name(op: Operation) -> str | None:
    """Return the name of the symbol that an op defines, without `@`; None if it defines none."""
    name = op.properties.get("sym_name") or op.attributes.get("sym_name")
    return name if isinstance(name, str) else None


# --- values ----------------------------------------------------------------------------------------------------------


def captured(region: Region) -> list[Value]:
    """Return the values that ops in a region use but that are defined outside, in order of first use."""
    inside: set[Value] = set()
    used: dict[Value, None] = {}
    for block in region.blocks:
        inside.update(block.arguments)
        for top in block.operations:
            for op in top.walk() if top.regions else (top,):
                inside.update(op.results)
                if op.regions:
                    inside.update(op.block_arguments)
                used.update(dict.fromkeys(op.operands))
    return [value for value in used if value not in inside]


def last_uses(block: Block, keep: Iterable[Value] = ()) -> dict[Operation, Sequence[Value]]:
    """Return, for the ops of a block, the values of the block that are not used after it, except `keep`.

    Ops after which all values are still used are left out.
    """
    *operations, terminator = block.operations
    needed = {*terminator.operands, *keep}
    defined = {*block.arguments, *chain.from_iterable([op.results for op in operations])}
    dying: dict[Operation, Sequence[Value]] = {}
    for op in within_time(reversed(operations), "planning", location_of):
        uses = op.operands + op.results
        for region in op.regions:
            uses += captured(region)
        if not needed.issuperset(uses):
            dying[op] = dead = []
            for value in uses:
                if value in defined and value not in needed:
                    dead.append(value)
                    needed.add(value)
    return dying


def defined_values(block: Block) -> Iterable[Value]:
    """Yield the arguments of a block and the results of its ops."""
    yield from block.arguments
    for op in block.operations:
        yield from op.results
