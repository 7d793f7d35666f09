"""Compare the names in the dialects of the installed jaxlib with those that are known here; exit with 1 if one is not.

    python tools/jaxlib_names.py

These are ops and their attributes (`jaxlib.mlir.dialects`), the parameters of attributes of StableHLO, CHLO and Shardy
(its bindings), the versioned ops, types and attributes of VHLO (names in its library), and the newest version of
StableHLO that it writes. A new name is implemented, or added to `LEFT_OUT` with the reason. Needs the extra `jax`.
"""

from __future__ import annotations

import inspect
import mmap
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import jaxlib
from jaxlib.mlir import dialects, ir
from jaxlib.mlir.dialects import chlo, sdy, stablehlo

sys.path.insert(0, str(Path(__file__).parent.parent))

import stablehlo_ref as sr
import stablehlo_ref.dialects.register_all
from stablehlo_ref.bytecode.encodings import stablehlo as encoded
from stablehlo_ref.bytecode.encodings import vhlo
from stablehlo_ref.bytecode.vhlo.ops import split_name
from stablehlo_ref.bytecode.vhlo.versions import CURRENT, parse_version
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.syntax.mhlo import equivalent
from stablehlo_ref.syntax.structs import STRUCTS

LEFT_OUT = {  # patterns of names, and why they are not supported
    r"(gpu|llvm|nvgpu|nvvm|sparse_tensor|vector)\..*": "code generators use them, frameworks do not export them",
    r"(memref|scf)\..*": "only what exports contain is supported",
    r"mpmd\..*": "programs of several programs, each for devices of its own",
    r"mhlo\.(add_dependency|async_\w+|bitcast|copy|domain|fusion|xla\.\w+)": "says how XLA compiles",
    r"mhlo\.(exp2|log2|minimum_broadcast_shapes|mulhi|stochastic_convert)": "StableHLO and CHLO have no such op",
    r"mhlo\..* (custom_call_schedule|largest|padding)": "read, but the op that equals this one has no such",
    r"func\.(call_indirect|constant)": "functions are not values",
    r"arith\.(\w+_extended|convertf|flush_denormals|m(ax|in)imumnumf|scaling_\w+)": "no export has them",
    r"math\.(clampf|sincos)": "no export has them",
}
# Attributes of VHLO that hold what Python and MLIR's builtin attributes hold, and have no fields of their own.
PLAIN = ("api_version", "array", "bool", "dict", "float", "integer", "string", "tensor", "type")
# Parameters of attributes and types that are read, but not as fields of these names.
OTHER_PARAMETERS = frozenset((
    "blocked_propagation_factors", "channel_type", "dim_mappings", "dimension_shardings", "factor_indices",
    "factor_sizes", "is_closed", "is_custom", "mesh_or_ref", "need_replication_factors", "operand_mappings",
    "permutation_factors", "priority", "rank", "reduction_factors", "reduction_op", "replicated_axes",
    "result_mappings", "scattered_dims_to_operand_dims", "shardings", "types", "unreduced_axes", "value",
))  # fmt: skip


def operations() -> Mapping[str, set[str]]:
    """Return the ops of all dialects that have bindings, with the names of their attributes."""
    found: dict[str, set[str]] = {}
    for path in sorted(Path(dialects.__path__[0]).glob("_*_ops_gen.py")):
        for binding in path.read_text("utf-8").split("\nclass ")[1:]:
            if name := re.search(r'^  OPERATION_NAME = "(.+)"$', binding, re.MULTILINE):
                attributes = re.findall(r'operation\.attributes\["(\w+)"\]', binding)
                found.setdefault(name[1], set()).update(attributes)
    return found


def unknown_in_operations() -> Iterator[str]:
    for name, attributes in operations().items():
        definition = REGISTRY.get(equivalent(name))
        if definition is None:
            yield name
        else:
            yield from (f"{name} {attribute}" for attribute in sorted(attributes - definition.property_names))


def unknown_in_vhlo() -> Iterator[str]:
    """Yield the names of VHLO in the library that are neither an op nor a type or attribute that is read."""
    with (Path(jaxlib.__file__).parent / "libjax_common.so").open("rb") as file:
        library = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        names = {match[1].decode() for match in re.finditer(rb"(?<=\0)(vhlo\.\w+_v\d+)\0", library)}
    attributes = {f"vhlo.{name}_v1" for name in (*vhlo.ENUMERATIONS, *vhlo.STRUCTS, *PLAIN)}
    for name in sorted(names - attributes):
        if split_name(name) is None and not is_type(f"!{name}"):
            yield name


def is_type(name: str) -> bool:
    try:
        sr.parse(f"func.func private @f({name})")
    except sr.StablehloError as error:
        return "unknown" not in str(error)  # but parameters are missing
    return True


def unknown_parameters() -> Iterator[str]:
    """Yield the parameters of attributes of StableHLO, CHLO and Shardy that none here has."""
    structs = [*STRUCTS.values(), *[struct.fields for struct in (vhlo.STRUCTS | encoded.STRUCTS).values()]]
    known = OTHER_PARAMETERS.union(*structs)
    for dialect in (stablehlo, chlo, sdy):
        for name, binding in vars(dialect).items():
            if inspect.isclass(binding) and issubclass(binding, (ir.Attribute, ir.Type)):
                parameters = [key for key, value in vars(binding).items() if isinstance(value, property)]
                yield from (f"{dialect.__name__}.{name}.{key}" for key in parameters if key not in known)


def main() -> int:
    found = [*unknown_in_operations(), *unknown_in_vhlo(), *unknown_parameters()]
    unknown = [name for name in found if not any(re.fullmatch(pattern, name) for pattern in LEFT_OUT)]
    newest = parse_version(stablehlo.get_current_version())
    if newest is None or newest > CURRENT:
        unknown.append(f"version {newest} of StableHLO, newer than {CURRENT}")
    for name in unknown:
        print(f"jaxlib {jaxlib.__version__} has {name}, which is unknown here")
    print(f"{len(unknown)} names of jaxlib {jaxlib.__version__} are unknown")
    return bool(unknown)


if __name__ == "__main__":
    sys.exit(main())
