"""From a verified module to plans: slots for values, steps for ops, each value dropped after its last use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.define import Op, group_by_member
from stablehlo_ref.diagnostics import EvaluationError, InternalError, UnsupportedError
from stablehlo_ref.execute.grid import run_grid
from stablehlo_ref.execute.late import check_type, is_known, is_shaped, late_run, refined_results
from stablehlo_ref.execute.quantized import expressed, is_on_expressed, on_expressed
from stablehlo_ref.execute.regions import PlannedBody
from stablehlo_ref.execute.run import BlockPlan, FunctionPlan, Step, Turns, located
from stablehlo_ref.execute.steps import Run, communicating_step, in_a_row, refusing_step, step_for
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import QuantizedType, TensorType, Type
from stablehlo_ref.limits import Limits
from stablehlo_ref.numerics.dtypes import numpy_dtype

MAX_RANK = 64  # of numpy's arrays
FOLDED_ELEMENTS = 1 << 16  # results of constant ops up to this size are computed while planning


class Planner:
    """Plans the functions of one module, each once."""

    def __init__(self, module: Operation, limits: Limits, step_by_step: bool = False) -> None:
        self.limits = limits
        self.step_by_step = step_by_step  # whether every op is a step that an observer sees
        self.plans: dict[str, FunctionPlan] = {}
        operations = [op for region in module.regions for block in region.blocks for op in block.operations]
        self.functions = {op.properties["sym_name"]: op for op in operations if op.name == "func.func"}
        self.communicating = communicating(self.functions)
        self._waiting: list[str] = []  # functions whose plans are known by name, and empty as yet
        self._is_busy = False

    def communicates(self, op: Operation) -> bool:
        """Whether the op, one inside it, or a function that it calls, communicates with other processes."""
        return _communicates(op, self.communicating)

    def function(self, name: str) -> FunctionPlan:
        """The plan of a function by its symbol; calls of one another, and of themselves, meet the same plan.

        What a function calls is planned after it and not inside of it, so a chain of calls may be long.
        """
        if name not in self.plans:
            op = self.functions.get(name)
            if op is None:
                raise EvaluationError(f"there is no function @{name}")
            if not op.regions[0].blocks:
                raise UnsupportedError(f"function @{name} is declared, but has no body", op.location)
            self.plans[name] = FunctionPlan(name)
            self.plans[name].block.communicates = name in self.communicating
            self._waiting.append(name)
        plan = self.plans[name]
        if self._waiting and not self._is_busy:
            self._plan_waiting()
        return plan

    def _plan_waiting(self) -> None:
        self._is_busy = True
        try:
            entry = self._waiting[0]
            while self._waiting:
                name = self._waiting.pop()
                frame = FramePlanner(self, self.plans[name], is_entry=name == entry)
                frame.plan(self.functions[name].regions[0].block)
        except Exception:
            self.plans.clear()  # some may call what has no plan now
            self._waiting.clear()
            raise
        finally:
            self._is_busy = False


class FramePlanner:
    """Plans one function, or one region that ops call as a function: everything that shares a list of slots."""

    def __init__(self, planner: Planner, frame: FunctionPlan, lanes: int | None = None, is_entry: bool = False) -> None:
        self.planner = planner
        self.frame = frame
        self.lanes = lanes  # the size of the axis that every value has in front, in a lifted region
        self.is_entry = is_entry  # whether each op of the outermost block will be reached
        self.slots: dict[Value, int] = {}
        self.constants: dict[int, np.ndarray] = {}  # by slot

    def plan(self, block: Block, captures: Sequence[Value] = ()) -> None:
        """Plans `block` as the frame's body; values that it captures come as further arguments."""
        plan = self.block(block, self.frame.block)
        plan.arguments += tuple(map(self.slot, captures))

    def slot(self, value: Value) -> int:
        if value not in self.slots:
            self.slots[value] = len(self.frame.template)
            self.frame.template.append(None)
        return self.slots[value]

    def type_of(self, value: Value) -> Type:
        return value.type if self.lanes is None else lifted_type(value.type, self.lanes)

    # --- blocks -------------------------------------------------------------------------------------------------

    def block(self, block: Block, plan: BlockPlan | None = None, shared: Sequence[int] | None = None) -> BlockPlan:
        """Plans a block whose arguments live in the slots `shared` (then it must leave them alone), or in its own."""
        plan = plan or BlockPlan()
        if shared is not None:
            self.slots.update(zip(block.arguments, shared))
        plan.arguments = tuple(map(self.slot, block.arguments))
        *operations, terminator = block.operations
        dying = last_uses(block, keep=() if shared is None else block.arguments)
        for op in operations:
            self.op(op, plan, dying.get(op, ()))
        plan.results = tuple(map(self.slot, terminator.operands))
        return plan

    def op(self, op: Operation, plan: BlockPlan, dying: Iterable[Value]) -> None:
        try:
            if self._is_constant(op):
                return
            step, outs = self._step(op, [self.slot(v) for v in dying])
        except (UnsupportedError, EvaluationError) as error:
            refusal = located(error, op)
            if self.is_entry and plan is self.frame.block:
                raise refusal from error  # before anything runs in vain
            step, outs = refusing_step(refusal), tuple(map(self.slot, op.results))
        except Exception as error:
            raise located(error, op) from error
        plan.communicates = plan.communicates or self.planner.communicates(op)
        plan.steps.append(step)
        plan.ops.append(op)
        plan.ins.append(tuple(map(self.slot, op.operands)))
        plan.outs.append(outs)

    def _step(self, op: Operation, dying: list[int]) -> tuple[Step, tuple[int, ...]]:
        ins = tuple(map(self.slot, op.operands))
        outs = tuple(map(self.slot, op.results))
        dead = [slot for slot in dying if slot not in self.constants]
        definition = _definition(op)
        if "inline" in definition.parameters:
            return self._inline_step(op, definition, ins, outs, dead), outs
        make = communicating_step if definition.communicates else partial(step_for, effects=definition.effects)
        captures = [v for region in op.regions for v in captured(region)]
        if captures:
            return self._capturing_step(op, captures, lambda run: make(run, ins, outs, dead)), outs
        return make(self.run_of(op), ins, outs, dead), outs

    # --- ops ----------------------------------------------------------------------------------------------------

    def run_of(self, op: Operation, bodies: Sequence[Any] | None = None) -> Run:
        """What the op's class plans for it, taking its operands in a row."""
        definition = _definition(op)
        if "plan" not in definition.parameters:
            raise UnsupportedError(f"'{op.name}' op is not evaluated")
        if bodies is None:
            bodies = [self.body(region) for region in op.regions]
        operands, results = list(map(self.type_of, op.operands)), list(map(self.type_of, op.results))
        constants = group_by_member(definition.operands, list(map(self.constant, op.operands)))
        known = {name: array for name, array in constants.items() if isinstance(array, np.ndarray)}
        if not all(map(is_known, operands + results)) or not is_shaped(op, operands, known):
            return late_run(op, bodies, self.run_for)
        return self.run_for(op, bodies, operands, results, known)

    def run_for(
        self, op: Operation, bodies: Sequence[Any], operands: list[Type], results: list[Type], constants: dict[str, Any]
    ) -> Run:
        """What the op's class plans for these types, and these arrays of operands that are known."""
        definition = _definition(op)
        self._check_sizes(results)
        if is_on_expressed(op, operands + results):
            # What is known of operands is how they are stored, so only of those that are shapes is it what they mean.
            constants = {name: array for name, array in constants.items() if name in definition.shaping}
            run = self.run_for(op, bodies, [*map(expressed, operands)], [*map(expressed, results)], constants)
            return on_expressed(run, operands, results, definition.elementwise)
        values = definition.values_for(op, operands, results, bodies, constants)
        values["functions"] = self.planner.function
        if self.lanes is not None and not definition.elementwise:
            values |= definition.call("lift", values)
        return in_a_row(definition, len(operands), definition.call("plan", values))

    def body(self, region: Region, captures: Sequence[Value] = ()) -> PlannedBody:
        """A region as something that ops call; what it captures are further arguments."""
        for op in (op for block in region.blocks for op in block.operations):
            if self.planner.communicates(op):
                reason = "communicates with other processes inside a region of another op, which is not supported"
                raise UnsupportedError(f"'{op.name}' op {reason}", op.location)

        def plan(block: Block, lanes: int | None) -> FunctionPlan:
            frame = FunctionPlan("region")
            FramePlanner(self.planner, frame, lanes).plan(block, captures)
            return frame

        run_of = FramePlanner(self.planner, FunctionPlan("region")).run_of
        return PlannedBody(region, plan, run_of, step_by_step=self.planner.step_by_step)

    def isolated(self, region: Region) -> FunctionPlan:
        """A region that sees no values from above, as a function."""
        frame = FunctionPlan("region")
        frame.block.communicates = any(map(self.planner.communicates, region.block.operations))
        FramePlanner(self.planner, frame).plan(region.block)
        return frame

    def _capturing_step(self, op: Operation, captures: list[Value], make: Callable[[Run], Step]) -> Step:
        """An op whose regions use values from above plans itself when it is reached, with those values at hand."""
        sources = tuple(map(self.slot, captures))
        bodies = [self.body(region, captures) for region in op.regions]

        def step(slots: list[Any]) -> Turns | None:
            values = [slots[source] for source in sources]
            return make(self.run_of(op, [body.bind(values) for body in bodies]))(slots)

        return step

    def _inline_step(
        self, op: Operation, definition: type[Op], ins: tuple[int, ...], outs: tuple[int, ...], dead: list[int]
    ) -> Step:
        plan_block = self.isolated if definition.isolated else lambda region: partial(self.block, region.block)
        blocks = list(map(plan_block, op.regions))
        values = definition.values_for(op, ins, outs, blocks, {})
        values |= {"functions": self.planner.function, "run_grid": run_grid, "dying": frozenset(dead)}
        go: Callable[[Any], Turns] = definition.call("inline", values)
        to_check = [(outs[index], op.results[index]) for index in refined_results(op)]
        to_drop = () if "dying" in definition.parameters["inline"] else tuple(dead)

        def finish(slots: list[Any]) -> None:
            for slot, result in to_check:
                check_type(op, result.type, slots[slot])
            for slot in to_drop:
                slots[slot] = None

        def communicate(slots: list[Any]) -> Turns:
            yield from go(slots)
            finish(slots)

        def step(slots: list[Any]) -> None:
            for _ in go(slots):
                raise InternalError("a block that communicates was not planned as one")
            finish(slots)

        return communicate if self.planner.communicates(op) else step

    def _check_sizes(self, types: Sequence[Type]) -> None:
        limit = self.planner.limits.max_bytes
        for t in types:
            if not isinstance(t, TensorType) or not t.is_static:
                continue
            if len(t.shape) > MAX_RANK:
                raise EvaluationError(f"a tensor of {len(t.shape)} dimensions, where arrays have at most {MAX_RANK}")
            itemsize = numpy_dtype(t.element_type).itemsize
            if t.size * itemsize > limit:
                raise EvaluationError(f"{t} is larger than the limit of {limit} bytes for a tensor")
            if not t.size and prod(n or 1 for n in t.shape) * itemsize > sys.maxsize:
                raise EvaluationError(f"there are no arrays of the shape of {t}, empty as it is")

    # --- constants ----------------------------------------------------------------------------------------------

    def constant(self, value: Value) -> np.ndarray | None:
        slot = self.slots.get(value)
        return None if slot is None else self.constants.get(slot)

    def _is_constant(self, op: Operation) -> bool:
        """Whether the op's result is known now; if so it needs no step, its array stands in the template."""
        array = self._constant_result(op)
        if array is None:
            return False
        slot = self.slot(op.results[0])
        self.constants[slot] = array
        self.frame.template[slot] = array if array.ndim else array[()]  # numpy's scalars compute many times faster
        return True

    def _constant_result(self, op: Operation) -> np.ndarray | None:
        definition = op.definition
        if definition is not None and op.name == "stablehlo.constant":
            self._check_sizes(op.result_types)  # of one number it takes no memory, but it has to be gone through
            array: np.ndarray = definition.call("plan", op.properties)()
            return array if self.lanes is None else np.broadcast_to(array, (self.lanes, *array.shape))
        if definition is None or definition.effects or op.regions or len(op.results) != 1 or self.planner.step_by_step:
            return None
        if "plan" not in definition.parameters or not _small(op.results[0].type) or self.lanes is not None:
            return None
        operands = [self.constant(v) for v in op.operands]
        if any(o is None or o.size > FOLDED_ELEMENTS for o in operands):
            return None
        try:
            with np.errstate(all="ignore"):
                array = np.asarray(self.run_of(op)(*operands))
        except EvaluationError:  # to be told when the op is reached
            return None
        array.flags.writeable = False
        return array


def _definition(op: Operation) -> type[Op]:
    if op.definition is None:
        raise UnsupportedError(f"'{op.name}' op is of a dialect that is not evaluated")
    return op.definition.of(op)


def _small(type: Type) -> bool:
    plain = isinstance(type, TensorType) and not isinstance(type.element_type, QuantizedType)
    return plain and type.is_static and type.size <= FOLDED_ELEMENTS  # type: ignore[attr-defined]


def communicating(functions: Mapping[str, Operation]) -> set[str]:
    """The names of the functions that meet other processes, in them or in what they call."""
    found: set[str] = set()
    while more := {n for n, f in functions.items() if n not in found and _communicates(f, found)}:
        found |= more
    return found


def _communicates(op: Operation, functions: set[str]) -> bool:
    for inner in op.walk():
        callee = inner.properties.get("callee") or inner.properties.get("decomposition")
        if (inner.definition is not None and inner.definition.of(inner).communicates) or callee in functions:
            return True
    return False


def captured(region: Region) -> list[Value]:
    """The values from outside a region that ops in it use, in order of first use."""
    inside: set[Value] = set()
    used: dict[Value, None] = {}
    for block in region.blocks:
        inside.update(block.arguments)
        for top in block.operations:
            for op in top.walk():
                inside.update(op.results)
                for inner in op.regions:
                    for b in inner.blocks:
                        inside.update(b.arguments)
                used.update(dict.fromkeys(op.operands))
    return [value for value in used if value not in inside]


def last_uses(block: Block, keep: Iterable[Value] = ()) -> dict[Operation, list[Value]]:
    """For each op of a block, the values that nothing needs after it: of the block's own, less `keep`."""
    *operations, terminator = block.operations
    needed = {*terminator.operands, *keep}
    mine = {*block.arguments, *(r for op in operations for r in op.results)}
    dying: dict[Operation, list[Value]] = {}
    for op in reversed(operations):
        uses = [*op.operands, *op.results, *(v for region in op.regions for v in captured(region))]
        dying[op] = [v for v in dict.fromkeys(uses) if v in mine and v not in needed]
        needed.update(dying[op])
    return dying


def lifted_type(type: Type, lanes: int) -> Type:
    """The type with one more axis of size `lanes` in front."""
    if not isinstance(type, TensorType):
        raise UnsupportedError(f"{type} has no lanes")
    element = type.element_type
    if isinstance(element, QuantizedType) and element.quantization_dimension is not None:
        element = replace(element, quantization_dimension=element.quantization_dimension + 1)
    return TensorType((lanes, *type.shape), element)
