"""Running a grid of processes without threads: each goes on until it waits, and then when what it waits for is there.

So a run is deterministic, right on any number of cores, and when none can go on, that is a deadlock that is explained.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from stablehlo_ref.diagnostics import Diagnostic, EvaluationError, StablehloError
from stablehlo_ref.execute.run import Context, FunctionPlan, running
from stablehlo_ref.processes import Grid, Group, Meeting, Process, ProcessId, Receive, Rendezvous, Send

Turns = Generator[Any, Any, Any]
Read = Callable[[Context], Sequence[Any]]

SHOWN = 8  # of the processes that a message could name


def run_grid(
    context: Context,
    grid: Grid,
    programs: Sequence[tuple[FunctionPlan, list[Any]]],
    infeed: Iterable[Read] = (),
    outfeed: list[tuple[ProcessId, Sequence[Any]]] | None = None,
) -> list[list[Any]]:
    """Runs a plan on its arguments in each process, in row-major order; returns the results of each.

    Every read of the infeed, by whatever process, takes the next of `infeed`. Checks that failed are added to those
    of `context`. EvaluationError where the processes can't all go on.
    """
    reads = iter(infeed)
    written = [] if outfeed is None else outfeed
    contexts = [_of_process(context, Process(id, grid, reads, written)) for id in grid.processes]
    turns = {c.process.id: _turns(c, plan, arguments) for c, (plan, arguments) in zip(contexts, programs)}
    of_process = {c.process.id: c for c in contexts}
    try:
        returned = Scheduler(turns, lambda process: going_on(of_process[process])).run()
    finally:
        for c in contexts:
            context.failures.extend(c.failures if len(contexts) == 1 else in_process(c.process.id, c.failures))
    if context.observer is not None:
        context.observer.goes_on(context.process)
    return [returned[process] for process in grid.processes]


def _of_process(context: Context, process: Process) -> Context:
    """A context for one process of a grid: what the run carries along, but its own failures."""
    own = copy(context)
    own.failures, own.process = [], process
    return own


def in_process(process: ProcessId, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics, saying once which process they are of."""
    note = f"in process {process}"
    return [d if note in d.notes else replace(d, notes=(*d.notes, note)) for d in diagnostics]


def _turns(context: Context, plan: FunctionPlan, arguments: list[Any]) -> Turns:
    if plan.block.communicates:
        return (yield from plan.go(context, arguments))
    return plan.call(context, arguments)


def going_on(context: Context) -> AbstractContextManager[None]:
    """While a process goes on: what happens is of its run."""
    if context.observer is not None:
        context.observer.goes_on(context.process)
    return running(context)


class Scheduler:
    """Resumes processes, which are generators of `Rendezvous`, `Send` and `Receive`, until all have returned."""

    def __init__(
        self, processes: Mapping[ProcessId, Turns], inside: Callable[[ProcessId], AbstractContextManager[None]]
    ) -> None:
        self.processes = processes
        self.inside = inside
        self.ready: deque[tuple[ProcessId, Any]] = deque((process, None) for process in processes)
        self.waiting: dict[ProcessId, Rendezvous | Receive] = {}
        self.rooms: dict[Hashable, dict[ProcessId, Any]] = defaultdict(dict)  # what has been brought to a rendezvous
        self.mail: dict[Hashable, deque[Any]] = defaultdict(deque)  # what was sent and not yet received, by channel
        self.receivers: dict[Hashable, deque[ProcessId]] = defaultdict(deque)
        self.results: dict[ProcessId, Any] = {}

    def run(self) -> dict[ProcessId, Any]:
        """What each process returned. EvaluationError if they can't all go on, or the error of the first that fails."""
        while self.ready:
            process, value = self.ready.popleft()
            with self.inside(process):
                self._resume(process, value)
        if self.waiting:
            raise self._deadlock()
        return self.results

    def _resume(self, process: ProcessId, value: Any) -> None:
        """Lets a process go on until it waits or returns."""
        try:
            request = self.processes[process].send(value)
        except StopIteration as end:
            self.results[process] = end.value
        except StablehloError as error:
            if len(self.processes) == 1:
                raise
            raise type(error)(in_process(process, error.diagnostics)) from error
        else:
            self._take(process, request)

    def _take(self, process: ProcessId, request: Any) -> None:
        match request:
            case Send(key, brought):
                self.mail[key].append(brought)
                self.ready.append((process, None))
            case Receive(key=key):
                self.waiting[process] = request
                self.receivers[key].append(process)
            case Rendezvous():
                self.waiting[process] = request
                self._meet(process, request)
                return
        self._deliver(key)

    def _deliver(self, key: Hashable) -> None:
        """Hands over what was sent first to whoever waits first."""
        mail, receivers = self.mail[key], self.receivers[key]
        if mail and receivers:
            process = receivers.popleft()
            del self.waiting[process]
            self.ready.append((process, mail.popleft()))

    def _meet(self, process: ProcessId, request: Rendezvous) -> None:
        """Resumes the group when all of it have come to the same rendezvous."""
        key, group = _key(request), request.group
        room = self.rooms[key]
        room[process] = request.brought
        if len(room) < len(group):
            return
        del self.rooms[key]
        meeting = Meeting({member: room[member] for member in group})
        for member in group:
            del self.waiting[member]
            self.ready.append((member, meeting))

    # --- deadlock -----------------------------------------------------------------------------------------------

    def _deadlock(self) -> EvaluationError:
        diagnostics = []
        for process, wait in sorted(self.waiting.items())[:SHOWN]:
            message = f"deadlock: process {process} waits at '{wait.op}'"
            diagnostics.append(Diagnostic(message, wait.location, notes=tuple(self._why(wait))))
        if len(self.waiting) > SHOWN:
            diagnostics.append(Diagnostic(f"deadlock: {len(self.waiting) - SHOWN} more processes wait"))
        return EvaluationError(diagnostics)

    def _why(self, wait: Rendezvous | Receive) -> list[str]:
        if isinstance(wait, Receive):
            if wait.source is None:
                return ["for a message that no process has sent"]
            return [f"for a message from process {wait.source}: {self._state(wait.source)}"]
        missing = [other for other in wait.group if other not in self.rooms[_key(wait)]]
        lines = [f"process {other} has not come: {self._state(other, wait)}" for other in missing[:SHOWN]]
        if len(missing) > SHOWN:
            lines.append(f"nor have {len(missing) - SHOWN} more")
        return [f"its group is {_listed(wait.group)}", *lines]

    def _state(self, process: ProcessId, wait: Rendezvous | None = None) -> str:
        if process in self.results:
            return "it has finished"
        there = self.waiting.get(process)
        if there is None:
            return "there is no such process"
        place = f" at {there.location}" if there.location else ""
        if isinstance(there, Rendezvous) and wait is not None and there.op == wait.op:
            return f"it waits at another '{there.op}'{place}, {_difference(there, wait)}"
        return f"it waits at '{there.op}'{place}"


@dataclass(frozen=True)
class Room:
    """Where a group meets. All of it come, so nobody goes through the whole group to find the place."""

    op: str
    tag: tuple[tuple[str, Hashable], ...]
    group: Group

    def __hash__(self) -> int:
        return hash((self.op, self.group[:1], len(self.group)))


def _key(wait: Rendezvous) -> Room:
    return Room(wait.op, wait.tag, wait.group)


def _difference(one: Rendezvous, other: Rendezvous) -> str:
    """In what a rendezvous is not the other, of the same op."""
    if one.group != other.group:
        return f"on the group {_listed(one.group)}"
    pairs = [f"{n} {_show(v)}, not {_show(w)}" for (n, v), (_, w) in zip(one.tag, other.tag) if v != w]
    return f"with {' and '.join(pairs)}"


def _listed(group: Group) -> str:
    more = f", ... ({len(group)} in all)" if len(group) > SHOWN else ""
    return ", ".join(map(str, group[:SHOWN])) + more


def _show(value: Any) -> str:
    return f"({', '.join(map(str, value))})" if isinstance(value, tuple) else str(value)
