"""The program: operations in blocks in regions of operations. Plain data; what an op means stands in its class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stablehlo_ref.diagnostics import Location
from stablehlo_ref.ir.types import FunctionType, Type

if TYPE_CHECKING:
    from stablehlo_ref.define import Op


class Value:
    """What an operation results in, or a block takes as an argument."""

    __slots__ = ("index", "location", "name", "owner", "type")

    def __init__(self, type: Type, owner: Operation | Block | None, index: int, name: str = "") -> None:
        self.type = type
        self.owner = owner
        self.index = index
        self.name = name  # as the text had it, without `%`; only a hint
        self.location: Any = None  # of a block argument: what `loc(...)` held


class Operation:
    """One op. For an op with a class, `properties` maps its attribute members to plain Python values; for any other
    it holds what the text had between `<{` and `}>`. `attributes` are the discardable ones."""

    __slots__ = (
        "attributes", "debug_location", "definition", "location", "name", "operands", "parent", "properties",
        "regions", "results", "successors",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        definition: type[Op] | None,
        operands: list[Value],
        result_types: list[Type] | tuple[Type, ...],
        properties: dict[str, Any],
        attributes: dict[str, Any],
        regions: list[Region],
        location: Location,
    ) -> None:
        self.name = name
        self.definition = definition
        self.operands = operands
        self.results = [Value(type, self, index) for index, type in enumerate(result_types)]
        self.properties = properties
        self.attributes = attributes
        self.regions = regions
        self.location = location  # where the op stands in the text
        self.debug_location: Any = None  # what its own `loc(...)` held
        self.successors: list[str] = []  # labels of blocks, in dialects that jump
        self.parent: Block | None = None
        for region in regions:
            region.parent = self

    @property
    def operand_types(self) -> list[Type]:
        return [operand.type for operand in self.operands]

    @property
    def result_types(self) -> list[Type]:
        return [result.type for result in self.results]

    def operand_names(self) -> list[str]:
        """What the text called the operands; "" where it had no name for one."""
        return [operand.name for operand in self.operands]

    def producers(self) -> list[Operation | None]:
        """The ops that the operands are results of; None for arguments of blocks."""
        return [operand.owner if isinstance(operand.owner, Operation) else None for operand in self.operands]

    @property
    def parent_op(self) -> Operation | None:
        return self.parent.parent.parent if self.parent and self.parent.parent else None

    def symbol(self, name: str) -> Operation | None:
        """The op that this one means by `@name`: in the nearest op around it that has one of that name."""
        scope = self.parent_op
        while scope is not None:
            for block in (block for region in scope.regions for block in region.blocks):
                if found := block.symbols.get(name):
                    return found
            scope = scope.parent_op
        return None

    def walk(self) -> Iterator[Operation]:
        """This op and every op below it, each before those inside it."""
        pending = [self]
        while pending:
            op = pending.pop()
            yield op
            for region in reversed(op.regions):
                for block in reversed(region.blocks):
                    pending.extend(reversed(block.operations))


class Block:
    """Operations in order; the last is the terminator."""

    __slots__ = ("_symbols", "arguments", "label", "location", "operations", "parent")

    def __init__(self, arguments: list[Value], operations: list[Operation], label: str = "") -> None:
        self.arguments = arguments
        self.operations = operations
        self.label = label
        self.parent: Region | None = None
        self._symbols: tuple[int, dict[str, Operation]] | None = None
        for argument in arguments:
            argument.owner = self
        for operation in operations:
            operation.parent = self

    @property
    def symbols(self) -> dict[str, Operation]:
        """The block's ops that have a symbol's name, by that name."""
        count = len(self.operations)
        if self._symbols is None or self._symbols[0] != count:
            names = ((op.properties.get("sym_name") or op.attributes.get("sym_name"), op) for op in self.operations)
            self._symbols = count, {name: op for name, op in names if isinstance(name, str)}
        return self._symbols[1]


class Region:
    """Blocks; StableHLO's regions have one. As a member of an op it is the spec's *input function*."""

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
        """From the types of the arguments to those of the terminator's operands."""
        arguments = self.blocks[0].arguments if self.blocks else []
        operations = self.blocks[0].operations if self.blocks else []
        returned = operations[-1].operands if operations else []
        return FunctionType(tuple(v.type for v in arguments), tuple(v.type for v in returned))
