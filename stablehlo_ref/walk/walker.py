"""Run a program by `semantics/`: op by op, element by element, as its functions say, and slowly.

It shares with the engine what is no op's meaning: types, limits, the scheduler of the grid, the report of failed
checks. A function that communicates runs in a thread, one at a time of those of a grid, so that regions are plain
functions.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from itertools import chain, islice
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeAlias

from stablehlo_ref.define.bound import BoundOp, Site, bind
from stablehlo_ref.define.constraints import check_preconditions
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.definition import evaluated
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import EvaluationError, UnsupportedError
from stablehlo_ref.dialects.sdy_shardings import common_mesh
from stablehlo_ref.distribution.meshes import spans
from stablehlo_ref.execute.dynamic import check_type, concrete_type, is_dynamic, result_types, shape_operand_values
from stablehlo_ref.execute.grid import Request, calls_of, run_grid
from stablehlo_ref.execute.guard import byte_size
from stablehlo_ref.execute.run import FunctionPlan, located, notify
from stablehlo_ref.ir.core import Block, Operation, Region, Value, last_uses
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.limits.budget import check_time, reserve
from stablehlo_ref.semantics import sdy
from stablehlo_ref.semantics.notation import UndefinedError, checkpoint
from stablehlo_ref.walk.ops import HANDLERS, OpCall, results_of, stored

Values: TypeAlias = Sequence[Any]  # arrays, tuples of values, and None for tokens
Communicate: TypeAlias = Callable[[Request], Any]  # makes a request to other processes, and returns the answer


class ValueScope(dict[Value, Any]):
    """The values of a block, and those around it that it captures."""

    def __init__(self, outer: ValueScope | None) -> None:
        super().__init__()
        self.outer: Mapping[Value, Any] = {} if outer is None else outer

    def __missing__(self, value: Value) -> Any:
        return self.outer[value]


@dataclass
class Walker:
    """Runs the functions of a module in one process."""

    module: Operation
    context: Context
    communicate: Communicate
    last_uses: dict[Block, Mapping[Operation, Values]] = field(default_factory=dict)

    def function(self, name: str, arguments: Values) -> Values:
        """Call a function of the module by its name."""
        op = self.module.regions[0].block.symbol(name)
        if op is None:
            raise EvaluationError(f"there is no function @{name}")
        if not op.regions[0].blocks:
            raise UnsupportedError(f"function @{name} is declared, but has no body", op.location)
        self.context.call()
        self.context.depth += 1
        try:
            return self.region(op.regions[0], None)(*arguments)
        finally:
            self.context.depth -= 1

    def region(self, region: Region, outer: ValueScope | None) -> Callable[..., tuple[Any, ...]]:
        """Return a region, which captures values of the scope around it, as a function."""

        def call(*arguments: object) -> tuple[Any, ...]:
            self.context.turn()
            if not region.blocks:
                return ()
            if len(region.blocks) > 1:
                op = region.blocks[0].operations[-1]
                raise UnsupportedError(
                    f"'{op.name}' op has no semantics here: it branches to other blocks", op.location
                )
            block = region.block
            return self.block(block, [stored(a.type, x) for a, x in zip(block.arguments, arguments)], outer)

        return call

    def block(self, block: Block, arguments: Values, outer: ValueScope | None) -> tuple[Any, ...]:
        """Run the ops of a block in order; return what its terminator returns."""
        if block not in self.last_uses:
            self.last_uses[block] = last_uses(block)
        scope, dying = ValueScope(outer), self.last_uses[block]
        scope.update(zip(block.arguments, arguments))
        frames = self.context.frames
        frames[id(scope)] = scope.values()
        try:
            *operations, terminator = block.operations
            if (observer := self.context.observer) is not None:
                notify(observer.enters, block, arguments)
            for op in operations:
                scope.update(zip(op.results, self.op(op, [scope[v] for v in op.operands], scope)))
                for value in dying.get(op, ()):
                    scope.pop(value, None)
            return tuple(scope[v] for v in terminator.operands)
        finally:
            del frames[id(scope)]

    def op(self, op: Operation, operands: Values, scope: ValueScope) -> Values:
        """Return the results of an op; errors get its location."""
        observer = self.context.observer
        try:
            check_time(location=op.location)
            if observer is not None:
                notify(observer.before, op, operands)
            bound = self.bound(op, operands)
            self.reserve(bound.results)
            try:
                values = results_of(bound, operands, self, scope)
            except UndefinedError as error:
                raise EvaluationError(f"'{op.name}' op: {error}") from None
            results = [stored(result.type, value) for result, value in zip(op.results, values, strict=True)]
            for result, value in zip(op.results, results):
                check_type(op, result.type, value)
            if observer is not None:
                notify(observer.after, op, results)
            return results
        except Exception as error:
            raise located(error, op) from error

    def bound(self, op: Operation, operands: Values) -> BoundOp:
        """Return the op on the types that its operands have, and results of the types that follow from these."""
        definition = evaluated(op)
        types = [concrete_type(v.type, x) for v, x in zip(op.operands, operands)]
        regions = [region.function_type for region in op.regions]
        declared = bind(definition, Site(op), op.operand_types, op.result_types, regions)
        if not is_dynamic(declared):
            check_preconditions(declared)
            return declared
        constants = shape_operand_values(definition, operands)
        results = result_types(op, definition, types, constants)
        return bind(definition, Site(op, constants), types, results, regions)

    def reserve(self, results: Iterable[Type]) -> None:
        """Reserve memory for results; EvaluationError for one that is larger than the limit."""
        sizes = {t: byte_size(t) for t in results}
        for type, size in sizes.items():
            if size > (limit := self.context.limits.max_bytes):
                raise EvaluationError(f"{type} is larger than the limit of {limit} bytes for a tensor")
        reserve(sum(sizes.values()))


# --- functions as the engine calls them -----------------------------------------------------------------------------


class WalkedFunction(FunctionPlan):
    """A function of a module, or a region that captures nothing, which is called as the plan of one without steps."""

    __slots__ = ("module", "region")

    def __init__(self, module: Operation, name: str, region: Region | None = None) -> None:
        super().__init__(name)
        self.module, self.region = module, region
        functions = [op for op in module.regions[0].block.operations if op.name == "func.func"]
        inner = {op.properties["sym_name"]: list(op.walk()) for op in functions}
        if region is not None:
            inner[name] = [inside for op in region.block.operations for inside in op.walk()]
        self.block.communicates = name in calls_of(inner).communicating

    def call(self, context: Context, arguments: list[Any]) -> list[Any]:
        """Call the function, which does not communicate."""
        return self._walk(context, arguments, _alone)

    def coroutine(self, context: Context, arguments: list[Any]) -> Generator[Request, Any, list[Any]]:
        """Call a function that communicates; yields its requests to other processes."""
        process = ProcessThread(lambda communicate: self._walk(context, arguments, communicate))
        try:
            answer = None
            while True:
                answer = yield process.resume(answer)
        except Returned as end:
            return end.results
        finally:
            process.close()

    def _walk(self, context: Context, arguments: Values, communicate: Communicate) -> list[Any]:
        token = checkpoint.set(check_time)
        try:
            walker = Walker(self.module, context, communicate)
            if self.region is not None:
                return list(walker.region(self.region, None)(*arguments))
            return list(walker.function(self.name, arguments))
        finally:
            checkpoint.reset(token)


def _alone(request: Request) -> Any:
    raise UnsupportedError("communicates with other processes, which is not supported here")


class Returned(Exception):
    """Raised by `resume` when the function has returned."""

    def __init__(self, results: list[Any]) -> None:
        self.results = results


class Closed(BaseException):
    """Ends the thread of a process that is not resumed again."""


class ProcessThread:
    """A function that communicates, in a thread that runs only while `resume` waits for its next request."""

    def __init__(self, function: Callable[[Communicate], list[Any]]) -> None:
        self.answers: SimpleQueue[Any] = SimpleQueue()
        self.events: SimpleQueue[Request | Exception] = SimpleQueue()
        self.thread = Thread(target=copy_context().run, args=(self._main, function), daemon=True)

    def _main(self, function: Callable[[Communicate], list[Any]]) -> None:
        try:
            self.events.put(Returned(function(self._communicate)))
        except Closed:
            pass
        except Exception as error:  # raised by `resume`
            self.events.put(error)

    def _communicate(self, request: Request) -> Any:
        self.events.put(request)
        answer = self.answers.get()
        if answer is Closed:
            raise Closed
        return answer

    def resume(self, answer: object) -> Request:
        """Start the thread, or answer its request; return its next one. Raise its error, or `Returned`."""
        if self.thread.ident is None:
            self.thread.start()
        else:
            self.answers.put(answer)
        event = self.events.get()
        if isinstance(event, Exception):
            raise event
        return event

    def close(self) -> None:
        """End the thread."""
        if self.thread.is_alive():
            self.answers.put(Closed)
            self.thread.join()


# --- ops with processes of their own --------------------------------------------------------------------------------


def run_parallel(call: OpCall) -> Values:
    """Run functions of the program as the processes of a grid."""
    programs, walker = call.members["programs"], call.walker
    values = iter(call.operands)
    names = [name for row in programs for name in row]
    called = [function for name in names if (function := call.op.symbol(name))]
    arguments = [list(islice(values, len(function.properties["function_type"].inputs))) for function in called]
    reads = [lambda context, name=name: walker.function(name, []) for name in call.members["infeed"] or ()]
    grid = Grid(len(programs), len(programs[0]))
    functions = [WalkedFunction(walker.module, name) for name in names]
    return list(chain(*run_grid(call.context, grid, list(zip(functions, arguments)), reads)))


def manual_computation(call: OpCall) -> Any:
    """Run the body in one process for each device of the mesh."""
    sides = call.members["in_shardings"].shardings, call.members["out_shardings"].shardings
    mesh, region = common_mesh((*sides[0], *sides[1]), call.op), call.op.regions[0]
    if not all(isinstance(type, TensorType) for type in (*call.bound.operands, *call.bound.results)):
        raise UnsupportedError(f"'{call.op.name}' op has no semantics here for tokens")

    def body(parts: sdy.AtDevice) -> sdy.AtDevice:
        function, grid = WalkedFunction(call.walker.module, call.op.name, region), Grid(1, mesh.count)
        returned = run_grid(call.context, grid, [(function, list(parts[device])) for device in range(mesh.count)])
        return {device: tuple(values) for device, values in enumerate(returned)}

    axes = [
        [[[(x.name, x.low, x.size) for x in spans(d.axes, mesh)] for d in sharding.dimensions] for sharding in side]
        for side in sides
    ]
    return call.apply(
        sdy.manual_computation, in_shardings=axes[0], out_shardings=axes[1], body=body, mesh=mesh.sizes,
        manual_axes=call.members["manual_axes"].names, device_ids=mesh.device_ids or range(mesh.count),
    )  # fmt: skip


HANDLERS |= {"interpreter.run_parallel": run_parallel, "sdy.manual_computation": manual_computation}
