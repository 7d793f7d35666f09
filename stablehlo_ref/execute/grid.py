"""Running a grid of processes without threads: each goes on until it waits, and is resumed when what it waits for is there.

So a run is deterministic, right on any number of cores, and when none can go on, that is a deadlock that is explained.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Generator, Hashable, Mapping
from typing import Any

from stablehlo_ref.diagnostics import Diagnostic, EvaluationError
from stablehlo_ref.processes import Meeting, ProcessId, Receive, Rendezvous, Send

Turns = Generator[Any, Any, Any]


def run_grid(processes: Mapping[ProcessId, Turns]) -> dict[ProcessId, Any]:
    """Runs all processes to their ends and returns what each returned. EvaluationError if they can't all go on."""
    return _Scheduler(processes).run()


class _Scheduler:
    def __init__(self, processes: Mapping[ProcessId, Turns]) -> None:
        self.processes = dict(processes)
        self.ready: deque[tuple[ProcessId, Any]] = deque((process, None) for process in processes)
        self.waiting: dict[ProcessId, Rendezvous | Receive] = {}
        self.mail: dict[Hashable, deque[Any]] = defaultdict(deque)
        self.results: dict[ProcessId, Any] = {}

    def run(self) -> dict[ProcessId, Any]:
        while self.ready:
            process, value = self.ready.popleft()
            try:
                request = self.processes[process].send(value)
            except StopIteration as end:
                self.results[process] = end.value
                continue
            self._take(process, request)
        if self.waiting:
            raise self._deadlock()
        return {process: self.results[process] for process in self.processes}

    def _take(self, process: ProcessId, request: Any) -> None:
        match request:
            case Send(key, brought):
                self.mail[key].append(brought)
                self.ready.append((process, None))
                for other, wait in list(self.waiting.items()):
                    if isinstance(wait, Receive) and wait.key == key:
                        self._deliver(other, wait)
            case Receive():
                self.waiting[process] = request
                self._deliver(process, request)
            case Rendezvous():
                self.waiting[process] = request
                self._meet(request)

    def _deliver(self, process: ProcessId, wait: Receive) -> None:
        if self.mail[wait.key]:
            del self.waiting[process]
            self.ready.append((process, self.mail[wait.key].popleft()))

    def _meet(self, request: Rendezvous) -> None:
        """Resumes the group if all of it have come to the same rendezvous."""
        come = [self.waiting.get(other) for other in request.group]
        if not all(isinstance(w, Rendezvous) and _same(w, request) for w in come):
            return
        meeting = Meeting({other: self.waiting.pop(other).brought for other in request.group})  # type: ignore[union-attr]
        self.ready.extend((other, meeting) for other in request.group)

    # --- deadlock -----------------------------------------------------------------------------------------------

    def _deadlock(self) -> EvaluationError:
        diagnostics = []
        for process, wait in sorted(self.waiting.items()):
            notes = tuple(self._why(wait))
            message = f"deadlock: process {process} waits at '{wait.op}'"
            diagnostics.append(Diagnostic(message, wait.location, notes=notes))
        return EvaluationError(diagnostics)

    def _why(self, wait: Rendezvous | Receive) -> list[str]:
        if isinstance(wait, Receive):
            return [f"for a message from process {wait.source}, {self._state(wait.source)}"]
        lines = [f"its group is {', '.join(map(str, wait.group))}"]
        for other in wait.group:
            there = self.waiting.get(other)
            if isinstance(there, Rendezvous) and _same(there, wait):
                continue
            lines.append(f"process {other} has not come: {self._state(other, wait)}")
        return lines

    def _state(self, process: ProcessId, wait: Rendezvous | None = None) -> str:
        there = self.waiting.get(process)
        if process in self.results:
            return "it has finished"
        if there is None:
            return "there is no such process"
        if isinstance(there, Rendezvous) and wait is not None and there.op == wait.op:
            return f"it waits at another '{there.op}' at {there.location}: {_difference(there, wait)}"
        return f"it waits at '{there.op}' at {there.location}"


def _same(one: Rendezvous, other: Rendezvous) -> bool:
    return (one.op, one.tag, one.group) == (other.op, other.tag, other.group)


def _difference(one: Rendezvous, other: Rendezvous) -> str:
    if one.group != other.group:
        return f"on the group {', '.join(map(str, one.group))}"
    return f"with {one.tag}, not {other.tag}"
