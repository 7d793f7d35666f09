"""StableHLO bundles: folders in which torch_xla stores a program with its weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG
from typing import Any

from stablehlo_ref.array_files import array_errors, map_array, reason_of
from stablehlo_ref.diagnostics import Location, MalformedError, Source
from stablehlo_ref.parsing import parse_data
from stablehlo_ref.program import Program
from stablehlo_ref.reading import contents, open_file

SHOWN_NAME = 60  # characters of a name that a message shows


def load_bundle(folder: Path, function: str | None = None) -> Program:
    """Return the program of a function in a bundle, with its weights and constants bound.

    A bundle has `functions/<name>.meta`, which says where each input comes from (an argument, a weight or a constant),
    the program itself in `functions/<name>.bytecode` or `.mlir`, the weights in `data/` and constants in `constants/`,
    in numpy's format. `function` may be left out if there is only one, or one called `forward`.

    MalformedError for a folder that is not a bundle, or if one of its files is missing or malformed.
    """
    functions = {path.stem: path for path in sorted((folder / "functions").glob("*.meta"))}
    if not functions:
        raise _malformed(folder, "not a StableHLO bundle: it has no functions/*.meta")
    name = function or ("forward" if "forward" in functions else next(iter(functions)))
    if name not in functions or (function is None and name != "forward" and len(functions) > 1):
        raise _malformed(folder, f"choose one of the bundle's functions: {', '.join(functions)}")
    program = _program(functions[name].with_suffix(""))
    bound: dict[int, Any] = {}
    for index, location in enumerate(_input_locations(functions[name])):
        file = _file(folder, location)
        if file is not None:
            bound[index] = _array(file)
    unknown = [index for index in bound if index >= len(program.entry.inputs)]
    if unknown:
        raise _malformed(
            functions[name], f"input {unknown[0]} has a weight, but @{program.entry.name} has no such input"
        )
    return program.bind(bound)


def _program(stem: Path) -> Program:
    for suffix in (".bytecode", ".mlir"):
        path = stem.with_suffix(suffix)
        if path.is_file():
            return parse_data(_read(path), str(path))
    raise _malformed(stem, "the bundle has neither .bytecode nor .mlir for this function")


def _input_locations(path: Path) -> list[Mapping[str, Any]]:
    try:
        locations = json.loads(_read(path))["input_locations"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _malformed(path, f"not the description of a function: {error}") from None
    if not (isinstance(locations, list) and all(isinstance(location, Mapping) for location in locations)):
        raise _malformed(path, "'input_locations' is not a list of objects")
    return locations


def _file(folder: Path, location: Mapping[str, Any]) -> Path | None:
    """Return the file with the value of an input; None for an argument of the call."""
    match location.get("type_"):
        case "parameter":
            root, name = folder / "data", str(location.get("name"))
        case "constant":
            root, name = folder / "constants", str(location.get("position"))
        case _:
            return None
    place = root / name
    try:
        if not place.resolve().is_relative_to(root.resolve()):
            raise _malformed(folder, f"a weight outside of the bundle: {name}")
        return next((p for p in (place, place.with_name(place.name + ".npy")) if _is_file(p)), place)
    except (OSError, ValueError, RuntimeError) as error:  # too long, with a zero byte or a surrogate, a cycle of links
        raise _malformed(folder, f"no name of a file: {name[:SHOWN_NAME]!a}: {reason_of(error)}") from None


def _is_file(path: Path) -> bool:
    """Return whether a file exists; OSError if none can, where `Path.is_file` returns False from Python 3.14 on."""
    try:
        return S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _array(path: Path) -> Any:
    with array_errors(path, "cannot read the weight", lambda message: _malformed(path, message)):
        return map_array(path)


def _read(path: Path) -> bytes:
    try:
        with open_file(path) as file:
            return contents(file, str(path))
    except OSError as error:
        raise _malformed(path, f"cannot read the file: {error.strerror}") from None


def _malformed(path: Path, message: str) -> MalformedError:
    return MalformedError(message, Location(Source("", str(path)), 0))
