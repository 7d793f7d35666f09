"""Rules of faults: what may be wrong in ops of some names, as a change of the program that a backend compiles.

A fault is in all ops that are like one op of a program: of its name, types and attributes. The backend, XLA on CPUs or
the interpreter, runs the changed program, so that a fault is also in each program that is cut from the one compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

from stablehlo_ref.debug.cut import FLATTENING, is_constant, operands_of
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.passes.symbols import functions
from stablehlo_ref.program import Program
from stablehlo_ref.reading.loading import load

jax.config.update("jax_enable_x64", True)

Array: TypeAlias = Any  # of jax, while it is traced
Make: TypeAlias = "Callable[[Site], Sequence[Value] | None]"
BLOCKS = ("func.func", "stablehlo.while", "stablehlo.if", "stablehlo.case")


@dataclass(frozen=True)
class Rule:
    """A kind of fault: `make` returns what replaces the results of an op, or None if it does not apply.

    `inputs` says which inputs show it, `when` in which ops it is: in all that are alike; in those that are the only
    user of what computes an operand (`fused`); in the third only; or in each second run (`unstable`). A rule is
    `strict` if it is of precision: such a fault is judged under the strict contract, and runs on the interpreter.
    """

    name: str
    group: str
    ops: tuple[str, ...]
    make: Make
    inputs: str = "plain"
    strict: bool = False
    when: str = "always"


RULES: dict[str, Rule] = {}


def rule(name: str, ops: str, **options: Any) -> Callable[[Make], Make]:
    """Register a rule for ops, whose names are given without `stablehlo.`; the group is the module's name."""

    def register(make: Make) -> Make:
        assert name not in RULES, name
        names = tuple(op if "." in op else f"stablehlo.{op}" for op in ops.split())
        RULES[name] = Rule(name, make.__module__.rpartition(".")[2], names, make, **options)
        return make

    return register


def after(name: str, ops: str, **options: Any) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Register a function from an op, its right result and its operands to a wrong result, all arrays of jax."""

    def register(function: Callable[..., Array]) -> Callable[..., Array]:
        def make(site: Site) -> Sequence[Value] | None:
            values = site.copy()
            result = site.observed
            changed = site.computed(function, [values[result], *site.op.operands])
            return None if changed is None else [*values[:result], *changed, *values[result + 1 :]]

        make.__module__ = function.__module__
        rule(name, ops, **options)(make)
        return function

    return register


def before(name: str, ops: str, **options: Any) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Register a function from an op and its operands to a list of operands on which the op is computed instead."""

    def register(function: Callable[..., Array]) -> Callable[..., Array]:
        def make(site: Site) -> Sequence[Value] | None:
            operands = site.computed(function, site.op.operands)
            return None if operands is None else site.copy(operands=operands)

        make.__module__ = function.__module__
        rule(name, ops, **options)(make)
        return function

    return register


def changed(name: str, ops: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function from an op to its changed properties, with `name` for another op; None if there are none."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        def make(site: Site) -> Sequence[Value] | None:
            properties = function(site.op)
            return None if properties is None else site.copy(**properties)

        make.__module__ = function.__module__
        rule(name, ops, **options)(make)
        return function

    return register


@dataclass
class Site:
    """An op that is to be replaced."""

    op: Operation
    rewriter: Rewriter
    observed: int = 0  # the first result that is used

    def copy(self, name: str = "", operands: Sequence[Value] | None = None, **properties: object) -> list[Value]:
        """Insert a copy of the op, with another name, other operands or properties; return its results."""
        made = clone(self.op, dict(zip(self.op.operands, operands)) if operands else {})
        if operands:
            made.operands = list(operands)
        made.name = name or made.name
        made.properties = {**made.properties, **properties}
        return self.insert(made)

    def insert(self, made: Operation) -> list[Value]:
        self.rewriter.insert_before(self.op, made)
        return made.results

    def computed(self, function: Callable[..., Any], values: Sequence[Value]) -> list[Value] | None:
        """Insert what a function of arrays of jax computes; None if it raises NotImplementedError."""
        block = self.traced(function, values)
        return None if block is None else self.inlined(block, values)

    def traced(self, function: Callable[..., Any], values: Sequence[Value]) -> Block | None:
        """Return the ops of a function of arrays of jax; None if it raises NotImplementedError."""
        try:
            return _lowered(function, _Known(self.op), tuple(map(_struct, values)))
        except NotImplementedError:
            return None

    def inlined(self, block: Block, arguments: Sequence[Value]) -> list[Value]:
        """Insert a copy of the ops of a block; return what it returns."""
        mapping = dict(zip(block.arguments, arguments, strict=True))
        *ops, terminator = block.operations
        for op in ops:
            self.insert(clone(op, mapping))
        return [mapping.get(value, value) for value in terminator.operands]


@dataclass(frozen=True)
class _Known:
    """An op as a key of a cache: by what is alike."""

    op: Operation

    def __hash__(self) -> int:
        return hash(fingerprint(self.op))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and fingerprint(self.op) == fingerprint(other.op)


def _struct(value: Value) -> jax.ShapeDtypeStruct:
    if not isinstance(value.type, TensorType) or not value.type.is_static:
        raise NotImplementedError
    return jax.ShapeDtypeStruct(value.type.shape, numpy_dtype(value.type.element_type))


@cache
def _lowered(function: Callable[..., Any], known: _Known, types: tuple[jax.ShapeDtypeStruct, ...]) -> Block:
    """Return the ops of a function; its results have the types of the arguments that they replace."""

    def call(*arrays: Array) -> list[Array]:
        made = function(known.op, *arrays)
        made = made if isinstance(made, (list, tuple)) else [made]
        for x, y in zip(made, arrays):
            if jnp.shape(x) != jnp.shape(y):
                raise NotImplementedError
        return [jnp.asarray(x).astype(y.dtype) for x, y in zip(made, arrays)]

    try:
        text = jax.jit(call, keep_unused=True).lower(*types).as_text()
    except (TypeError, ValueError, IndexError, OverflowError) as error:  # jax does not have it
        raise NotImplementedError from error
    return entry_of(flat(text)).regions[0].block


def fingerprint(op: Operation) -> tuple[str, ...]:
    """Return what is the same in ops that are alike."""
    properties = sorted((name, str(value)) for name, value in op.properties.items())
    inner = " ".join(other.name for other in op.walk() if other is not op)
    operands, results = (", ".join(map(str, types)) for types in (op.operand_types, op.result_types))
    return op.name, operands, results, str(properties), inner


@dataclass(frozen=True)
class Fault:
    """A rule for the ops like one of a program."""

    rule: Rule
    like: tuple[str, ...]

    def sites(self, entry: Operation) -> Iterator[Operation]:
        """Yield the ops of a flat program that are wrong."""
        found = (op for op in fed_ops(entry) if fingerprint(op) == self.like)
        for index, op in enumerate(found):
            if self.rule.when == "third" and index != 2:
                continue
            if self.rule.when != "fused" or is_fused(op):
                yield op

    def put_into(self, program: Program, run: int = 0) -> Program | None:
        """Return a flat program with the fault; the program itself if it is in none of its ops, None if not valid."""
        if self.rule.when == "unstable" and run % 2 == 0:
            return program
        if not replaced(program, self.sites(entry_of(program)), self.rule):
            return None
        return load(str(program)).verify()


def replaced(program: Program, ops: Iterable[Operation], rule: Rule) -> bool:
    """Replace ops as a rule says; return whether it applies to all."""
    with Rewriter(program.module) as rewriter:
        for op in list(ops):
            observed = next((i for i, result in enumerate(op.results) if rewriter.uses(result)), 0)
            values = rule.make(Site(op, rewriter, observed))
            if values is None:
                return False
            rewriter.replace(op, values)
    return True


def flat(text: str) -> Program:
    return load(text).transform(*FLATTENING)


def entry_of(program: Program) -> Operation:
    return functions(program.module)[program.entry.name]


def fed_ops(entry: Operation) -> Iterator[Operation]:
    """Yield the ops that run as such: not those of regions of reductions."""
    for op in entry.walk():
        parent = op.parent_op
        if op is not entry and op.results and parent is not None and parent.name in BLOCKS:
            yield op


def is_fused(op: Operation) -> bool:
    """Return whether an operand is computed by an op that nothing else uses."""
    assert op.parent is not None
    uses = Counter(value for other in op.parent.operations for value in operands_of(other))
    return any(uses[v] == 1 and isinstance(v.owner, Operation) and not is_constant(v) for v in op.operands)
