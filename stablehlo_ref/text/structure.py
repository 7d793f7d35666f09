"""What the structure of a text is made of: regions, their blocks, ops that hold regions, and events for names."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto


class Mode(Enum):
    """How sure it is that the names of a `Candidate` are bound there."""

    DEFINITE = auto()  # they are bound
    NAMES = auto()  # they are bound unless all of them are defined before
    TYPED = auto()  # `(%a: type, ...)`, which is also how many ops print operands
    MAYBE = auto()  # a name that is bound unless it is defined before


@dataclass(slots=True)
class Candidate:
    """Names in the header of an op that may be arguments of its regions."""

    tokens: list[int]
    mode: Mode
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
class Block:
    """A block: tokens from `start` to `end`, and its last op, if it has one."""

    label: int | None
    start: int
    end: int = -1
    last_op: int | None = None
    arguments: list[Definition] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Op:
    """An op that holds regions, or may turn out to."""

    start: int
    end: int = -1
    regions: list[Region] = field(default_factory=list)
    waiting: list[Candidate] = field(default_factory=list)
    scope: HeaderScope = field(default_factory=HeaderScope)
    header: list[Definition] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Region:
    """A region, with all that its own statements and labels define."""

    op: Op | None
    open: int  # the token {, or -1 for the whole text
    is_labelled: bool = False  # its first block has a label, so no argument of it is in the op's header
    close: int = -1
    definitions: dict[str, Definition] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    current: Op | None = None  # while reading: the op whose tokens are read, if it needed an object
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
    region: Region


@dataclass(slots=True)
class OpenRegion:
    """A region starts."""

    region: Region


@dataclass(slots=True)
class CloseRegion:
    """A region ends."""

    region: Region


@dataclass(slots=True)
class EndOp:
    """An op that holds regions ends, and with it what its header defines."""

    op: Op


@dataclass(slots=True)
class Redefinition:
    """A value or block is defined again."""

    token: int
    message: str


Event = Use | Successor | OpenRegion | CloseRegion | EndOp | Redefinition


@dataclass(slots=True)
class Structure:
    """A text as regions. `events` are what happens to names, in textual order."""

    root: Region
    events: list[Event]
    aliases: list[tuple[int, Region]]  # tokens that define an alias, and the regions in which it is visible
    closers: dict[int, int]  # of each bracket token: the one that closes it
