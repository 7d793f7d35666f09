"""Running a plan: a tight loop over steps on a list of slots; from block to block where a region has several."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence, Set
from contextvars import ContextVar
from importlib import import_module
from operator import length_hint
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from stablehlo_ref.arrays.host_values import read_only, run_callback
from stablehlo_ref.define.computation import FinishLoop, Slots, Turns
from stablehlo_ref.define.context import Context
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError, InternalError, StablehloError, UnsupportedError
from stablehlo_ref.ir.core import Block, Operation, Region, Value, defined_values
from stablehlo_ref.ir.graph import labelled, live_values, reachable, successors
from stablehlo_ref.ops.control_flow import move

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner, Planner

Step: TypeAlias = Callable[[Slots], Turns | None]

MANY_DIMENSIONS = 31  # kernels for tensors of more dimensions may need arrays of more than numpy's 64
CONTEXT = 0  # the slot that holds the context of the run

current: ContextVar[Context | None] = ContextVar("context", default=None)


class running:
    """Make `context` that of the run in progress, which regions that ops call as functions take part in."""

    __slots__ = ("context", "token")

    def __init__(self, context: Context) -> None:
        self.context = context

    def __enter__(self) -> None:
        self.token = current.set(self.context)

    def __exit__(self, *error: object) -> None:
        current.reset(self.token)


def current_context() -> Context:
    """Return the context of the run in progress, or a new context outside of a run."""
    return current.get() or Context()


class BlockPlan:
    """The steps of a block. `arguments`, `results`, `ins` and `outs` are numbers of slots.

    A value that the block captures lives in a slot of an enclosing block of the same function. If `communicates` is
    set, some steps are generator functions that yield requests to other processes.
    """

    __slots__ = ("arguments", "block", "communicates", "ins", "ops", "outs", "results", "steps")

    def __init__(self) -> None:
        self.block: Block | None = None  # for observers
        self.arguments: tuple[int, ...] = ()
        self.results: tuple[int, ...] = ()
        self.steps: list[Step] = []
        self.ops: list[Operation] = []  # the op of each step
        self.ins: list[tuple[int, ...]] = []  # its operands' slots
        self.outs: list[tuple[int, ...]] = []  # its results' slots
        self.communicates = False

    def run(self, slots: Slots) -> None:
        """Run the steps. An error gets the location of the op that raised it."""
        if slots[CONTEXT].observer is not None:
            for _ in self.coroutine(slots):  # which notifies the observer
                raise InternalError("a block was not expected to communicate with other processes")
            return
        steps = iter(self.steps)
        try:
            for step in steps:
                step(slots)
        except Exception as error:
            # Which step failed? Counting steps (`enumerate`) would cost time in each of them. The iterator of a list
            # knows how many items are left, so the number is worked out from that, and only after an error.
            raise located(error, self.ops[len(self.ops) - length_hint(steps) - 1]) from error

    def coroutine(self, slots: Slots) -> Turns:
        """Run the steps of a block that communicates; yields their requests to other processes."""
        observer = slots[CONTEXT].observer
        if observer is not None and self.block is not None:
            notify(observer.enters, self.block, [slots[slot] for slot, _ in zip(self.arguments, self.block.arguments)])
        for step, op, ins, outs in zip(self.steps, self.ops, self.ins, self.outs):
            try:
                if observer is not None:
                    notify(observer.before, op, [slots[slot] for slot in ins])
                requests = step(slots)
                if requests is not None:
                    yield from requests
                if observer is not None:
                    notify(observer.after, op, [slots[out] for out in outs])
            except Exception as error:
                raise located(error, op) from error


def notify(method: Callable[..., None], what: Operation | Block, values: Sequence[Any]) -> None:
    """Call an observer's method; other steps may use the values after it, so it gets views that it cannot write to."""
    run_callback("the observer", lambda: method(what, [read_only(value) for value in values]))


def located(error: Exception, op: Operation) -> StablehloError:
    """Return an error as a StablehloError at the location of `op`, unless it already has a location."""
    if isinstance(error, StablehloError):
        if error.diagnostics and error.diagnostics[0].location:
            return error
        moved = [Diagnostic(d.message, op.location, d.severity, d.notes) for d in error.diagnostics]
        return type(error)(moved)
    if isinstance(error, MemoryError):
        return EvaluationError(f"'{op.name}' op: out of memory: {error}", op.location)
    if isinstance(error, RecursionError):
        return EvaluationError(f"'{op.name}' op: calls are nested too deeply", op.location)
    most = max((len(getattr(type, "shape", ())) for type in (*op.operand_types, *op.result_types)), default=0)
    if isinstance(error, ValueError | IndexError) and most > MANY_DIMENSIONS:
        message = f"'{op.name}' op on tensors of more than {MANY_DIMENSIONS} dimensions: {error}"
        return UnsupportedError(message, op.location)
    kind = type(error).__name__
    return InternalError(f"'{op.name}' op: internal error, please report it: {kind}: {error}", op.location)


class FunctionPlan:
    """A planned function: its block, and the list of slots, with constants filled in, that each call copies.

    `is_counted` is whether calls count for the limits of steps and depth.
    """

    __slots__ = ("block", "generated", "is_counted", "name", "product_size", "template")

    def __init__(self, name: str, product_size: float = 0.0, is_counted: bool = False) -> None:
        self.name = name
        self.is_counted = is_counted
        self.product_size = product_size  # multiplications of products in the program: execute/threads.py
        self.block = BlockPlan()
        self.template: Slots = [None]
        self.generated: list[tuple[str, str]] = []  # what is hot, and its source

    def call(self, context: Context, arguments: list[Any]) -> list[Any]:
        """Run the function and return its results. Empties the list of arguments; EvaluationError past `max_depth`."""
        slots = self._enter(context, arguments)
        try:
            self.block.run(slots)
        finally:
            context.depth -= self.is_counted
            del context.frames[id(slots)]
        return [slots[slot] for slot in self.block.results]

    def coroutine(self, context: Context, arguments: list[Any]) -> Generator[Any, Any, list[Any]]:
        """Run a function that communicates; yields its requests to other processes."""
        slots = self._enter(context, arguments)
        try:
            yield from self.block.coroutine(slots)
        finally:
            context.depth -= self.is_counted
            del context.frames[id(slots)]
        return [slots[slot] for slot in self.block.results]

    def _enter(self, context: Context, arguments: list[Any]) -> Slots:
        if self.is_counted:
            context.call()
        else:
            context.check_time()
        slots = self.template.copy()
        slots[CONTEXT] = context
        for slot in reversed(self.block.arguments):
            slots[slot] = arguments.pop()  # so that the list does not keep arguments alive after their last use
        context.depth += self.is_counted
        context.frames[id(slots)] = slots
        return slots


# --- regions of several blocks: a graph, whose blocks run one after the other in a loop -------------------------------


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


def plan_graph(region: Region, frame: FramePlanner, entry: BlockPlan | None = None) -> GraphPlan:
    """Plan the blocks of a region that can be reached, and the branches between them; the first fills `entry`."""
    graph = GraphPlan()
    blocks, labels = reachable(region), labelled(region)
    live = live_values(blocks, labels)
    defined = {value for block in blocks for value in defined_values(block)}
    positions = {block: position for position, block in enumerate(blocks)}
    for position, block in enumerate(blocks):
        following = successors(block, labels)
        keep = set[Value]().union(*[live[b] for b in following])
        graph.blocks.append(frame.block(block, None if position else entry, keep=keep))
        terminator = block.operations[-1]
        choose, forwarded = frame.branch(terminator)
        if following:
            ends = defined.intersection((*keep, *live[block], *block.arguments, *terminator.operands))
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
    frame: FramePlanner,
    sources: Sequence[int],
    arguments: Sequence[Value],
    dead: Iterable[Value],
    target: int,
    position: int,
) -> Edge:
    targets = frame.slots_of(arguments)
    emptied = {*frame.slots_of(dead)}.difference(targets, frame.constants)
    return Edge(target, move(sources, targets), tuple(emptied), target <= position)


# --- the hooks of an accelerator ------------------------------------------------------------------------------------

_PACKAGE = "stablehlo_ref.accelerate"


class Accelerator:
    """Hooks by which a plan runs faster with the same results, bit for bit; these leave everything as it is.

    The planner asks for a faster block or loop whenever it has planned one. The package
    `stablehlo_ref.accelerate` has an accelerator; where that is not installed, all stays as it is planned.
    """

    def program(
        self, functions: Mapping[str, Operation], inner: Mapping[str, Sequence[Operation]], called: Set[str]
    ) -> Mapping[str, Operation]:
        """Return the functions to plan, by name; `inner` are each function and the ops in it.

        Calls of `called` have to stay calls.
        """
        return functions

    def block(
        self, frame: FramePlanner, plan: BlockPlan, block: Block, dying: Mapping[Operation, Sequence[Value]]
    ) -> BlockPlan:
        """Return the plan to use for a block; `dying` are the values that each op is the last to use."""
        return plan

    def loop(self, frame: FramePlanner, op: Operation) -> FinishLoop | None:
        """Return what may finish a loop between two of its iterations; None for other ops."""
        return None


def accelerator_of(planner: Planner, fast: bool) -> Accelerator:
    """Return the accelerator of a planner: one that has no effect without `fast`, or where none is installed."""
    if not fast:
        return Accelerator()
    try:
        accelerate = import_module(_PACKAGE)
    except ModuleNotFoundError as error:
        if error.name != _PACKAGE:
            raise
        return Accelerator()
    found: Accelerator = accelerate.PlanAccelerator(planner)
    return found
