"""Names of values as MLIR's printer chooses them, instead of those in the text: `%arg0`, `%0`, `%cst_1`."""

from __future__ import annotations

from collections.abc import Iterator

from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.define.members import Out
from stablehlo_ref.ir.attributes import IntegerAttribute
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import BooleanType, IndexType, IntegerType, TensorType, Type

RESULT_PREFIXES = {
    "memref.cast": "cast",
    "tensor.cast": "cast",
    "tensor.dim": "dim",
    "tensor.extract": "extracted",
    "tensor.from_elements": "from_elements",
}
ARGUMENT_PREFIXES = {"stablehlo.while": "iterArg"}


def number_values(root: Operation) -> None:
    """Name all values inside `root` as MLIR would print them: in a program of VHLO all by numbers."""
    for region in root.regions:
        _Scope(set(), has_prefixes=not root.spelling.startswith("vhlo")).region(region, root)


class _Scope:
    """The names that values in a region and around it have, and the numbers that come next."""

    def __init__(
        self, used: set[str], value: int = 0, argument: int = 0, conflict: int = 0, has_prefixes: bool = True
    ) -> None:
        self.used = used  # in this scope and around it
        self.own: list[str] = []  # what this scope has added to that; copies would take quadratic time
        self.has_prefixes = has_prefixes
        self.value, self.argument, self.conflict = value, argument, conflict

    def region(self, region: Region, op: Operation) -> None:
        """Name the values of a region, and then those of regions inside it."""
        for block in region.blocks:
            prefix = ARGUMENT_PREFIXES.get(op.name, "") if self.has_prefixes else ""
            self._block(block, prefix, block is region.blocks[0])
        for inner in (inner for block in region.blocks for inner in block.operations):
            for nested in inner.regions:
                scope = _Scope(self.used, self.value, self.argument, self.conflict, self.has_prefixes)
                scope.region(nested, inner)
                self.used.difference_update(scope.own)

    def _block(self, block: Block, prefix: str, is_entry: bool) -> None:
        for argument in block.arguments:
            argument.name = self._unique(prefix) if prefix else self._argument() if is_entry else self._number()
        for op in block.operations:
            self._results(op)

    def _results(self, op: Operation) -> None:
        if not op.results:
            return
        if self.has_prefixes and (members := result_members(op)):
            for value, member in zip(op.results, members):
                value.name = self._unique(member)
            return
        prefix = result_prefix(op) if self.has_prefixes else ""
        name = self._unique(prefix) if prefix else self._number()
        for value, text in zip(op.results, _names(name, op.results)):
            value.name = text

    def _number(self) -> str:
        self.value += 1
        return self._unique(str(self.value - 1))

    def _argument(self) -> str:
        self.argument += 1
        return self._unique(f"arg{self.argument - 1}")

    def _unique(self, name: str) -> str:
        found = name
        while found in self.used:
            found = f"{name}_{self.conflict}"
            self.conflict += 1
        self.used.add(found)
        self.own.append(found)
        return found


def _names(name: str, results: list[Value]) -> Iterator[str]:
    if len(results) == 1:
        yield name
    else:
        yield from (f"{name}#{index}" for index in range(len(results)))


def result_members(op: Operation) -> list[str]:
    """Return the names of the members that the results are, if there are several and none is variadic."""
    definition = definition_of(op)
    if definition is None or len(definition.results) < 2:
        return []
    members = [member.name for member in definition.results if isinstance(member, Out)]
    return members if len(members) == len(op.results) == len(definition.results) else []


def result_prefix(op: Operation) -> str:
    """Return how the name of an op's result starts; "" for ops whose results are numbered."""
    if op.name == "stablehlo.constant":
        type = op.results[0].type
        return "c" if isinstance(type, TensorType) and _is_integer(type.element_type) else "cst"
    if op.name == "arith.constant":
        return _scalar_prefix(op.properties.get("value"), op.results[0].type)
    return RESULT_PREFIXES.get(op.name, "")


def _is_integer(type: Type) -> bool:
    return isinstance(type, BooleanType | IntegerType)


def _scalar_prefix(value: object, type: Type) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, IntegerAttribute) and not isinstance(type, TensorType):
        return f"c{value.value}" if isinstance(type, IndexType) else f"c{value.value}_{type}"
    return "cst"
