"""Checks annotations: a bare `Any` is rare, and parameters of roles have the Python types of the members they name.

    python tools/check_annotations.py [FOLDER ...]

Prints what is wrong, and the share of bare `Any` in each folder of the package, and exits with 1 if it is above
`MAX_SHARE` in all of the package. With folders, prints the places of each bare `Any` in them instead.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, get_origin, get_type_hints

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from stablehlo_ref.cli.list_ops import own_definitions  # noqa: E402
from stablehlo_ref.define import attribute_codecs  # noqa: E402
from stablehlo_ref.define.definition import OpDefinition, Role  # noqa: E402
from stablehlo_ref.define.members import Attr, Group, In, Member  # noqa: E402

PACKAGE = ROOT / "stablehlo_ref"
MAX_SHARE = 0.02
ALIASES = {value: name for name, value in vars(attribute_codecs).items() if get_origin(value) is Annotated}
REGION_TYPES = ("FunctionType", "RegionFunction", "PlanBlock", "Callee")


ON_SLOTS = ("plan_control_flow", "forwarded", "plan_branch")  # roles that may see slots instead of types


def annotations(path: Path) -> Iterator[ast.expr]:
    """Yield the annotations of a file: of parameters, of results and of variables."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            extra = [a for a in (node.args.vararg, node.args.kwarg) if a]
            yield from (a.annotation for a in (*arguments, *extra) if a.annotation)
            yield from [node.returns] if node.returns else []
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation


def is_bare(annotation: ast.expr) -> bool:
    """Return whether an annotation is `Any` and nothing else."""
    return isinstance(annotation, ast.Name) and annotation.id == "Any"


def mismatches(definition: OpDefinition) -> Iterator[str]:
    """Yield a line for each parameter of a role of `definition` whose annotation is not that of its member."""
    for name, role in definition.roles.items():
        hints = get_type_hints(inspect.unwrap(role.function), include_extras=True)
        for parameter in role.parameters if hints else ():  # `op.type_of` and the like make roles without annotations
            member = definition.members.get(parameter)
            if member is not None and not _agrees(hints.get(parameter), member, name, definition, role):
                expected, found = _expected(member), _text(hints.get(parameter))
                yield f"{definition.name}: parameter '{parameter}' of {name}: expected type {expected}, got {found}"
        for parameter, hint in hints.items():
            if hint is Any:
                what = "the result" if parameter == "return" else f"parameter '{parameter}'"
                yield f"{definition.name}: {what} of {name}: expected a precise type, got Any"
    for group in definition.groups.values():
        hints = get_type_hints(group.as_type, include_extras=True) if group.as_type else {}
        for field in hints.keys() & group.fields.keys():
            if not _is_of(hints[field], group.fields[field]):
                expected, found = _expected(group.fields[field]), _text(hints[field])
                yield f"{definition.name}: field '{field}' of {group.name}: expected type {expected}, got {found}"


def _agrees(hint: object, member: Member, role: str, definition: OpDefinition, _: Role) -> bool:
    if role in ON_SLOTS and not isinstance(member, Attr):
        return hint is not Any
    if member.name in definition.traits.shape_operands:  # seen as attributes
        return hint is not Any
    if isinstance(member, Attr):
        return _is_of(hint, member)
    if isinstance(member, Group):
        return hint is member.as_type
    text = str(hint)
    constraint = getattr(member, "constraint", None)
    if constraint is None:  # a region
        return any(name in text for name in REGION_TYPES)
    if any(t.__name__ not in text for t in constraint.python_types):
        return False
    return not (isinstance(member, In) and member.optional) or "None" in text


def _is_of(hint: object, attribute: Attr) -> bool:
    """Return whether an annotation is that of the value of an attribute."""
    optional = attribute.default is None
    expected = attribute.value_type | None if optional else attribute.value_type  # type: ignore[operator]
    return hint == expected or (isinstance(expected, type) and issubclass(expected, Enum) and hint is expected)


def _expected(member: Member) -> str:
    """Return the annotation that a parameter for a member should have, as text."""
    if isinstance(member, Attr):
        return _text(member.value_type) + (" | None" if member.default is None else "")
    if isinstance(member, Group):
        return _text(member.as_type)
    constraint = getattr(member, "constraint", None)
    if constraint is None:
        return " or ".join(REGION_TYPES)
    types = " | ".join(t.__name__ for t in constraint.python_types)
    return f"{types} | None" if isinstance(member, In) and member.optional else types


def _text(hint: object) -> str:
    """Return a type as it is written in the source: `Dims`, `int`."""
    return ALIASES.get(hint) or (hint.__name__ if isinstance(hint, type) else str(hint))


def main() -> int:
    if folders := sys.argv[1:]:
        for path in (p for folder in folders for p in sorted((PACKAGE / folder).rglob("*.py"))):
            for annotation in filter(is_bare, annotations(path)):
                print(f"{path.relative_to(ROOT)}:{annotation.lineno}:{annotation.col_offset + 1}")
        return 0
    total, bare = Counter[str](), Counter[str]()
    for path in sorted(PACKAGE.rglob("*.py")):
        folder = path.relative_to(PACKAGE).parts[0]
        found = list(annotations(path))
        total[folder] += len(found)
        bare[folder] += sum(map(is_bare, found))
    for folder, count in sorted(total.items()):
        if bare[folder]:
            print(f"{folder:16} {bare[folder]:5} of {count:5} annotations are Any: {bare[folder] / count:.1%}")
    share = bare.total() / total.total()
    ops = own_definitions()
    wrong = [line for definition in ops for line in mismatches(definition)]
    print("\n".join(wrong))
    print(f"bare Any: {share:.1%} of {total.total()} annotations")
    print(f"roles of {len(ops)} ops: {len(wrong)} annotations are wrong")
    return bool(wrong) or share > MAX_SHARE


if __name__ == "__main__":
    sys.exit(main())
