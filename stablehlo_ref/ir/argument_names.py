"""Which argument of a function a name means, wherever a user names one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias, TypeVar

from stablehlo_ref.suggestions import MAX_CANDIDATES, closest, closest_end, find_words

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
