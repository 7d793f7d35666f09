"""The structure of a text, regions, blocks and ops that hold regions, and which definition each use of a value means.

A region sees what it defines itself, what the header of its op defines for it, and what the regions around it see. A
value may be used in front of its definition: the text of blocks need not follow their dominance, and graph regions
have no order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.text.tokens import READING, Tokens, counted

# --- structure ------------------------------------------------------------------------------------------------------


class Certainty(Enum):
    """How sure it is that the names of a `Candidate` are bound there."""

    DEFINITE = auto()  # they are bound
    NAMES = auto()  # they are bound unless all of them are defined before
    TYPED = auto()  # `(%a: type, ...)`, which is also how many ops print operands
    MAYBE = auto()  # a name that is bound unless it is defined before


@dataclass(slots=True)
class Candidate:
    """Names in the header of an op that may be arguments of its regions."""

    tokens: list[int]
    mode: Certainty
    is_tight: bool = False  # `%a: type`, as MLIR prints arguments, and neither `%a : type` nor `%a:type`
    has_keyword: bool = False  # an identifier precedes the list, as in `ins(...)`


@dataclass(slots=True, eq=False)
class HeaderScope:
    """Where the arguments in an op's header are visible: in its regions without a label, and nowhere else."""

    is_visible: bool = False


@dataclass(slots=True, eq=False)
class Definition:
    """One name that a statement or a list of arguments defines."""

    name: str
    token: int
    count: int = 1  # results
    is_argument: bool = False
    header: HeaderScope | None = None
    uses: int = 0
    new_name: str = ""  # what a use is replaced with
    is_operand: bool = False  # an argument of the function: `new_name` is an operand, maybe with a result number


@dataclass(slots=True, eq=False)
class BlockText:
    """A block: tokens from `start` to `end`, and its last op, if it has one."""

    label: int | None
    start: int
    end: int = -1
    last_op: int | None = None
    arguments: list[Definition] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class OpText:
    """An op that holds regions, or may turn out to."""

    start: int
    end: int = -1
    regions: list[RegionText] = field(default_factory=list)
    waiting: list[Candidate] = field(default_factory=list)
    scope: HeaderScope = field(default_factory=HeaderScope)
    header: list[Definition] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class RegionText:
    """A region, with all that its own statements and labels define."""

    op: OpText | None
    open: int  # the token {, or -1 for the whole text
    is_labelled: bool = False  # its first block has a label, so no argument of it is in the op's header
    close: int = -1
    definitions: dict[str, Definition] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    blocks: list[BlockText] = field(default_factory=list)
    ops: list[OpText] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    current: OpText | None = None  # while reading: the op whose tokens are read, if it needed an object
    op_start: int = -1  # while reading: where that op starts
    op_name: int = -1  # while reading: the token of its name
    first_event: int = 0
    last_event: int = 0


@dataclass(slots=True)
class Use:
    """A value is used."""

    token: int


@dataclass(slots=True)
class Successor:
    """An op in a region names a block."""

    token: int
    region: RegionText


@dataclass(slots=True)
class OpenRegion:
    """A region starts."""

    region: RegionText


@dataclass(slots=True)
class CloseRegion:
    """A region ends."""

    region: RegionText


@dataclass(slots=True)
class EndOp:
    """An op that holds regions ends, and with it what its header defines."""

    op: OpText


@dataclass(slots=True)
class Redefinition:
    """A value or block is defined again."""

    token: int
    message: str


Event = Use | Successor | OpenRegion | CloseRegion | EndOp | Redefinition


@dataclass(slots=True)
class Structure:
    """A text as regions. `events` are what happens to names, in textual order."""

    root: RegionText
    events: list[Event]
    aliases: list[tuple[int, RegionText]]  # tokens that define an alias, and the regions in which it is visible
    closers: dict[int, int]  # of each bracket token: the one that closes it


# --- names ----------------------------------------------------------------------------------------------------------


class Bindings:
    """What names in a region mean.

    `definitions` are in textual order. `uses` has the definition of each token that uses a value, and `successors` the
    region of each token that names a block.
    """

    def __init__(self) -> None:
        self.definitions: list[Definition] = []
        self.uses: dict[int, Definition] = {}
        self.successors: dict[int, RegionText] = {}


def resolve_names(tokens: Tokens, structure: Structure, region: RegionText, arguments: list[Definition]) -> Bindings:
    """Return what every name in `region` means.

    `arguments` are defined by the op of the region, outside of it. MalformedError where a value or a block is defined
    twice or not at all.
    """
    return _Resolver(tokens, arguments).resolve(structure, region)


class _Resolver:
    def __init__(self, tokens: Tokens, arguments: list[Definition]) -> None:
        self.tokens = tokens
        self.names = Bindings()
        self.visible: dict[str, list[Definition]] = {}  # by name, the innermost last
        self.doubtful: dict[OpText, list[Candidate]] = {}  # lists that are operands unless a region uses one of them
        self.arguments: dict[str, Definition] = {}
        for argument in arguments:
            if argument.name in self.arguments:
                raise tokens.error(f"redefinition of SSA value '{argument.name}'", argument.token)
            self.arguments[argument.name] = argument
            self.push(argument)

    def resolve(self, structure: Structure, region: RegionText) -> Bindings:
        for event in within_time(structure.events[region.first_event : region.last_event], READING):
            match event:
                case Use(token):
                    self.use(token)
                case Successor(token, source):
                    self.successor(token, source)
                case OpenRegion(opened):
                    self.open(opened, is_outermost=opened is region)
                case CloseRegion(closed):
                    self.close(closed, is_outermost=closed is region)
                case EndOp(op):
                    self.end_op(op)
                case Redefinition(token, message):
                    raise self.tokens.error(message, token)
        self.names.definitions.sort(key=lambda definition: definition.token)
        return self.names

    # --- visible names ------------------------------------------------------------------------------------------

    def push(self, definition: Definition) -> None:
        self.visible.setdefault(definition.name, []).append(definition)

    def pop(self, definitions: Iterable[Definition]) -> None:
        for definition in definitions:
            self.visible[definition.name].pop()

    def find(self, name: str) -> Definition | None:
        for definition in reversed(self.visible.get(name, ())):
            if definition.header is None or definition.header.is_visible:
                return definition
        return None

    def use(self, token: int) -> None:
        name = self.tokens.name(token)
        definition = self.find(name)
        if definition is None:
            raise self.tokens.error(f"use of undefined SSA value '{name}'", token)
        definition.uses += 1
        self.names.uses[token] = definition
        if name != self.tokens.values[token]:
            self.check_result_number(definition, token)

    def check_result_number(self, definition: Definition, token: int) -> None:
        before, _, digits = self.tokens.values[token].partition("#")
        number = self.tokens.small_integer(digits, token, len(before))
        if number >= definition.count:
            has = counted(definition.count, "result")
            message = f"invalid result number {number}: '{definition.name}' has {has}"
            raise self.tokens.error(message, token, len(before))

    def successor(self, token: int, region: RegionText) -> None:
        name = self.tokens.values[token]
        if name not in region.labels:
            raise self.tokens.error(f"reference to undefined block '{name}'", token)
        self.names.successors[token] = region

    # --- regions ------------------------------------------------------------------------------------------------

    def open(self, region: RegionText, is_outermost: bool) -> None:
        op = region.op
        if is_outermost:
            self.check_arguments(region, self.arguments)
        elif op is not None:
            arguments = self.bind(region, op)
            op.scope.is_visible = not region.is_labelled
            self.check_arguments(region, {} if region.is_labelled else arguments)
        for definition in region.definitions.values():
            self.push(definition)
        self.names.definitions.extend(region.definitions.values())

    def close(self, region: RegionText, is_outermost: bool) -> None:
        self.pop(region.definitions.values())
        if region.op is not None and not is_outermost:
            region.op.scope.is_visible = False

    def check_arguments(self, region: RegionText, arguments: dict[str, Definition]) -> None:
        """Raise an error where a region defines an argument again."""
        for name in region.definitions.keys() & arguments.keys():
            raise self.tokens.error(f"redefinition of SSA value '{name}'", region.definitions[name].token)

    def end_op(self, op: OpText) -> None:
        self.pop(op.header)
        used = {definition.name for definition in op.header if definition.uses}
        for candidate in self.doubtful.pop(op, ()):
            if used.isdisjoint(self.names_of(candidate)):
                self.use_all(candidate)

    # --- arguments in headers -----------------------------------------------------------------------------------

    def bind(self, region: RegionText, op: OpText) -> dict[str, Definition]:
        """Define and return those candidates in front of a region that are its arguments; the others are uses."""
        bound, may_bind = [], True
        labelled = {definition.name: definition for definition in region.blocks[0].arguments}
        for candidate in reversed(region.candidates):
            if labelled.keys() >= set(self.names_of(candidate)):
                self.repeat(candidate, labelled)
            elif self.binds(candidate, region, may_bind):
                bound.append(candidate)
            else:
                may_bind &= candidate.mode is not Certainty.TYPED
                self.use_all(candidate)
        arguments: dict[str, Definition] = {}
        for candidate in reversed(bound):
            self.define(candidate, op, arguments)
        return arguments

    def use_all(self, candidate: Candidate) -> None:
        for token in candidate.tokens:
            self.use(token)

    def repeat(self, candidate: Candidate, labelled: dict[str, Definition]) -> None:
        """Take names that the label of a region lists again for its arguments."""
        for token in candidate.tokens:
            self.names.uses[token] = labelled[self.tokens.values[token]]

    def binds(self, candidate: Candidate, region: RegionText, may_bind: bool) -> bool:
        """Return whether names before a region are its arguments; `may_bind` is False before a list of operands."""
        known = [self.find(name) is not None for name in self.names_of(candidate)]
        if candidate.mode is Certainty.DEFINITE or region.is_labelled:
            return candidate.mode is Certainty.DEFINITE
        if candidate.mode is not Certainty.TYPED:
            return not all(known)
        if not may_bind:
            return False
        if candidate.is_tight and not candidate.has_keyword:
            return True  # as MLIR prints arguments, and seldom operands: an isolated region may use names again
        return not all(known) if candidate.is_tight or not candidate.has_keyword else not any(known)

    def define(self, candidate: Candidate, op: OpText, arguments: dict[str, Definition]) -> None:
        for token in candidate.tokens:
            name = self.tokens.values[token]
            if name in arguments:
                raise self.tokens.error(f"redefinition of SSA value '{name}'", token)
            definition = arguments[name] = Definition(name, token, is_argument=True, header=op.scope)
            op.header.append(definition)
            self.push(definition)
            self.names.definitions.append(definition)
        if candidate.mode is Certainty.TYPED and candidate.has_keyword and not candidate.is_tight:
            self.doubtful.setdefault(op, []).append(candidate)

    def names_of(self, candidate: Candidate) -> list[str]:
        return [self.tokens.values[token] for token in candidate.tokens]
