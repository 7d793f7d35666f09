"""Programs of one op or more, made of members that satisfy the constraints of their ops."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fnmatch import fnmatchcase

from numpy.typing import ArrayLike

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.conform.members import CALLEE, Members, NotDrawn, array_of, constant_of
from stablehlo_ref.conform.solve import Broken, Solver
from stablehlo_ref.define.bound import NOWHERE
from stablehlo_ref.define.builder import build_module, build_operation
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.members import Bodies, In, Ins, Out, Outs
from stablehlo_ref.define.spec import is_quantized
from stablehlo_ref.diagnostics import ArgumentValueError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import (
    BOOLEAN,
    INDEX,
    TOKEN,
    ComplexType,
    FunctionType,
    FutureType,
    TensorType,
    TokenType,
    TupleType,
    Type,
    integer_type,
    tensor_type,
)
from stablehlo_ref.ops.communication import ChannelType
from stablehlo_ref.ops.comparison import ComparisonDirection
from stablehlo_ref.passes.emit import dense
from stablehlo_ref.suggestions import did_you_mean
from stablehlo_ref.syntax.printer import print_operation

# Ops of which more is decided together than what constraints say of their members.
WHILE, ASYNC_START, RECV, RNG = "stablehlo.while", "stablehlo.async_start", "stablehlo.recv", "stablehlo.rng"
CUSTOM_CALL, TARGET = "stablehlo.custom_call", "Sharding"  # a target that all know; it returns its operand
ASYNCHRONOUS = ("stablehlo.slice", "stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice")
COUNTER = tensor_type((), integer_type(32))

DIALECTS = ("stablehlo", "chlo")
COMBINERS = ("add", "maximum", "minimum", "multiply")
LOGICAL = ("and", "or", "xor")


def names_of_ops() -> list[str]:
    """Return the ops that cases are made of, in the order of their definitions: all but the end of regions."""
    return [
        name
        for name, definition in REGISTRY.items()
        if definition.dialect in DIALECTS and definition.mnemonic and not definition.traits.terminator
    ]


def select(patterns: Sequence[str], known: Sequence[str] = ()) -> list[str]:
    """Return the ops that patterns with wildcards select, of all or of those that are `known`; all for no pattern.

    `add` is `stablehlo.add`, and `erf` is `chlo.erf`. ArgumentValueError for a pattern that selects none.
    """
    ops, found = known or names_of_ops(), list[str]()
    for pattern in patterns:
        forms = ((pattern, f"stablehlo.{pattern}"), (f"*.{pattern}",))
        matching = next(
            filter(None, ([op for op in ops if any(fnmatchcase(op, f) for f in form)] for form in forms)), []
        )
        if not matching:
            names = [*ops, *(op.partition(".")[2] for op in ops)]
            raise ArgumentValueError(f"there is no op {pattern!r}{did_you_mean(pattern, names)}")
        found += matching
    return list(dict.fromkeys(found or ops))


class Ops:
    """Appends ops to a block, on its arguments and on each other's results."""

    def __init__(self, types: Sequence[Type] = ()) -> None:
        self.arguments = [Value(type, None, index, f"a{index}") for index, type in enumerate(types)]
        self.operations: list[Operation] = []

    def append(
        self, name: str, operands: Sequence[Value] = (), types: Sequence[Type] | None = None,
        regions: Sequence[Region] = (), /, **members: object,
    ) -> Operation:  # fmt: skip
        """Append an op, whose result types are inferred unless they are given."""
        self.operations.append(build_operation(name, operands, types, NOWHERE, members=members, regions=regions))
        return self.operations[-1]

    def value(self, name: str, operands: Sequence[Value] = (), type: Type | None = None, /, **members: object) -> Value:
        """Append an op and return its first result."""
        return self.append(name, operands, None if type is None else [type], **members).results[0]

    def constant(self, type: TensorType, elements: ArrayLike) -> Value:
        """Append a constant."""
        return self.value("stablehlo.constant", (), type, value=dense(type, elements))

    def region(self, outputs: Sequence[Value], terminator: str = "stablehlo.return") -> Region:
        """Return the ops in a region that returns `outputs`."""
        self.append(terminator, outputs, ())
        return Region([Block(self.arguments, self.operations)])


class Builder(Ops):
    """Makes a module with a function @main, op by op."""

    def __init__(self, rng: random.Random, elements: Sequence[Type] = (), sharing: float = 0.7) -> None:
        super().__init__()
        self.rng = rng
        self.sharing = sharing  # how often an op uses a value that is there rather than a new argument
        self.elements = tuple(elements)  # element types that most values have
        self.functions: list[Operation] = []
        self.fixed: dict[Value, Array] = {}  # the arrays of arguments whose values shapes depend on

    @property
    def values(self) -> list[Value]:
        """The values that an op may use."""
        return [*self.arguments, *(result for op in self.operations for result in op.results)]

    def add(self, definition: OpDefinition, like: Sequence[Type] = ()) -> Operation | None:
        """Append an op, on values that are there or on new arguments; None if no members are found for it.

        Its types are `like` some, by default like those of values that are there.
        """
        try:
            if definition.name == ASYNC_START:
                started = self._async_start()
                (future,) = started.result_types
                assert isinstance(future, FutureType)
                self.append("stablehlo.async_done", started.results, future.elements)
                return started
            types = like or [value.type for value in self.values]
            solver = Solver(definition, self.rng, types, () if like else self.elements)
            members = solver.solve()
            if members is None:
                return None
            if definition.name == WHILE:
                return self._while(members)
            return self.add_members(solver, completed(definition, members), self.sharing)
        except NotDrawn:
            return None

    def add_broken(self, definition: OpDefinition, label: str) -> Broken | None:
        """Append an op that breaks a constraint; None if no members are found for it."""
        solver = Solver(definition, self.rng, (), self.elements)
        try:
            broken = solver.break_singly(label)
            if broken is not None:
                self._append_members(solver, broken.members, 0.0)
        except NotDrawn:
            return None
        return broken

    def add_on(self, definition: OpDefinition, type: Type) -> Operation | None:
        """Append an elementwise op with new arguments of a type as its operands; None for others, or other types."""
        solver = Solver(definition, self.rng)
        members = solver.on(type) if definition.traits.elementwise else None
        return None if members is None else self._append_members(solver, members, 0.0)

    def add_members(self, solver: Solver, members: Members, sharing: float = 0.0) -> Operation:
        """Append an op with given members; NotDrawn if there are no values of the types of its operands."""
        if solver.definition.name == RECV:
            self._send(members)
        if solver.definition.name == RNG and not self.fixed:  # the first interval has numbers in it
            made = self._append_members(solver, members, 0.0)
            self.fixed |= {v: array_of(members[n], (end,)) for v, n, end in zip(made.operands, "ab", (0, 3))}
            return made
        return self._append_members(solver, members, sharing)

    def _append_members(self, solver: Solver, members: Members, sharing: float) -> Operation:
        definition, constants = solver.definition, solver.constants(members)
        operands = [
            self._fixed(type, name, constants[name]) if name in constants else self._value(type, name, sharing)
            for name, type in _types(definition.operands, members)
        ]
        results = [type for _, type in _types(definition.results, members)]
        regions = [
            region_of(self.rng, signature)
            for member in definition.regions
            for signature in (members[member.name] if isinstance(member, Bodies) else [members[member.name]])
        ]
        given = _attributes(definition, members)
        if CALLEE in given.values() and not self.functions:
            self.functions += [with_body(self.rng, function) for function in solver.functions(members).values()]
        return self.append(definition.name, operands, results, regions, **given)

    def _value(self, type: Type, name: str, sharing: float) -> Value:
        """Return a value of a type: one that is there with the probability `sharing`, else a new one."""
        same = [value for value in self.values if value.type == type]
        if same and self.rng.random() < sharing:
            return self.rng.choice(same[-4:])
        match type:
            case TupleType():
                elements = [self._value(element, name, sharing) for element in type.elements]
                return self.value("stablehlo.tuple", elements, type)
            case TokenType():
                return self.value("stablehlo.after_all", (), type)
            case FutureType():
                return self._async_start(type).results[0]
        self.arguments.append(Value(type, None, len(self.arguments), f"{name}_{len(self.arguments)}"))
        return self.arguments[-1]

    def _fixed(self, type: Type, name: str, array: Array) -> Value:
        """Return a constant; an argument with a fixed value where the type, such as `index`, has no constants."""
        if isinstance(type, TensorType) and type.element_type != INDEX:
            return self.constant(type, array)
        found = self._value(type, name, 0.0)
        self.fixed[found] = array
        return found

    def _while(self, members: Members) -> Operation:
        """Append a loop of a few turns, which a first value counts; none of them one time in four."""
        state = (COUNTER, *members["operand"])
        start, end = self.constant(COUNTER, 0), self.rng.choice((0, 1, 2, 3))
        operands = [start, *(self._value(type, "operand", self.sharing) for type in state[1:])]
        cond, body = Ops(state), _BlockBuilder(self.rng, state)
        limit = [cond.arguments[0], cond.constant(COUNTER, end)]
        is_less = cond.value("stablehlo.compare", limit, comparison_direction=ComparisonDirection.LT)
        _, *others = body.outputs(state)
        following = body.value("stablehlo.add", [body.arguments[0], body.constant(COUNTER, 1)])
        return self.append(WHILE, operands, state, [cond.region([is_less]), body.region([following, *others])])

    def _async_start(self, future: FutureType | None = None) -> Operation:
        """Append an op that starts a slice; with results of the types in `future`, which are slices of the same."""
        inner = Builder(self.rng, self.elements, sharing=0.0)
        made = inner.add(REGISTRY[self.rng.choice(ASYNCHRONOUS)]) if future is None else inner.whole(future.elements)
        if made is None:
            raise NotDrawn("no op is started asynchronously")
        operands = [self._value(argument.type, "operand", self.sharing) for argument in inner.arguments]
        types = FutureType(tuple(made.result_types))
        return self.append(ASYNC_START, operands, [types], [inner.region(made.results)])

    def whole(self, types: Sequence[Type]) -> Operation:
        """Append a slice of all of a tensor."""
        if len(types) != 1 or not isinstance(types[0], TensorType) or not types[0].is_static:
            raise NotDrawn("a slice has one result of known sizes")
        rank, limits, operand = types[0].rank, types[0].shape, self._value(types[0], "operand", 0.0)
        indices = {"start_indices": (0,) * rank, "limit_indices": limits, "strides": (1,) * rank}
        return self.append("stablehlo.slice", [operand], types, **indices)

    def _send(self, members: Members) -> None:
        """Append an op that sends what a `recv` receives."""
        *types, _ = members["results"]
        given = {name: members[name] for name in ("channel_id", "is_host_transfer", "source_target_pairs")}
        device = "HOST" if given["is_host_transfer"] else "DEVICE"
        operands = [self._value(type, "sent", self.sharing) for type in (*types, TOKEN)]
        self.append("stablehlo.send", operands, [TOKEN], channel_type=ChannelType[f"DEVICE_TO_{device}"], **given)

    def module(self) -> Operation:
        """Return a module whose function @main returns the tensors that no op uses."""
        used = {operand for op in self.operations for operand in op.operands}
        found = [part for op in list(self.operations) for v in op.results if v not in used for part in self._parts(v)]
        results = [value for value in found if isinstance(value.type, TensorType)] or list(self.arguments[:1])
        return build_module(self.arguments, self.operations, results, NOWHERE, self.functions)

    def _parts(self, value: Value) -> list[Value]:
        """Return a value, or the elements of a tuple, which no array stands for."""
        if not isinstance(value.type, TupleType):
            return [value]
        elements = (
            self.value("stablehlo.get_tuple_element", [value], type, index=index)
            for index, type in enumerate(value.type.elements)
        )
        return [part for element in elements for part in self._parts(element)]

    def text_with_unknown(self, of_results: bool) -> str:
        """Return the module with unknown dimensions: in some arguments, and if `of_results`, in results of ops."""
        values, types = self.values, [value.type for value in self.values]
        for value in values if of_results else self.arguments:
            is_argument = value.owner is None
            if isinstance(value.type, TensorType) and value not in self.fixed and _may_be_unknown(value):
                sizes = [None if not is_argument or self.rng.random() < 0.6 else n for n in value.type.shape]
                value.type = tensor_type(tuple(sizes), value.type.element_type)
        text = print_operation(self.module())
        for value, type in zip(values, types):
            value.type = type
        return text


def _may_be_unknown(value: Value) -> bool:
    """Return whether dimensions of a value may be unknown: not those of constants, nor if it is quantized along one."""
    element = value.type.element_type if isinstance(value.type, TensorType) else None
    is_made_of_others = not isinstance(value.owner, Operation) or bool(value.owner.operands)
    return is_made_of_others and getattr(element, "quantization_dimension", None) is None


def _attributes(definition: OpDefinition, members: Members) -> Members:
    """Return the attributes that are written: those without their defaults, and all fields of a struct or none."""
    given = {
        name: members[name]
        for name, attribute in definition.attributes.items()
        if members[name] is not None and members[name] != attribute.default
    }
    for group in definition.groups.values():
        fields = {member.name: members[member.name] for member in group.fields.values()}
        given |= {name: value for name, value in fields.items() if value is not None}
    return given


def completed(definition: OpDefinition, members: Members) -> Members:
    """Return valid members that run: for a custom call, those of one that returns its operand."""
    if definition.name != CUSTOM_CALL:
        return members
    operand = next((type for type in members["inputs"] if isinstance(type, TensorType)), COUNTER)
    lists = {name: value for name, value in definition.defaults.items() if value in (None, ())}  # layouts, aliases
    return {**members, **lists, "inputs": (operand,), "call_target_name": TARGET, "results": (operand,)}


def _types(members: Sequence[In | Ins] | Sequence[Out | Outs], values: Members) -> list[tuple[str, Type]]:
    """Return the types of operands or results, with the names of their members."""
    lists = [(m.name, v if isinstance(v := values[m.name], tuple) else (v,)) for m in members]
    return [(name, type) for name, types in lists for type in types if type is not None]


# --- regions ----------------------------------------------------------------------------------------------------------


def region_of(rng: random.Random, signature: FunctionType) -> Region:
    """Return a region with a signature: each output is computed from inputs of its type, or is a constant."""
    block = _BlockBuilder(rng, signature.inputs)
    return block.region(block.outputs(signature.outputs))


def with_body(rng: random.Random, function: Operation) -> Operation:
    """Return a function that computes its results from its arguments of their types."""
    signature = function.properties["function_type"]
    assert isinstance(signature, FunctionType)
    block = _BlockBuilder(rng, signature.inputs)
    region = block.region([block.made(type, None) for type in signature.outputs], "func.return")
    return Operation(function.name, [], (), function.properties, {}, [region], NOWHERE)


class _BlockBuilder(Ops):
    """Makes the body of an op."""

    def __init__(self, rng: random.Random, types: Sequence[Type]) -> None:
        super().__init__(types)
        self.rng = rng

    def outputs(self, types: Sequence[Type]) -> list[Value]:
        """Return values of some types, each made of a pair of arguments where that is possible."""
        arguments, half = self.arguments, len(self.arguments) // 2
        found = []
        for index, type in enumerate(types):
            # The arguments of reducers are pairs: x0, x1, ..., y0, y1, ..., or x0, y0, x1, y1, ... of comparators.
            pairs = [p for p in ((index, index + half), (2 * index, 2 * index + 1)) if max(p) < len(arguments)]
            alike = ([arguments[i] for i in p] for p in pairs if arguments[p[0]].type == arguments[p[1]].type)
            found.append(self.made(type, next(alike, None)))
        return found

    def made(self, type: Type, pair: Sequence[Value] | None) -> Value:
        """Return a value of a type, of a pair of arguments where that is possible."""
        element = getattr(pair[0].type, "element_type", None) if pair is not None else None
        is_complex = isinstance(element, ComplexType)
        if pair is not None and pair[0].type == type and isinstance(type, TensorType):
            names = LOGICAL if element == BOOLEAN else ("add", "multiply") if is_complex else COMBINERS
            return self.value(f"stablehlo.{self.rng.choice(names)}", pair)
        if pair is not None and type == TensorType((), BOOLEAN):
            directions = ("EQ", "NE") if is_complex else ("LT", "GT")
            direction = ComparisonDirection[self.rng.choice(directions)]
            return self.value("stablehlo.compare", pair, comparison_direction=direction)
        same = [a for a in self.arguments if a.type == type]
        return self.rng.choice(same) if same else self._converted(type, pair)

    def _converted(self, type: Type, pair: Sequence[Value] | None) -> Value:
        match type:
            case TensorType():
                for argument in pair or self.arguments:
                    plain = [t for t in (argument.type, type) if isinstance(t, TensorType) and not is_quantized(t)]
                    if len(plain) == 2 and plain[0].shape == type.shape:
                        return self.value("stablehlo.convert", [argument], type)
                return self.value("stablehlo.constant", (), type, value=constant_of(type))
            case TupleType():
                return self.value("stablehlo.tuple", [self.made(element, None) for element in type.elements], type)
            case TokenType():
                return self.value("stablehlo.after_all", (), type)
        raise NotDrawn(f"no value of {type} is made in a region")
