"""Regions of several blocks: the plan of a control flow graph, which runs one block after the other in a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from stablehlo_ref.define.computation import Slots, Turns
from stablehlo_ref.execute.run import CONTEXT, BlockPlan, located
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.graph import defined_values, labelled, live_values, reachable, successors
from stablehlo_ref.ops.control_flow import move


class Edge(NamedTuple):
    """What a branch does before the next block runs."""

    target: int | None  # the position of the next block; None if the region returns
    move: Callable[[Slots], None]  # operands to the arguments of the block, or to the results of the region
    dead: tuple[int, ...]  # slots of values that are not used from here on
    is_backward: bool  # whether a loop may close here


class Exit(NamedTuple):
    """How a block is left: `choose` returns the number of the edge that is taken."""

    terminator: Operation
    choose: Callable[[Slots], int]
    edges: Sequence[Edge]


class Branch(NamedTuple):
    """A planned terminator: the slots that it forwards along each edge, of which `choose` returns the number."""

    choose: Callable[[Slots], int]
    forwarded: Sequence[tuple[int, ...]]


class GraphPlan(BlockPlan):
    """The plan of a region of several blocks, which takes the place of the plan of a block.

    `arguments` are those of the entry; `results` are slots that every return fills. `steps` and `ops` are those of all
    blocks, the latter with the terminators.
    """

    __slots__ = ("blocks", "exits")

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[BlockPlan] = []
        self.exits: list[Exit] = []

    def run(self, slots: Slots) -> None:
        """Run the entry and the blocks that branches lead to, until one returns."""
        position: int | None = 0
        while position is not None:
            self.blocks[position].run(slots)
            position = self._leave(position, slots)

    def coroutine(self, slots: Slots) -> Turns:
        """Run blocks of which some communicate; yields their requests to other processes."""
        position: int | None = 0
        while position is not None:
            yield from self.blocks[position].coroutine(slots)
            position = self._leave(position, slots)

    def _leave(self, position: int, slots: Slots) -> int | None:
        """Take a branch, and return the position of the block that it leads to."""
        terminator, choose, edges = self.exits[position]
        edge = edges[choose(slots)]
        if edge.is_backward:
            try:
                slots[CONTEXT].turn()
            except Exception as error:
                raise located(error, terminator) from error
        edge.move(slots)
        for slot in edge.dead:
            slots[slot] = None
        return edge.target


class Frame(Protocol):
    """What the plan of a graph needs of the planner of the function around it."""

    constants: dict[int, Array]

    def slot(self, value: Value) -> int:
        """Return the slot of a value."""

    def new_slots(self, count: int) -> tuple[int, ...]:
        """Return slots that hold no value of the program."""

    def block(self, block: Block, plan: BlockPlan | None = None, *, keep: Iterable[Value] = ()) -> BlockPlan:
        """Plan a block, which does not empty the slots of `keep`."""

    def branch(self, op: Operation) -> Branch:
        """Plan a terminator."""


def plan_graph(region: Region, frame: Frame, entry: BlockPlan | None = None) -> GraphPlan:
    """Plan the blocks of a region that can be reached, and the branches between them; the first fills `entry`."""
    graph = GraphPlan()
    blocks, labels = reachable(region), labelled(region)
    live = live_values(blocks, labels)
    own = {value for block in blocks for value in defined_values(block)}
    positions = {block: position for position, block in enumerate(blocks)}
    for position, block in enumerate(blocks):
        following = successors(block, labels)
        keep = set[Value]().union(*[live[b] for b in following])
        graph.blocks.append(frame.block(block, None if position else entry, keep=keep))
        terminator = block.operations[-1]
        choose, forwarded = frame.branch(terminator)
        if following:
            ends = own.intersection((*keep, *live[block], *block.arguments, *terminator.operands))
            edges = [
                _edge(frame, sources, target.arguments, ends - live[target], positions[target], position)
                for sources, target in zip(forwarded, following)
            ]
        else:
            graph.results = graph.results or frame.new_slots(len(terminator.operands))
            edges = [Edge(None, move(forwarded[0], graph.results), (), False)]
        graph.exits.append(Exit(terminator, choose, edges))
    graph.arguments = graph.blocks[0].arguments
    graph.communicates = any(plan.communicates for plan in graph.blocks)
    graph.steps = [step for plan in graph.blocks for step in plan.steps]
    graph.ops = [op for plan, leave in zip(graph.blocks, graph.exits) for op in (*plan.ops, leave.terminator)]
    return graph


def _edge(
    frame: Frame, sources: Sequence[int], arguments: Sequence[Value], dead: Iterable[Value], target: int, position: int
) -> Edge:
    targets = tuple(map(frame.slot, arguments))
    emptied = {*map(frame.slot, dead)}.difference(targets, frame.constants)
    return Edge(target, move(sources, targets), tuple(emptied), target <= position)
