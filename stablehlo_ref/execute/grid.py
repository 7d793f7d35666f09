"""Running a grid of processes without threads: each runs until it has to wait, and resumes once its wait is over.

So a run is deterministic, needs no locks, and detects a deadlock: no process can resume, and each can say why.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from math import inf
from typing import Any, NamedTuple, TypeAlias

from stablehlo_ref.arrays.host_values import run_callback
from stablehlo_ref.define.computation import Callee
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.definition import REGISTRY, resolve
from stablehlo_ref.define.processes import (
    CALLEES,
    INDIRECT,
    Contributions,
    Grid,
    Group,
    Outfeed,
    Process,
    ProcessId,
    Receive,
    Rendezvous,
    Send,
    callee,
)
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError, StablehloError
from stablehlo_ref.execute.run import running
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.passes.symbols import bottom_up

CALLED_BY_HOST = "called_computations"  # the attribute that names functions which a custom call may call
FEW_CALLS, FEW_NESTED = 1000, 64  # calls that a call may lead to, in all and inside each other, without being counted

Request: TypeAlias = Rendezvous | Send | Receive
Coroutine: TypeAlias = Generator[Request, Any, list[Any]]  # of one process: yields requests, returns results
ReadInfeed: TypeAlias = Callable[[Context], Sequence[Any]]

SHOWN = 8  # the number of processes that a message names


def run_grid(
    context: Context,
    grid: Grid,
    programs: Sequence[tuple[Callee, list[Any]]],
    infeed: Iterable[ReadInfeed] = (),
    outfeed: Outfeed | None = None,
) -> list[list[Any]]:
    """Run one plan on its arguments in each process, in row-major order; return the results of each process.

    A read of the infeed, in any process, takes the next item of `infeed`. Checks that failed are added to the
    failures of `context`. Raises EvaluationError for a deadlock, and for another number of processes.
    """
    if len(programs) != grid.count:
        raise EvaluationError(f"expected the inputs of {grid.count} processes, got those of {len(programs)}")
    reads, writes = iter(infeed), HostOutfeed([] if outfeed is None else outfeed)
    contexts = {id: _context_of_process(context, Process(id, grid, reads, writes)) for id in grid.processes}
    coroutines = {id: _coroutine(contexts[id], plan, arguments) for id, (plan, arguments) in zip(contexts, programs)}
    try:
        returned = Scheduler(coroutines, lambda id: run_in_progress(contexts[id])).run()
    finally:
        for coroutine in coroutines.values():
            coroutine.close()  # those that wait in a deadlock
        for id, c in contexts.items():
            context.checks += c.checks
            if c.failures:
                context.failures.extend(c.failures if len(contexts) == 1 else in_process(id, c.failures))
    context.resumes()
    return [returned[process] for process in grid.processes]


def on_shards(
    module: Operation, entry: str | None = None, grid: Grid | None = None, whole: Collection[int] = ()
) -> Operation:
    """Return a module whose functions compute on shards where several processes run them: a copy, if there are such.

    These are the entry and all that it calls; without an entry, the functions that `interpreter.run_parallel` runs.
    Arguments of the entry whose numbers are in `whole` remain whole tensors.
    """
    if entry is None and not any(op.name == "interpreter.run_parallel" for op in module.walk()):
        return module
    from stablehlo_ref.passes.sdy.convert_global_to_local import on_shards  # passes are imported when they are needed

    return on_shards(module, entry, grid or Grid(), whole)


class HostOutfeed:
    """The caller's outfeed; an exception that it raises becomes the cause of an EvaluationError."""

    def __init__(self, target: Outfeed) -> None:
        self._target = target

    def append(self, item: tuple[ProcessId, Sequence[Any]], /) -> None:
        """Append to the caller's outfeed."""
        run_callback("the outfeed", lambda: self._target.append(item))


def _context_of_process(context: Context, process: Process) -> Context:
    """Return a context for one process of a grid; only the count of checks and the list of failures are separate."""
    copy = object.__new__(Context)
    copy.__dict__ = context.__dict__.copy()
    copy.checks, copy.failures, copy.process = 0, [], process
    return copy


def in_process(process: ProcessId, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics with a note on the process that they come from."""
    note = f"in process {process}"
    return [d if note in d.notes else replace(d, notes=(*d.notes, note)) for d in diagnostics]


def _coroutine(context: Context, plan: Callee, arguments: list[Any]) -> Coroutine:
    if plan.block.communicates:
        return (yield from plan.coroutine(context, arguments))
    return plan.call(context, arguments)


def run_in_progress(context: Context) -> AbstractContextManager[None]:
    """Return a context manager inside of which `context` is that of the run in progress."""
    context.resumes()
    return running(context)


class Scheduler:
    """Resumes processes, which are generators of requests to other processes, until all have returned.

    `inside` returns the context manager to run a process in.
    """

    def __init__(
        self, processes: Mapping[ProcessId, Coroutine], inside: Callable[[ProcessId], AbstractContextManager[None]]
    ) -> None:
        self.processes = processes
        self.inside = inside
        self.ready: deque[tuple[ProcessId, Any]] = deque((process, None) for process in processes)
        self.waiting: dict[ProcessId, Rendezvous | Receive] = {}
        self.rendezvous: dict[RendezvousKey, dict[ProcessId, Any]] = defaultdict(dict)  # contributions so far
        self.mailboxes: dict[Hashable, deque[Any]] = defaultdict(deque)  # messages not yet received, by channel
        self.receivers: dict[Hashable, deque[ProcessId]] = defaultdict(deque)
        self.results: dict[ProcessId, list[Any]] = {}

    def run(self) -> dict[ProcessId, list[Any]]:
        """Return what each process returned. Raises EvaluationError for a deadlock, or the first error of a process."""
        while self.ready:
            process, value = self.ready.popleft()
            with self.inside(process):
                self._resume(process, value)
        if self.waiting:
            raise self._deadlock()
        return self.results

    def _resume(self, process: ProcessId, value: object) -> None:
        """Run a process until it makes a request or returns."""
        try:
            request = self.processes[process].send(value)
        except StopIteration as end:
            self.results[process] = end.value
        except StablehloError as error:
            if len(self.processes) == 1:
                raise
            raise type(error)(in_process(process, error.diagnostics)) from error
        else:
            self._handle(process, request)

    def _handle(self, process: ProcessId, request: Request) -> None:
        match request:
            case Send(key, message):
                self.mailboxes[key].append(message)
                self.ready.append((process, None))
            case Receive(key=key):
                self.waiting[process] = request
                self.receivers[key].append(process)
            case Rendezvous():
                self.waiting[process] = request
                self._join(process, request)
                return
        self._deliver(key)

    def _deliver(self, key: Hashable) -> None:
        """Pass the oldest message of a channel to the process that has waited for it longest."""
        mailbox, receivers = self.mailboxes[key], self.receivers[key]
        if mailbox and receivers:
            process = receivers.popleft()
            del self.waiting[process]
            self.ready.append((process, mailbox.popleft()))

    def _join(self, process: ProcessId, request: Rendezvous) -> None:
        """Add the contribution of a process to a rendezvous; resume the group once it is complete."""
        key, group = _key(request), request.group
        contributed = self.rendezvous[key]
        contributed[process] = request.contribution
        if len(contributed) < len(group):
            return
        del self.rendezvous[key]
        contributions = Contributions({member: contributed[member] for member in group})
        for member in group:
            del self.waiting[member]
            self.ready.append((member, contributions))

    # --- deadlock -----------------------------------------------------------------------------------------------

    def _deadlock(self) -> EvaluationError:
        diagnostics = []
        for process, request in sorted(self.waiting.items())[:SHOWN]:
            message = f"deadlock: process {process} waits at '{request.op}'"
            diagnostics.append(Diagnostic(message, request.location, notes=tuple(self._reasons(request))))
        if len(self.waiting) > SHOWN:
            diagnostics.append(Diagnostic(f"deadlock: {len(self.waiting) - SHOWN} more processes wait"))
        return EvaluationError(diagnostics)

    def _reasons(self, request: Rendezvous | Receive) -> Iterator[str]:
        """Yield what a process waits for, one line for each process at fault."""
        if isinstance(request, Receive):
            if request.source is None:
                yield "for a message that no process has sent"
            else:
                yield f"for a message from process {request.source}: {self._state(request.source)}"
            return
        yield f"its group is {_listed(request.group)}"
        missing = [member for member in request.group if member not in self.rendezvous[_key(request)]]
        for member in missing[:SHOWN]:
            yield f"process {member} has not arrived: {self._state(member, request)}"
        if len(missing) > SHOWN:
            yield f"{len(missing) - SHOWN} more processes have not arrived"

    def _state(self, process: ProcessId, wanted: Rendezvous | None = None) -> str:
        """Return where a process is instead of at the rendezvous `wanted`."""
        if process in self.results:
            return "it has finished"
        request = self.waiting.get(process)
        if request is None:
            return "it does not exist"
        place = f" at {request.location}" if request.location else ""
        if isinstance(request, Rendezvous) and wanted is not None and request.op == wanted.op:
            return f"it waits at another '{request.op}'{place}, {_difference(request, wanted)}"
        return f"it waits at '{request.op}'{place}"


class RendezvousKey(NamedTuple):
    """Identifies a rendezvous, for processes with equal keys.

    The hash uses the first process and the size of the group, not all of it: as each process of the group computes the
    hash, their time together would otherwise be quadratic in the size of the group.
    """

    op: str
    tag: tuple[tuple[str, Hashable], ...]
    group: Group

    def __hash__(self) -> int:
        return hash((self.op, self.group[:1], len(self.group)))


def _key(request: Rendezvous) -> RendezvousKey:
    return RendezvousKey(request.op, request.tag, request.group)


def _difference(one: Rendezvous, other: Rendezvous) -> str:
    """Return how a rendezvous differs from another of the same op."""
    if one.group != other.group:
        return f"on the group {_listed(one.group)}"
    pairs = [f"{n} {_show(v)}, not {_show(w)}" for (n, v), (_, w) in zip(one.tag, other.tag) if v != w]
    return f"with {' and '.join(pairs)}"


def _listed(group: Group) -> str:
    more = f", ... ({len(group)} in all)" if len(group) > SHOWN else ""
    return ", ".join(map(str, group[:SHOWN])) + more


def _show(value: object) -> str:
    return f"({', '.join(map(str, value))})" if isinstance(value, tuple) else str(value)


# --- what calls lead to ---------------------------------------------------------------------------------------------


class Calls(NamedTuple):
    """What calls of functions lead to: the names of those that communicate, and of those whose calls are counted.

    Calls of recursive functions, and of those that lead to many calls, count for the limits of steps and depth: any
    other makes few for each iteration.
    """

    communicating: set[str]  # with other processes, directly or in what they call
    counted: set[str]


def calls_of(functions: Mapping[str, Iterable[Operation]]) -> Calls:
    """Return what calls of functions lead to, given the ops in each."""
    found, graph = Calls(set(), set()), dict[str, Counter[str]]()
    for name, operations in functions.items():
        ops = [op for op in operations if _may_communicate(op.name)]
        graph[name] = Counter(called for op in ops for called in _called(op) if called in functions)
        if any(map(_itself_communicates, ops)):
            found.communicating.add(name)
    calls: dict[str, float] = {}  # that a call of each function leads to, with itself
    depths: dict[str, float] = {}
    for component in bottom_up(graph) if any(graph.values()) else ():
        if any(not found.communicating.isdisjoint((name, *graph[name])) for name in component):
            found.communicating.update(component)
        for name in component:
            is_recursive = len(component) > 1 or name in graph[name]
            calls[name] = inf if is_recursive else 1 + sum(n * calls[c] for c, n in graph[name].items())
            depths[name] = inf if is_recursive else 1 + max((depths[c] for c in graph[name]), default=0)
            if calls[name] > FEW_CALLS or depths[name] > FEW_NESTED:
                found.counted.add(name)
    return found


def communicates(op: Operation, functions: Set[str]) -> bool:
    """Return whether an op, or an op in its regions, communicates, given the names of the functions that do."""
    inside = op.walk() if op.regions else (op,)
    return any(callee(o) in functions or _itself_communicates(o) for o in inside if _may_communicate(o.name))


@cache
def _may_communicate(name: str) -> bool:
    """Return whether ops of a name call functions or communicate, or may do so depending on their attributes."""
    definition = REGISTRY.get(name)
    if definition is None or definition.variant or definition.traits.communicates:
        return True
    return name == INDIRECT or any(a in definition.attributes for a in (*CALLEES, CALLED_BY_HOST))


def _itself_communicates(op: Operation) -> bool:
    definition = resolve(op)
    return definition is not None and definition.traits.communicates


def _called(op: Operation) -> list[str]:
    """Return the names of the functions that an op calls, also of those that a host function may call."""
    return [callee(op), *op.properties.get(CALLED_BY_HOST, ())]
