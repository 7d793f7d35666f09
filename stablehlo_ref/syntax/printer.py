"""Program to text, in the pretty forms or in MLIR's generic form. What is printed parses back to an equal program."""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.define import Bodies, In, Ins, Member, Op, Outs
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import FunctionType
from stablehlo_ref.syntax.assembly import assembly_of
from stablehlo_ref.syntax.attribute_text import _is_suffix, dictionary_text, location_text, quoted
from stablehlo_ref.syntax.directive import Irregular

INDENT = "  "


class Printer:
    """Writes one operation with all that is in it."""

    def __init__(self, generic: bool = False, locations: bool = False) -> None:
        self.generic = generic
        self.locations = locations
        self.parts: list[str] = []
        self.indent = 0
        self.names: dict[Value, str] = {}
        self.used: set[str] = set()
        self.defined: list[str] = []  # what is in `used`, in order
        self.next_number = 0
        self.spaced = True  # whether the next value needs a space in front
        self.after_mark = False  # whether the last part was punctuation

    # --- parts of a line ----------------------------------------------------------------------------------------

    def literal(self, token: str) -> None:
        """A token that stands for itself, with MLIR's spacing around punctuation."""
        tight = ")}],>" if self.after_mark else ")}],>(<{["
        if (self.spaced or not self.after_mark) and not (len(token) == 1 and token in tight):
            self.parts.append(" ")
        self.parts.append(token)
        self.spaced = token not in ("(", "[", "<", "{")
        self.after_mark = not (token[0].isalpha() or token[0] == "_")

    def value(self, text: str) -> None:
        """Anything else: a space in front unless an opening bracket is there."""
        if self.spaced:
            self.parts.append(" ")
        self.parts.append(text)
        self.spaced, self.after_mark = bool(text) and not text.endswith(" "), False

    def newline(self) -> None:
        self.parts.append("\n" + INDENT * self.indent)
        self.spaced = False

    # --- names of values ----------------------------------------------------------------------------------------

    def operand(self, value: Value) -> str:
        name = self.names.get(value)
        return f"%{self._new_name(value) if name is None else name}"

    def operands(self, values: Sequence[Value]) -> str:
        return ", ".join(map(self.operand, values))

    def _new_name(self, value: Value) -> str:
        """The name that a value had, if it is free, or a number."""
        name = self._free_name(value.name if _is_suffix(value.name) else "")
        self.names[value] = name
        return name

    def _free_name(self, wanted: str) -> str:
        while not wanted or wanted in self.used:
            wanted = str(self.next_number)
            self.next_number += 1
        self.used.add(wanted)
        self.defined.append(wanted)
        return wanted

    def _result_names(self, op: Operation) -> str:
        """`%0 = ` or `%0:2 = ` in front of an op."""
        results = op.results
        if not results:
            return ""
        if len(results) == 1:
            return f"{self.operand(results[0])} = "
        if any(result in self.names for result in results):  # used before
            return f"{self.operands(results)} = "
        first = results[0].name.partition("#")[0]
        name = self._free_name(first if _is_suffix(first) else "")
        self.names |= {result: f"{name}#{index}" for index, result in enumerate(results)}
        return f"%{name}:{len(results)} = "

    def region_argument_names(self, *lists: Sequence[Value]) -> list[str]:
        """Names for the arguments of one region, or of regions that share the names, free around and inside them."""
        names: list[str] = []
        for values in zip(*lists):
            hint = values[0].name
            taken = hint in self.used or hint in names or not _is_suffix(hint)
            names.append(self._unused(names) if taken else hint)
        return names

    def _unused(self, names: list[str]) -> str:
        while True:
            name, self.next_number = f"arg{self.next_number}", self.next_number + 1
            if name not in self.used and name not in names:
                return name

    # --- operations ---------------------------------------------------------------------------------------------

    def operation(self, op: Operation) -> None:
        self.parts.append(self._result_names(op))
        if self.generic or not self._pretty(op):
            self._generic(op)
        if self.locations and op.debug_location is not None:
            self.parts.append(" " + location_text(op.debug_location))

    def _pretty(self, op: Operation) -> bool:
        """Prints the pretty form, if `op` has one that can express it."""
        if op.definition is None or not op.definition.syntax or not _is_regular(op, op.definition):
            return False
        kept = len(self.parts), len(self.defined), self.indent
        self.parts.append(_short_name(op))
        self.spaced, self.after_mark = True, False
        try:
            assembly_of(op.definition).print(self, op)
        except Irregular:
            del self.parts[kept[0] :]
            self._leave(kept[1])
            self.indent = kept[2]
            return False
        return True

    def _generic(self, op: Operation) -> None:
        self.parts.append(f"{quoted(op.name)}({self.operands(op.operands)})")
        if op.successors:
            self.parts.append(f"[{', '.join(f'^{label}' for label in op.successors)}]")
        written = op.definition.encode(op.properties) if op.definition else op.properties
        properties = {name: value for name, value in written.items() if "." not in name}
        if properties:
            self.parts.append(f" <{dictionary_text(properties)}>")
        if op.regions:
            self._generic_regions(op.regions)
        # What a class takes of another dialect, such as mhlo.backend_config, is none of its properties in MLIR.
        attributes = {name: value for name, value in written.items() if "." in name} | op.attributes
        if attributes:
            self.parts.append(f" {dictionary_text(attributes)}")
        self.parts.append(f" : {self.functional_type(op)}")

    def _generic_regions(self, regions: list[Region]) -> None:
        self.parts.append(" (")
        for index, region in enumerate(regions):
            self.parts.append(", " if index else "")
            self.region(region)
        self.parts.append(")")

    def functional_type(self, op: Operation) -> str:
        return str(FunctionType(tuple(op.operand_types), tuple(op.result_types)))

    # --- regions ------------------------------------------------------------------------------------------------

    def region(self, region: Region, names: Sequence[str] | None = None) -> None:
        """`{...}`; `names` are those of the first block's arguments, where they are written elsewhere."""
        first_defined = len(self.defined)
        self.parts.append("{")
        self.indent += 1
        for index, block in enumerate(region.blocks):
            self._block(block, names if index == 0 else None, bool(index))
        self.indent -= 1
        self.newline()
        self.parts.append("}")
        self.spaced, self.after_mark = True, False
        self._leave(first_defined)

    def _leave(self, first_defined: int) -> None:
        self.used.difference_update(self.defined[first_defined:])
        del self.defined[first_defined:]

    def _block(self, block: Block, names: Sequence[str] | None, labelled: bool) -> None:
        if names is not None:
            for argument, name in zip(block.arguments, names):
                self.names[argument] = self._free_name(name)
        elif block.arguments or labelled or block.label or not block.operations:
            self._label(block)
        for op in block.operations:
            self.newline()
            self.operation(op)

    def _label(self, block: Block) -> None:
        arguments = []
        for argument, name in zip(block.arguments, self.region_argument_names(block.arguments)):
            self.names[argument] = self._free_name(name)
            arguments.append(self.argument_text(argument, name))
        self.indent -= 1
        self.newline()
        self.indent += 1
        listed = f"({', '.join(arguments)})" if arguments else ""
        self.parts.append(f"^{block.label or 'bb0'}{listed}:")

    def argument_text(self, argument: Value, name: str, attributes: str = "") -> str:
        """`%name: type`, with attributes and location."""
        location = f" {location_text(argument.location)}" if self.locations and argument.location is not None else ""
        return f"%{name}: {argument.type}{attributes}{location}"


def _is_regular(op: Operation, definition: type[Op]) -> bool:
    """Whether an op has as many operands, results and regions as its class, which pretty forms take for granted."""
    lists = (definition.operands, op.operands), (definition.outputs, op.results), (definition.bodies, op.regions)
    return not op.successors and all(_is_variadic(members) or len(members) == len(xs) for members, xs in lists)


def _is_variadic(members: Sequence[Member]) -> bool:
    return any(isinstance(m, Ins | Outs | Bodies) or (isinstance(m, In) and m.optional) for m in members)


def _short_name(op: Operation) -> str:
    """An op's name as upstream prints it: without the dialect for modules, and for func's ops right in a function."""
    if op.name == "builtin.module":
        return "module"
    parent = op.parent_op
    if op.name in ("func.call", "func.return") and parent is not None and parent.name == "func.func":
        return op.name[len("func.") :]
    return op.name


def print_operation(op: Operation, generic: bool = False, locations: bool = False) -> str:
    """The text of an operation, in generic form and with `loc(...)` if asked for, and with a newline at its end."""
    printer = Printer(generic, locations)
    printer.operation(op)
    return "".join(printer.parts) + "\n"
