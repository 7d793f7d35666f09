"""Generates one page for each op, from the op classes, their semantics and the lit tests."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from stablehlo_ref.cli.list_ops import own_definitions
from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.definition import OpDefinition
from stablehlo_ref.define.formulas import labelled_formulas
from stablehlo_ref.define.members import REQUIRED, Attr, Bodies, Body, In, Ins, Out, Outs
from stablehlo_ref.semantics.functions import place_of

ROOT = Path(__file__).parent.parent.parent
SPEC = "https://github.com/openxla/stablehlo/blob/main/docs/spec.md#"

# The categories of the op set, as StableHLO's documentation has them.
CATEGORIES = {
    "Control flow": "after_all case if optimization_barrier while",
    "Data movement": "broadcast_in_dim concatenate dynamic_slice dynamic_update_slice gather pad reshape reverse "
    "scatter slice sort transpose",
    "Distribution": "all_gather all_reduce all_to_all async_done async_start collective_broadcast collective_permute "
    "collective_reduce infeed outfeed partition_id recv reduce_scatter replica_id send",
    "Dynamism": "dynamic_broadcast_in_dim dynamic_conv dynamic_gather dynamic_iota dynamic_pad dynamic_reshape "
    "get_dimension_size real_dynamic_slice set_dimension_size",
    "Elementwise": "abs add and atan2 bitcast_convert cbrt ceil clamp compare complex convert cosine "
    "count_leading_zeros divide exponential exponential_minus_one floor imag is_finite log log_plus_one logistic map "
    "maximum minimum multiply negate not or popcnt power real reduce_precision remainder round_nearest_afz "
    "round_nearest_even rsqrt select shift_left shift_right_arithmetic shift_right_logical sign sine sqrt subtract tan "
    "tanh xor",
    "Extensibility": "composite custom_call get_tuple_element tuple",
    "Miscellaneous": "batch_norm_grad batch_norm_inference batch_norm_training cholesky constant fft iota rng "
    "rng_bit_generator triangular_solve",
    "Modularity": "return",
    "Not in HLO": "broadcast create_token cross-replica-sum dot einsum torch_index_select unary_einsum",
    "Quantization": "uniform_dequantize uniform_quantize",
    "Reduction": "convolution dot_general reduce reduce_window select_and_scatter",
}
CATEGORY = {op: category for category, ops in CATEGORIES.items() for op in ops.split()}
OTHER = "Other"
DIALECTS = {
    "stablehlo": "StableHLO",
    "chlo": "CHLO",
    "check": "The check dialect",
    "interpreter": "The interpreter dialect",
}


# --- one op ---------------------------------------------------------------------------------------------------------


# Not in the navigation, which each page repeats: hundreds of entries would make building the site quadratic.
ORPHAN = "---\norphan: true\n---"


def page(definition: OpDefinition) -> str:
    """Return the page of an op."""
    parts = [ORPHAN, f"# {definition.name}", _summary(definition), _links(definition)]
    if definition.syntax and isinstance(definition.syntax, str):
        parts.append(f"Pretty form: `{definition.name} {definition.syntax}`")
    parts += [_table("Inputs", definition, In | Ins | Attr | Body | Bodies), _table("Outputs", definition, Out | Outs)]
    parts += [_constraints(definition), _semantics(definition), _choices(definition), _example(definition)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary(definition: OpDefinition) -> str:
    return inspect.getdoc(definition.op_class) or ""


def _links(definition: OpDefinition) -> str:
    links = [f"source: `{_source(definition.op_class)}`"]
    if definition.name in _spec_pages():
        links.insert(0, f"[spec]({SPEC}{definition.mnemonic})")
    return " · ".join(links)


def _source(op_class: type) -> str:
    op_class = _written(op_class)
    file = Path(inspect.getsourcefile(op_class) or "").relative_to(ROOT)
    return f"{file}#L{inspect.getsourcelines(op_class)[1]}"


def _written(op_class: type) -> type:
    """Return a class that is in the source: the base class of one that a table defines."""
    try:
        inspect.getsourcelines(op_class)
    except OSError:
        return _written(op_class.__bases__[0])
    return op_class


@cache
def _spec_pages() -> frozenset[str]:
    labels = (ROOT / "spec_checks" / "labels.json").read_text("utf-8")
    return frozenset(f"stablehlo.{op}" for op in ast.literal_eval(labels))


def _semantics(definition: OpDefinition) -> str:
    """Return the source of the function that has the semantics of the op, and where it is."""
    found = place_of(definition.name)
    if found is None:
        return ""
    module, name = found
    path = Path(inspect.getsourcefile(module) or "")
    first, source = _statements(path)[name]
    place = f"`{path.relative_to(ROOT)}#L{first}`"
    return f"## Semantics\n\nElement by element, from {place}:\n\n```python\n{source}\n```"


@cache
def _statements(path: Path) -> dict[str, tuple[int, str]]:
    """Return the first line and the source of what defines each name of a module: a function or an assignment."""
    text, found = path.read_text("utf-8"), {}
    for statement in ast.parse(text).body:
        source = statement.lineno, ast.get_source_segment(text, statement) or ""
        if isinstance(statement, ast.FunctionDef):
            found[statement.name] = source
        elif isinstance(statement, ast.Assign):
            names = (n for target in statement.targets for n in ast.walk(target) if isinstance(n, ast.Name))
            found |= dict.fromkeys([name.id for name in names], source)
    return found


def _table(title: str, definition: OpDefinition, kinds: Any) -> str:
    members = [m for m in definition.members.values() if isinstance(m, kinds)]
    if not members:
        return ""
    rows = [f"| `{m.name}` | {_kind(m)} | {_type(m)} | {_default(m)} |" for m in members]
    return "\n".join([f"## {title}", "", "| name | kind | type | default |", "|---|---|---|---|", *rows])


def _kind(member: Any) -> str:
    match member:
        case In(optional=True):
            return "optional operand"
        case In():
            return "operand"
        case Ins():
            return "operands"
        case Attr():
            return "attribute"
        case Body():
            return "region"
        case Bodies():
            return "regions"
        case Out():
            return "result"
    return "results"


def _type(member: Any) -> str:
    if isinstance(member, Attr):
        return member.codec.name
    return "" if isinstance(member, Body | Bodies) else member.constraint.name


def _default(member: Any) -> str:
    if not isinstance(member, Attr) or member.default is REQUIRED:
        return ""
    match member.default:
        case None:
            return "absent"
        case Enum(name=name):
            return f"`{name}`"
        case "":
            return '`""`'
        case default:
            return f"`{default}`"


def _constraints(definition: OpDefinition) -> str:
    found = labelled_formulas(definition.op_class)
    if not found:
        return ""
    rows = [f"- **{label}** `{formula}`" for label, formula in found]
    return "\n".join(["## Constraints", "", *rows])


def _choices(definition: OpDefinition) -> str:
    role = definition.roles.get("implementation_defined")
    if role is None:
        return ""
    source = inspect.getsource(inspect.getmodule(definition.op_class) or definition.op_class)
    body = inspect.getsource(_written(definition.op_class))
    names = re.findall(r"Choice\.([A-Z_]+)", body) or re.findall(r"Choice\.([A-Z_]+)", source)
    chosen = [choice for choice in Choice if choice.name in names]
    rows = [f'- <a href="../../../choices.html#{choice.anchor}">{choice.value}</a>' for choice in chosen]
    return "\n".join(["## Implementation-defined behaviour", "", *rows]) if rows else ""


def _example(definition: OpDefinition) -> str:
    folder = ROOT / "tests" / "interpret"
    names = [folder / f"{definition.mnemonic}.mlir", folder / definition.dialect / f"{definition.mnemonic}.mlir"]
    if definition.dialect == "sdy":  # whose ops have names of StableHLO's
        names = names[1:]
    path = next(
        (path for path in (names if definition.dialect == "stablehlo" else reversed(names)) if path.exists()), None
    )
    if path is None:
        return ""
    part = path.read_text("utf-8").split("// -----")[0]
    text = "\n".join(line for line in part.strip().splitlines() if not line.startswith("// RUN"))
    return f"## Example\n\nFrom `{path.relative_to(ROOT)}`:\n\n```mlir\n{text.strip()}\n```"


# --- the index ------------------------------------------------------------------------------------------------------


def write_pages(folder: Path) -> None:
    """Write a page for each op, and the index of all; files that would not change are left alone."""
    definitions = own_definitions()
    for definition in definitions:
        _write(folder / definition.dialect / f"{definition.mnemonic}.md", page(definition))
    _write(folder / "index.md", index(definitions))


def index(definitions: list[OpDefinition]) -> str:
    """Return the index of ops by dialect and category."""
    parts = ["# Ops", "One page for each op: members, constraints with the spec's labels, semantics, an example."]
    for dialect in dict.fromkeys(d.dialect for d in definitions):
        own = [d for d in definitions if d.dialect == dialect]
        parts.append(f"## {DIALECTS.get(dialect, dialect)}")
        parts += _by_category(own) if dialect == "stablehlo" else [_list(own)]
    return "\n\n".join(parts) + "\n"


def _by_category(definitions: list[OpDefinition]) -> Iterator[str]:
    for category in (*CATEGORIES, OTHER):
        own = [d for d in definitions if CATEGORY.get(d.mnemonic, OTHER) == category]
        if own:
            yield f"### {category}"
            yield _list(own)


def _list(definitions: list[OpDefinition]) -> str:
    """Return links to the pages of ops."""
    return "\n".join(f"- [{d.name}]({d.dialect}/{d.mnemonic}.md)" for d in definitions)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / "reference" / "ops"))
    return {"parallel_read_safe": True}
