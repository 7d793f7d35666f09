"""The signature of a function: names, types and locations of its inputs and outputs, and how arguments name them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import SupportsIndex, TypeAlias, TypeVar, overload

from stablehlo_ref.diagnostics import Location, MissingAttributeError, UnknownIndexError, UnknownNameError
from stablehlo_ref.ir.arrays import DType
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.locations import name_of
from stablehlo_ref.ir.types import FunctionType, TensorType, Type
from stablehlo_ref.limits import check_type
from stablehlo_ref.suggestions import MAX_CANDIDATES, closest, closest_end, find_words

# --- which argument a name means, wherever a user names one -----------------------------------------------------------


Key = TypeVar("Key")
NameParts: TypeAlias = tuple[str, ...]  # of states['layer.0.bias']: ("states", "layer", "0", "bias")


def parts(name: str) -> NameParts:
    """Return the parts of a name: `params['a'][0]`, `params['a.0']`, `params.a.0` and `params/a/0` have the same."""
    return tuple(find_words(name))


class ArgumentNames:
    """Finds arguments, as their numbers, by the names in the text and those in locations.

    A name means the argument of exactly this name; without one, those with the same parts; without these, those with
    the same parts after their first, which is the name of a container: `layer.0.bias` for `states['layer.0.bias']`.
    Names in the text, such as `Arg_0.1`, have no parts.
    """

    def __init__(self, names: Iterable[Sequence[str]]) -> None:
        """`names` has for each argument its name in the text, and perhaps that in its location."""
        self._names = list(names)

    def __len__(self) -> int:
        return len(self._names)

    def meant(self, name: str) -> Collection[int]:
        """Return the arguments that a name may mean: one, none, or several if it is ambiguous.

        Names in the text take precedence over those in locations.
        """
        text = self._in_text.get(name.removeprefix("%"))
        return self.whole(name) or self.short(name) if text is None else [text]

    def whole(self, name: str) -> Collection[int]:
        """Return the arguments of a name, or those with the same parts if there are none."""
        return self._exact.get(name.removeprefix("%")) or self._by_parts.get(parts(name), {})

    def short(self, name: str) -> Collection[int]:
        """Return the arguments with the parts of a name after their first part."""
        return self._by_rest.get(parts(name), {})

    def shown(self, index: int) -> str:
        """Return the name of an argument in its location, or that in the text if others have that name too."""
        text, described = self._names[index][0], self._names[index][-1]
        return described if len(self._exact[described]) == 1 else text

    def path(self, index: int) -> NameParts:
        """Return the parts of the name of an argument in its location, () without one."""
        name = self._names[index][-1]
        return parts(name) if len(self._names[index]) > 1 or "[" in name else ()

    @cached_property
    def containers(self) -> dict[str, list[int]]:
        """The arguments that are parts of containers, such as `states` in `states['w']`, by their names."""
        found: dict[str, list[int]] = {}
        for index in range(len(self._names)):
            if len(path := self.path(index)) > 1:
                found.setdefault(path[0], []).append(index)
        return found

    def nearest(self, name: str, among: Collection[int]) -> str | None:
        """Return the name of the one of some arguments that a wrong name is most similar to; None if none is."""
        path = parts(name)
        for start in range(1, len(path)):  # module.layer.bias, where the argument is states['layer.bias']
            rest = ".".join(path[start:])
            if len(found := {*self.whole(rest), *self.short(rest)} & {*among}) == 1:
                return self.shown(*found)
        if 3 * len(among) > MAX_CANDIDATES:  # each has up to three forms
            return None
        forms: dict[str, int] = {}
        for index in among:
            for form in (self._names[index][0], *map(".".join, (self.path(index), self.path(index)[1:]))):
                forms.setdefault(form, index)
        similar = closest(".".join(path), forms) or closest(".".join(path[1:]), forms)
        return self.shown(forms[similar]) if similar else closest_end(name, map(self.shown, among))

    def hint(self, name: str) -> str:
        """Return what to add to the message that a name means no argument: those that it may mean, or the nearest."""
        if found := self.meant(name):
            return f"; it may be {self.listed(found)}"
        nearest = self.nearest(name, range(len(self._names)))
        return f"; did you mean '{nearest}'?" if nearest else ""

    def listed(self, indices: Iterable[int]) -> str:
        """Return the names of arguments: `'a' or 'b'`."""
        return " or ".join(f"'{self.shown(index)}'" for index in indices)

    @cached_property
    def _in_text(self) -> dict[str, int]:
        return {names[0]: i for i, names in reversed(list(enumerate(self._names)))}

    @cached_property
    def _exact(self) -> Mapping[str, Collection[int]]:
        return _numbers((name, i) for i, names in enumerate(self._names) for name in names)

    @cached_property
    def _by_parts(self) -> Mapping[NameParts, Collection[int]]:
        return _numbers((path, i) for i in range(len(self._names)) if (path := self.path(i)))

    @cached_property
    def _by_rest(self) -> Mapping[NameParts, Collection[int]]:
        return _numbers((rest, i) for i in range(len(self._names)) if (rest := self.path(i)[1:]))


def _numbers(pairs: Iterable[tuple[Key, int]]) -> Mapping[Key, Collection[int]]:
    found: dict[Key, dict[int, None]] = {}
    for key, number in pairs:
        found.setdefault(key, {})[number] = None
    return found


# --- signatures -------------------------------------------------------------------------------------------------------


SHOWN = 12  # names that a message lists


@dataclass(frozen=True)
class Parameter:
    """An input or output of a function. `names` are its name in the text and that in its `loc(...)`, if any."""

    name: str
    type: Type
    function_location: Location | None
    names: tuple[str, ...] = ()
    dtype: DType | None = None  # of arrays for it; None for tokens, tuples, and element types without arrays

    @property
    def location(self) -> Location | None:
        """Where the input is in the text; where the function is for an output, or an input without a name there."""
        function = self.function_location
        if function is None or not function.source.text:
            return function
        end = function.source.text.find("{\n", function.offset)
        end = function.offset + 100_000 if end < 0 else end
        found = re.compile(rf"%{re.escape(self.name)}(?![\w$.\-#])").search(function.source.text, function.offset, end)
        return Location(function.source, found.start()) if found else function

    def __repr__(self) -> str:
        others = [name for name in self.names if name != self.name]
        return f"{self.name}: {self.type}" + (f" ({', '.join(others)})" if others else "")

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The sizes of dimensions, None where they are unknown; AttributeError for tokens and tuples."""
        return self._tensor.shape

    @property
    def element_type(self) -> Type:
        """The type of elements; AttributeError for tokens and tuples."""
        return self._tensor.element_type

    @property
    def _tensor(self) -> TensorType:
        if not isinstance(self.type, TensorType):
            raise MissingAttributeError(f"{self.name} is not a tensor but of type {self.type}")
        return self.type


def listed(parameters: Sequence[Parameter]) -> str:
    """Return the names of parameters, those in the text first: `x (args[0]), y`."""
    others = [[name for name in p.names if name != p.name] for p in parameters]
    return shortened([f"{p.name} ({', '.join(more)})" if more else p.name for p, more in zip(parameters, others)])


def shortened(texts: Sequence[str]) -> str:
    """Return texts with commas between: the first few, and how many there are beside them; `none` without any."""
    rest = [f"... and {len(texts) - SHOWN} more"] if len(texts) > SHOWN else []
    return ", ".join([*texts[:SHOWN], *rest]) or "none"


def names_of(parameters: Iterable[Parameter]) -> ArgumentNames:
    """Return what finds the numbers of parameters by name."""
    return ArgumentNames((p.name, *(name for name in p.names if name != p.name)) for p in parameters)


class Parameters(tuple[Parameter, ...]):
    """The inputs or outputs of a function, by number or by any of their names."""

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> Parameter: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Parameter, ...]: ...
    def __getitem__(self, key: SupportsIndex | str | slice) -> Parameter | tuple[Parameter, ...]:
        if isinstance(key, slice):
            return super().__getitem__(key)
        check_type("the number or name of a parameter", key, str | Integral, "an integer or a str")
        if not isinstance(key, str):
            if -len(self) <= operator.index(key) < len(self):
                return super().__getitem__(key)
            raise UnknownIndexError(f"no number {operator.index(key)}; there are {len(self)}: {listed(self)}")
        names = names_of(self)
        if len(found := names.meant(key)) == 1:
            return super().__getitem__(*found)
        raise UnknownNameError(f"no {key!r}; there are {listed(self)}{names.hint(key)}")


@dataclass(frozen=True)
class Function:
    """The signature of a function of a program."""

    name: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    is_public: bool
    location: Location

    @cached_property
    def argument_names(self) -> ArgumentNames:
        """What finds the numbers of inputs by name."""
        return names_of(self.inputs)

    @cached_property
    def arrays(self) -> list[tuple[DType | None, tuple[int | None, ...]]] | None:
        """The dtypes and shapes of the arrays that the function takes; None if it has inputs that are no tensors."""
        tensors = [(p.dtype, p.type.shape) for p in self.inputs if isinstance(p.type, TensorType)]
        return tensors if len(tensors) == len(self.inputs) else None


def function_of(op: Operation, dtype_of: Callable[[Type], DType | None]) -> Function:
    """Return the signature of a `func.func`; `dtype_of` returns the dtype of arrays of a type."""
    signature: FunctionType = op.properties["function_type"]
    arguments: Sequence[Value | None] = op.regions[0].block.arguments if op.regions[0].blocks else ()
    arguments = arguments or [None] * len(signature.inputs)
    inputs = tuple(_input(op, i, t, dtype_of(t), v) for i, (t, v) in enumerate(zip(signature.inputs, arguments)))
    outputs = tuple(_output(op, i, t, dtype_of(t)) for i, t in enumerate(signature.outputs))
    is_public = op.properties.get("sym_visibility") in (None, "public")
    return Function(op.properties["sym_name"], inputs, outputs, is_public, op.location)


def _input(op: Operation, index: int, type: Type, dtype: DType | None, value: Value | None) -> Parameter:
    name = (value.name if value else "") or f"arg{index}"
    described = name_of(value.location) if value and value.location else None
    return Parameter(name, type, op.location, tuple(dict.fromkeys(n for n in (name, described) if n)), dtype)


def _output(op: Operation, index: int, type: Type, dtype: DType | None) -> Parameter:
    attributes = op.properties.get("res_attrs") or ()
    described = attributes[index].get("jax.result_info") if index < len(attributes) else None
    name = described or f"result{index}"
    return Parameter(name, type, op.location, (name,), dtype)
