"""Find values of a program by SSA name or by the name in their location."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.locations import name_of
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.suggestions import did_you_mean


class UnknownValueError(EvaluationError, KeyError):
    """No value, or no single value, has the name."""


class ValueIndex:
    """Finds values by SSA name (`%3`, `%0#1`), by the number of their op (`#12`, `#0#1`), or by location name.

    Ops of a function are numbered from 0 in the order of the text, those in regions included. Names of another function
    than the entry begin with its name: `@relu/%3`, `@relu/#12`. A location name, such as `jit(f)/conv` or `args[0]`, is
    that of an argument, or of the last op with results of that location.
    """

    def __init__(self, module: Operation, entry: str) -> None:
        self.module = module
        self.entry = entry

    @checks_arguments
    def named(self, name: str) -> list[Value]:
        """Return all values of a name; UnknownValueError with similar names if there is none."""
        found = self._by_name.get(name)
        if found is None:
            hint = did_you_mean(name, self._by_name)
            raise UnknownValueError(f"no value is called {name!r}{hint}", self.module.location)
        return found

    @checks_arguments
    def find(self, name: str) -> Value:
        """Return the value; UnknownValueError with similar names if there is none, with the places if several."""
        found = self.named(name)
        if len(found) > 1 and not name.startswith(("%", "@")):
            return found[-1]
        if len(found) > 1 and (argument := _one_argument(found)):
            return argument
        if len(found) > 1:
            places = [f"at {op.location}" for value in found if (op := defining_op(value))]
            raise UnknownValueError(f"{len(found)} values are called {name!r}", self.module.location, notes=places)
        return found[0]

    def names(self, value: Value) -> list[str]:
        """Return the names of a value, the SSA name first."""
        return self._names_by_value.get(id(value), [])

    def unique_name(self, value: Value) -> str:
        """Return the first name that no other value has; each value has one.

        It is the name under which a value is shown wherever one is. In a program that was made of another one, it is
        the name in that.
        """
        return value.origin or next(
            (name for name in self.names(value) if len(self._by_name[name]) == 1), f"value of {value.type}"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    @cached_property
    def _by_name(self) -> dict[str, list[Value]]:
        found: dict[str, list[Value]] = {}
        for function, number, value in within_time(_values(self.module), "naming the values"):
            for name in self._names_of(function, number, value):
                found.setdefault(name, []).append(value)
        return found

    @cached_property
    def _names_by_value(self) -> dict[int, list[str]]:
        return {id(value): list(self._names_of(f, n, value)) for f, n, value in _values(self.module)}

    def _names_of(self, function: str, number: str, value: Value) -> Iterator[str]:
        for name in (f"%{value.name}" if value.name else "", number):
            if name and function == self.entry:
                yield name
            if name:
                yield f"@{function}/{name}"
        owner = value.owner
        described = name_of(owner.debug_location if isinstance(owner, Operation) else value.location)
        if described:
            yield described


def local_name(name: str) -> str:
    """Return a unique name without that of the function, for an address that has the call."""
    return name.rpartition("/")[2] if name.startswith("@") else name


def segment(name: str) -> str:
    """Return what stands for an op in addresses, by a unique name of a result: the local name without a number."""
    name = local_name(name)
    return name[0] + name[1:].partition("#")[0]  # of `%0#1` and `#12#1`


def defining_op(value: Value) -> Operation | None:
    """Return the op that a value is a result of, or in whose region it is a block argument."""
    if isinstance(value.owner, Block):
        return value.owner.parent.parent if value.owner.parent else None
    return value.owner


def _one_argument(values: list[Value]) -> Value | None:
    """Return the last of values that are all the same argument of regions of one op, as those of a loop; else None."""
    places = {(id(defining_op(value)), isinstance(value.owner, Block), value.index) for value in values}
    return values[-1] if len(places) == 1 else None


def _values(module: Operation) -> Iterator[tuple[str, str, Value]]:
    """Yield all values, with the names of the functions that they are in, and their numbers there, such as `#12#1`."""
    for function in module.regions[0].block.operations:
        name = function.properties.get("sym_name", "")
        for number, op in enumerate(function.walk(), -1):
            for index, argument in enumerate(op.block_arguments):
                yield name, f"#arg{index}" if op is function else f"#{number}#arg{index}", argument
            for result in op.results:
                yield name, f"#{number}#{result.index}" if len(op.results) > 1 else f"#{number}", result
