"""The planner: from a verified module to plans, which have a slot for each value and a step for each op.

A step empties the slots of values after their last use.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from stablehlo_ref.define.bound import BoundOp, ControlFlowSite, PlanSite, Site, bind, is_on_expressed
from stablehlo_ref.define.computation import ControlFlow, Kernel, Turns
from stablehlo_ref.define.constraints import check_preconditions
from stablehlo_ref.define.definition import Kind, OpDefinition, Traits, evaluated, group_by_member, kind_of, resolve
from stablehlo_ref.define.mode import DEFAULT, Mode
from stablehlo_ref.diagnostics import EvaluationError, LimitError, UnsupportedError
from stablehlo_ref.execute.dynamic import check_type, dynamic_kernel, is_dynamic, refined_results
from stablehlo_ref.execute.grid import calls_of, communicates, run_grid
from stablehlo_ref.execute.guard import STEPS, WATCHED, check_sizes, guarded, watched
from stablehlo_ref.execute.nans import canonical_results, with_canonical_nans, with_observed_nans
from stablehlo_ref.execute.quantized import on_expressed_types, quantized_kernel
from stablehlo_ref.execute.regions import Captures, PlannedRegion, batched_type, capturing_step, recognised_op
from stablehlo_ref.execute.run import BlockPlan, Branch, FunctionPlan, Step, accelerator_of, located, plan_graph
from stablehlo_ref.execute.steps import (
    control_flow_step,
    raising_step,
    step_for,
    with_grouped_operands,
    with_row_major_operands,
)
from stablehlo_ref.execute.threads import PRODUCTS, product_size
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Region, Value, captured, last_uses, location_of
from stablehlo_ref.ir.types import QuantizedType, TensorType, Type
from stablehlo_ref.limits import Limits
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.layout import contiguous
from stablehlo_ref.ops.constants import elements_of

FOLDED_ELEMENTS = 1 << 16  # ops on constants are computed while planning if all tensors are up to this size
CONTIGUOUS_BYTES = 1 << 12  # of constants that are stored element by element although all are equal


class SharedKernel(NamedTuple):
    """The kernel of all ops of a kind; `keys` are the types and attributes whose identities are the kind."""

    kernel: Kernel
    traits: Traits
    keys: tuple[object, ...]
    allocated: int  # bytes of the result, if it is small


class Planner:
    """Plans the functions of one module, each once."""

    def __init__(
        self, module: Operation, limits: Limits, step_by_step: bool = False, fast: bool = False, mode: Mode = DEFAULT
    ) -> None:
        self.limits = limits
        self.mode = mode  # how exact results are
        self.accelerator = accelerator_of(self, fast)
        self.step_by_step = step_by_step  # whether observers must see each op: nothing is folded or recognised
        self.plans: dict[str, FunctionPlan] = {}
        self.generated: list[tuple[str, str]] = []  # what the accelerator has made, and its code
        self.kernels: dict[Kind | None, SharedKernel] = {}
        # Results of ops on constants by kind and ids of constants, with the objects whose identities are the key.
        self.results: dict[tuple[Kind | None, tuple[int, ...]], tuple[Array, tuple[object, ...]]] = {}
        operations = [op for region in module.regions for block in region.blocks for op in block.operations]
        functions = {op.properties["sym_name"]: op for op in operations if op.name == "func.func"}
        inner = {name: list(function.walk()) for name, function in functions.items()}
        names = {op.name for ops in inner.values() for op in ops}
        self.product_size = product_size(inner.values()) if names & PRODUCTS else 0.0  # whatever the options
        self.calls = calls_of(inner)
        self.functions = self.accelerator.program(functions, inner, self.calls.communicating | self.calls.counted)
        self._inner = {n: inner[n] if inner[n][0] is op else list(op.walk()) for n, op in self.functions.items()}
        self._pending: list[str] = []  # functions whose plans exist and are still empty
        self._is_planning = False

    @cached_property
    def canonical(self) -> set[Operation]:
        """The ops whose results have canonical NaNs."""
        return with_observed_nans(self._inner.values())

    def communicates(self, op: Operation) -> bool:
        """Return whether the op, an op in its regions or a function it calls communicates with other processes."""
        return bool(self.calls.communicating) and communicates(op, self.calls.communicating)

    def kind(self, op: Operation) -> Kind | None:
        """Return the kind of ops that share a kernel with `op`, or None."""
        return kernel_kind(op, op in self.canonical, not self.step_by_step)

    def function(self, name: str) -> FunctionPlan:
        """Return the plan of a function by its symbol; the plan of a recursive function refers to itself.

        Callees are planned after the caller, not in the middle of it, so the depth of calls is not limited by Python's
        recursion limit.
        """
        if name not in self.plans:
            op = self.functions.get(name)
            if op is None:
                raise EvaluationError(f"there is no function @{name}")
            if not op.regions[0].blocks:
                raise UnsupportedError(f"function @{name} is declared, but has no body", op.location)
            self.plans[name] = FunctionPlan(name, self.product_size, name in self.calls.counted)
            self.plans[name].block.communicates = name in self.calls.communicating
            self.plans[name].generated = self.generated
            self._pending.append(name)
        if self._pending and not self._is_planning:
            self._plan_pending()
        return self.plans[name]

    def _plan_pending(self) -> None:
        self._is_planning = True
        try:
            entry = self._pending[0]
            while self._pending:
                name = self._pending.pop()
                frame = FramePlanner(self, self.plans[name], is_entry=name == entry)
                frame.plan_region(self.functions[name].regions[0])
        except Exception:
            self.plans.clear()  # some may refer to plans that are still empty
            self._pending.clear()
            raise
        finally:
            self._is_planning = False


class FramePlanner:
    """Plans one function, or one region that ops call as a function: all blocks that share a list of slots."""

    def __init__(self, planner: Planner, frame: FunctionPlan, lanes: int | None = None, is_entry: bool = False) -> None:
        self.planner = planner
        self.frame = frame
        self.lanes = lanes  # the size of the leading axis of every value in a batched region; None in any other frame
        self.is_entry = is_entry  # whether each run calls the function
        self.always_run: BlockPlan | None = None  # the block all of whose ops each run reaches
        self.slots = defaultdict[Value, int](lambda: self.new_slots(1)[0])
        self.slot = self.slots.__getitem__  # returns the slot of a value, which is a new one for a new value
        self.blocks: dict[Block, BlockPlan] = {}
        self.constants: dict[int, Array] = {}  # by slot
        self.allocated = 0  # bytes of the small results of ops that are planned so far

    def plan(self, block: Block, captures: Sequence[Value] = ()) -> None:
        """Plan `block` as the body of the frame, which takes the values that it captures as further arguments."""
        if self.is_entry:
            self.always_run = self.frame.block
        self.block(block, self.frame.block).arguments += self.slots_of(captures)

    def plan_region(self, region: Region) -> None:
        """Plan a region that captures nothing, of one block or several, as the body of the frame."""
        if len(region.blocks) == 1:
            return self.plan(region.block)
        entry = BlockPlan()
        if self.is_entry:
            self.always_run = entry
        self.frame.block = plan_graph(region, self, entry)

    def slots_of(self, values: Iterable[Value]) -> tuple[int, ...]:
        """Return the slots of values."""
        return tuple(map(self.slot, values))

    def new_slots(self, count: int) -> tuple[int, ...]:
        """Return slots that hold no value of the program."""
        first = len(self.frame.template)
        self.frame.template += [None] * count
        return tuple(range(first, first + count))

    def type_of(self, value: Value) -> Type:
        """Return the type that a value has in this frame."""
        return value.type if self.lanes is None else batched_type(value.type, self.lanes)

    # --- blocks -------------------------------------------------------------------------------------------------

    def block(
        self,
        block: Block,
        plan: BlockPlan | None = None,
        shared: Sequence[int] | None = None,
        keep: Iterable[Value] = (),
    ) -> BlockPlan:
        """Plan a block; its arguments live in the slots `shared`, which it does not empty, or else in new ones.

        The slots of `keep` are not emptied, as other blocks use them.
        """
        plan = plan or BlockPlan()
        plan.block = block
        if shared is not None:
            self.slots.update(zip(block.arguments, shared))
        plan.arguments = self.slots_of(block.arguments)
        *operations, terminator = block.operations
        kept = keep if shared is None else (*keep, *block.arguments)
        dying = last_uses(block, keep=kept) if operations else {}
        unwatched = self.allocated
        for number, op in enumerate(within_time(operations, "planning", location_of), 1):
            self.op(op, plan, dying.get(op, ()))
            if self.allocated - unwatched > WATCHED or number % STEPS == 0:
                plan.steps[-1:] = [watched(step, self.allocated - unwatched) for step in plan.steps[-1:]]
                unwatched = self.allocated
        if resolve(terminator) is None:  # of a dialect without classes
            self.op(terminator, plan, ())
        plan.results = self.slots_of(terminator.operands)
        self.blocks[block] = plan
        return self.planner.accelerator.block(self, plan, block, dying)

    def region_in_frame(self, region: Region, *, shared: Sequence[int] | None = None) -> BlockPlan:
        """Plan a region, which may have no block, in the slots of this frame."""
        if not region.blocks:
            return BlockPlan()
        return self.block(region.block, shared=shared) if len(region.blocks) == 1 else plan_graph(region, self)

    def branch(self, op: Operation) -> Branch:
        """Plan a terminator that branches to other blocks, or returns."""
        definition = resolve(op)
        if definition is None or not op.successors:
            return Branch(lambda slots: 0, [self.slots_of(op.operands)])
        bound = bind(definition, Site(op, mode=self.planner.mode), self.slots_of(op.operands), (), ())
        return Branch(bound.call("plan_branch"), bound.call("forwarded"))

    def op(self, op: Operation, plan: BlockPlan, dying: Sequence[Value]) -> None:
        """Append the step of an op to the plan of its block, unless its result is a constant."""
        ins, outs = tuple(map(self.slot, op.operands)), tuple(map(self.slot, op.results))
        try:
            is_constant = self._fold(op, ins, outs)
            if is_constant and not self.planner.step_by_step:
                return
            if self.planner.step_by_step:
                dying = [v for v in dying if v not in op.results]  # so that observers see results that nothing uses
            dead = [slot for slot in self.slots_of(dying) if slot not in self.constants] if dying else ()
            if is_constant:  # for observers, and again in each iteration of a loop, which may have emptied the slot
                step = step_for(Kernel(lambda: self.frame.template[outs[0]]), (), outs, (), Traits())
            else:
                step = self._step(op, ins, outs, dead)
        except (UnsupportedError, EvaluationError) as error:
            failure = located(error, op)
            if plan is self.always_run or isinstance(error, LimitError):
                raise failure from error  # now, as every run would fail
            step = raising_step(failure)
        except Exception as error:
            raise located(error, op) from error
        plan.communicates = plan.communicates or self.planner.communicates(op)
        plan.steps.append(step)
        plan.ops.append(op)
        plan.ins.append(ins)
        plan.outs.append(outs)

    def known_kernel(self, op: Operation, kind: Kind | None) -> SharedKernel | None:
        """Return the kernel of the kind of an op, if one has been planned and no constant operand needs another."""
        shared = None if kind is None or self.lanes is not None else self.planner.kernels.get(kind)
        if shared and shared.traits.prepares_constants and any(self.constant(v) is not None for v in op.operands):
            return None
        return shared

    def _step(self, op: Operation, ins: tuple[int, ...], outs: tuple[int, ...], dead: Sequence[int]) -> Step:
        if (shared := self.known_kernel(op, self.planner.kind(op))) is not None:
            self.allocated += shared.allocated
            return step_for(shared.kernel, ins, outs, dead, shared.traits)
        definition = evaluated(op)
        if "plan_control_flow" in definition.roles:
            return self._control_flow_step(op, definition, ins, dead)
        make = partial(step_for, ins=ins, outs=outs, dead=dead, traits=definition.traits)
        captures = [v for region in op.regions for v in captured(region)]
        return self._capturing_step(op, captures, make) if captures else make(self.kernel(op))

    # --- ops: resolve -> dynamic? -> quantized? -> batched? -> plan ---------------------------------------------

    def kernel(self, op: Operation, bodies: Sequence[PlannedRegion] | None = None) -> Kernel:
        """Return the kernel of an op, which takes all its operands as separate arguments."""
        bound = self._resolve(op, bodies)
        check_preconditions(bound)
        if is_dynamic(bound):
            return dynamic_kernel(bound, self._plan_static)
        before, traits = self.allocated, bound.definition.traits
        kernel = self._plan_static(bound)
        if bodies is None and self.lanes is None and is_shared(bound) and not self.planner.communicates(op):
            shared = SharedKernel(kernel, traits, objects_of(op.walk()), self.allocated - before)
            self.planner.kernels[self.planner.kind(op)] = shared
        return kernel

    def _resolve(self, op: Operation, bodies: Sequence[PlannedRegion] | None) -> BoundOp:
        """Bind the op to the types that its values have in this frame, and to the constants among its operands."""
        definition = evaluated(op)
        if "plan" not in definition.roles:
            raise UnsupportedError(f"'{op.name}' op is not evaluated")
        operands = group_by_member(definition.operands, list(map(self.constant, op.operands)))
        constants = {name: array for name, array in operands.items() if isinstance(array, np.ndarray)}
        if definition.traits.row_major:
            constants = {name: contiguous(array) for name, array in constants.items()}
        site = PlanSite(op, constants, self.planner.mode, function=self.planner.function)
        bodies = [self.region(region) for region in op.regions] if bodies is None else bodies
        return bind(definition, site, list(map(self.type_of, op.operands)), list(map(self.type_of, op.results)), bodies)

    def _plan_static(self, bound: BoundOp) -> Kernel:
        """Plan an op whose types are all static."""
        self.allocated += check_sizes(bound.results, self.planner.limits)
        if is_on_expressed(bound):
            return quantized_kernel(bound, self._plan_static(on_expressed_types(bound)))
        kernel = self._plan_batched(bound)
        return guarded(with_canonical_nans(kernel, bound) if bound.site.op in self.planner.canonical else kernel, bound)

    def _plan_batched(self, bound: BoundOp) -> Kernel:
        """Plan an op on element types that numpy computes with; in a batched frame, on values with lanes."""
        if self.lanes is not None and not bound.definition.traits.elementwise:
            bound = bound.with_members(bound.call("batching_rule"))
        kernel = with_grouped_operands(bound.definition, len(bound.operands), bound.call("plan"))
        return with_row_major_operands(kernel, bound) if bound.definition.traits.row_major else kernel

    # --- regions ------------------------------------------------------------------------------------------------

    def region(self, region: Region, captures: Sequence[Value] = (), values: Captures | None = None) -> PlannedRegion:
        """Return a region as a function that ops call; the values that it captures are further arguments."""
        for op in (op for block in region.blocks for op in block.operations):
            if self.planner.communicates(op):
                reason = "communicates with other processes inside a region of another op, which is not supported"
                raise UnsupportedError(f"'{op.name}' op {reason}", op.location)

        def plan(block: Block, lanes: int | None) -> FunctionPlan:
            body = FunctionPlan("region")
            FramePlanner(self.planner, body, lanes).plan(block, captures)
            return body

        kernel = FramePlanner(self.planner, FunctionPlan("region")).kernel
        return PlannedRegion(region, plan, kernel, self.planner.mode, values, self.planner.step_by_step)

    def isolated_region(self, region: Region) -> FunctionPlan:
        """Plan a region that is isolated from above, as a function."""
        body = FunctionPlan("region")
        body.block.communicates = any(self.planner.communicates(op) for b in region.blocks for op in b.operations)
        FramePlanner(self.planner, body).plan_region(region)
        return body

    def _capturing_step(self, op: Operation, captures: list[Value], make: Callable[[Kernel], Step]) -> Step:
        """Return the step of an op whose regions capture values.

        It plans the op when it is reached, and again only if what the plan relies on differs for the values.
        """
        sources = self.slots_of(captures)

        def planned(values: Captures) -> Step:
            return make(self.kernel(op, [self.region(region, captures, values) for region in op.regions]))

        def communicate(slots: list[Any]) -> Turns | None:
            return planned(Captures(fixed=[slots[source] for source in sources]))(slots)

        return communicate if self.planner.communicates(op) else capturing_step(op, sources, planned)

    def _control_flow_step(
        self, op: Operation, definition: OpDefinition, ins: tuple[int, ...], dead: Sequence[int]
    ) -> Step:
        planner, outs = self.planner, self.slots_of(op.results)
        site = ControlFlowSite(
            op, mode=planner.mode, function=planner.function, run_grid=run_grid, dying=frozenset(dead),
            finish_loop=planner.accelerator.loop(self, op),
        )  # fmt: skip
        is_isolated = definition.traits.isolated_from_above
        blocks = [self.isolated_region(r) if is_isolated else partial(self.region_in_frame, r) for r in op.regions]
        run: ControlFlow = bind(definition, site, ins, outs, blocks).call("plan_control_flow")
        to_check = [(outs[index], op.results[index]) for index in refined_results(op)]
        to_drop = () if definition.traits.releases_operands else tuple(dead)
        canonical = [(outs[number], kernel) for number, kernel in canonical_results(op, planner.canonical)]

        def finish(slots: list[Any]) -> None:
            for slot, kernel in canonical:
                slots[slot] = kernel(
                    slots[slot], slots[slot]
                )  # without iterations it may be an argument of the program
            for slot, result in to_check:
                check_type(op, result.type, slots[slot])
            for slot in to_drop:
                slots[slot] = None

        return control_flow_step(run, finish, planner.communicates(op))

    # --- constants ----------------------------------------------------------------------------------------------

    def constant(self, value: Value) -> Array | None:
        """Return the array of a value that is known while planning; None for any other value."""
        slot = self.slots.get(value)
        return None if slot is None else self.constants.get(slot)

    def _fold(self, op: Operation, ins: tuple[int, ...], outs: tuple[int, ...]) -> bool:
        """Store the result of an op in the template if it is known now, and return whether it is."""
        if not all(map(self.constants.__contains__, ins)):
            return False
        array = self._shared_result(op, [self.constants[slot] for slot in ins])
        if array is None:
            return False
        self.constants[outs[0]] = array
        self.frame.template[outs[0]] = array if array.ndim else array[()]  # ufuncs on numpy scalars are much faster
        return True

    def _shared_result(self, op: Operation, operands: list[Array]) -> Array | None:
        """Return the result of an op on constants, computed once for all ops of its kind on the same constants."""
        if self.lanes is not None or op.regions or op.name == "stablehlo.constant":
            return self._constant_result(op, operands)
        key = self.planner.kind(op), tuple(map(id, operands))
        if shared := self.planner.results.get(key):
            return shared[0]
        array = self._constant_result(op, operands)
        if array is not None and key[0] in self.planner.kernels:
            self.planner.results[key] = array, (*objects_of([op]), *operands)
        return array

    def _constant_result(self, op: Operation, operands: list[Array]) -> Array | None:
        if op.name == "stablehlo.constant":
            return self._constant(op)
        if self.lanes is not None or self.planner.step_by_step or not is_foldable(op, operands):
            return None
        try:
            with np.errstate(all="ignore"):
                array = compact(np.asarray(self.kernel(op).run(*operands)))
        except LimitError:
            raise
        except EvaluationError:  # to be reported if the op is reached
            return None
        array.setflags(write=False)
        return array

    def _constant(self, op: Operation) -> Array:
        # A splat takes little memory, but kernels visit all its elements.
        self.allocated += check_sizes(op.result_types, self.planner.limits)
        array = compact(elements_of(op.properties["value"]))
        return array if self.lanes is None else np.broadcast_to(array, (self.lanes, *array.shape))


# --- what is planned once for all ops of a kind ----------------------------------------------------------------------


def kernel_kind(op: Operation, has_canonical_nans: bool, with_regions: bool) -> Kind | None:
    """Return the kind of ops that share a kernel with `op`; None if regions, unless they are recognised, prevent that.

    The kernel of an op with regions runs those of the first op of its kind. Other than recognised ops, which fail
    together with the op around them, those may fail at a place, which would be the wrong one.
    """
    if not op.regions:
        return (kind_of(op), True) if has_canonical_nans else kind_of(op)
    bodies = [recognised_op(region) for region in op.regions] if with_regions else [None]
    inner = [kind_of(body) for body in bodies if body is not None]
    return (kind_of(op), has_canonical_nans, *inner) if len(inner) == len(bodies) else None


def is_shared(bound: BoundOp) -> bool:
    """Return whether the kernel of an op on static types depends on nothing but its kind."""
    definition, traits = bound.definition, bound.definition.traits
    if definition.variant or traits.shape_operands:
        return False
    return not (bound.site.constants if traits.prepares_constants else definition.uses_site("plan"))


def objects_of(ops: Iterable[Operation]) -> tuple[object, ...]:
    """Return the types and attributes of ops, whose identities are unique as long as something refers to them."""
    return tuple(x for op in ops for x in (*op.operand_types, *op.result_types, *op.properties.values()))


def compact(array: Array) -> Array:
    """Return a constant as a contiguous array if it is small; ops on broadcast ones take up to twice as long."""
    if array.nbytes > CONTIGUOUS_BYTES or array.flags.c_contiguous:
        return array
    copy = np.ascontiguousarray(array)
    copy.setflags(write=False)
    return copy


def is_foldable(op: Operation, operands: Iterable[Array]) -> bool:
    """Return whether an op is computed while planning, from operands that are constants."""
    definition = resolve(op)
    if definition is None or "plan" not in definition.roles or definition.traits.effects or op.regions:
        return False
    if len(op.results) != 1 or not isinstance(type := op.results[0].type, TensorType):
        return False
    sizes = [operand.size for operand in operands]
    is_plain = type.is_static and not isinstance(type.element_type, QuantizedType)
    return is_plain and max([type.size, *sizes]) <= FOLDED_ELEMENTS
