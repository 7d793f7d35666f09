"""An attribute that the pretty form of an op has, and the dictionary too: the dictionary wins, as in MLIR.

MLIR reads most forms into properties and the dictionary after them, so that its entries replace the others. A few forms
are read into the same list as the dictionary, which MLIR then refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest

import stablehlo_ref as sr
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.dialects import register_all  # noqa: F401
from stablehlo_ref.ir.attributes import UNIT, IntegerAttribute, OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import integer_type
from stablehlo_ref.syntax.assembly import assembly_of
from stablehlo_ref.syntax.attribute_text import attribute_text
from stablehlo_ref.syntax.printer import Printer, resource_section
from tests.shared import needs_mlir
from tests.syntax import test_mlir_reads_printed
from tests.syntax.test_mlir_reads_printed import INTERPRET, UNREGISTERED, Reader, printed, programs

mlir = test_mlir_reads_printed.mlir  # the fixture

MARK = "test.mark = 4321 : i32"
# Attributes that MLIR refuses in the dictionary of the pretty form.
REFUSED = {
    **{name: {"value"} for name in ("stablehlo.constant", "sdy.constant")},
    **{name: {"map"} for name in ("affine.apply", "affine.max", "affine.min")},
    "chlo.scan": {"dimension", "operandSegmentSizes", "resultSegmentSizes"},
    "func.func": {"sym_name", "sym_visibility", "function_type"},
    "mpmd.fragment": {"mesh_name", "origin", "stage_id", "in_shardings", "out_shardings"},
    "mpmd.fragment_call": {"mesh_name", "origin", "callee"},
    "mpmd.named_computation": {"origin"},
    "shape.const_shape": {"shape"},
    "scf.execute_region": {"no_inline"},
    "scf.for": {"unsignedCmp"},
    "stablehlo.reduce": {"dimensions"},
}
# Attributes that the MLIR of jaxlib does not have yet, or whose values it drops silently if they are of another kind.
NEWER = {("chlo.top_k", "is_stable"), ("sdy.all_reduce", "reduction_op"), ("sdy.reduce_scatter", "reduction_op")}
DROPPED = {"operandSegmentSizes", "arg_attrs", "res_attrs", "unsignedCmp"}
# Forms that the programs of `tests/interpret` do not have.
MORE = """
memref.global "private" constant @g : memref<2xf32> = dense<1.0>
func.func @main(%i: index, %c: i1) {
  scf.execute_region no_inline {
    scf.yield
  }
  %t = tensor.empty() : tensor<2xf32>
  %b = bufferization.to_memref %t read_only : memref<2xf32>
  scf.for unsigned %j = %i to %i step %i {
  }
  return
}
"""


OF_ARITH = ("fastmath", "isExact", "nonNeg", "overflowFlags", "roundingmode")
FLAGS = {
    "overflow": OpaqueAttribute("#arith.overflow<nsw>"),
    "fastmath": OpaqueAttribute("#arith.fastmath<fast>"),
    "is_exact": UNIT,
    "non_negative": UNIT,
}


class Twice(NamedTuple):
    """A program in which `attribute` of the op number `index` is in the dictionary with `value`."""

    text: str
    op: str
    index: int
    attribute: str
    value: str
    is_valid: bool


def ops_with_attributes() -> list[str]:
    """Return the names of ops whose pretty form contains attributes."""
    return sorted(name for name, d in REGISTRY.items() if d.mnemonic and d.syntax and in_form(d))


def in_form(definition: OpDefinition) -> frozenset[str]:
    """Return the attribute members that the pretty form contains. Flags of arith are optional, and few ops have all."""
    written = frozenset(member for part in assembly_of(definition).parts for member in part.members)
    return written & definition.attributes.keys()


@cache
def corpus() -> dict[str, list[tuple[Operation, Operation, int]]]:
    """Return for each op with attributes in its form a few occurrences: module, op, index in the walk."""
    found: dict[str, list[tuple[Operation, Operation, int]]] = {name: [] for name in ops_with_attributes()}
    parsed = [program.module for path in INTERPRET for program in programs(path)]
    for module in [*parsed, *(sr.parse(text).module for text in (MORE, "%0 = ub.poison <1 : i32> : i32"))]:
        for index, op in enumerate(module.walk()):
            if op.name in found and not op.spelling:
                found[op.name].append((module, op, index))
    return found


def written(op: Operation) -> dict[str, str]:
    """Return the attributes that the pretty form of an op contains, as text."""
    definition = REGISTRY[op.name]
    members = {name: value for name, value in op.properties.items() if name in in_form(definition)}
    return {name: attribute_text(value) for name, value in definition.encode(members).items()}


def marked(module: Operation, op: Operation, registered: bool) -> str | None:
    """Return the pretty form of a program with a mark in the dictionary of an op; None if there is no such place."""
    op.attributes["test.mark"] = IntegerAttribute(4321, integer_type(32))
    if registered:
        text = printed(module, generic=False)
    else:
        printer = Printer(generic=False)
        printer.operation(module)
        text = "".join(printer.parts) + "\n" + resource_section(module)
    del op.attributes["test.mark"]
    is_generic = re.search(rf'"{op.name}"\(.*{MARK}', text)  # with attributes that the pretty form cannot express
    return text if text.count(MARK) == 1 and not is_generic else None


def cases(name: str) -> Iterator[Twice]:
    """Yield for an op its attributes again with the same, another and an invalid value."""
    definition, values = REGISTRY[name], dict[str, set[str]]()
    for _, op, _ in corpus()[name]:
        for attribute, value in written(op).items():
            values.setdefault(attribute, set()).add(value)
    done = set()
    for module, op, index in corpus()[name]:
        flags = {flag: FLAGS[flag] for flag in in_form(definition) & FLAGS.keys() if flag in definition.attributes}
        op.properties.update(flags)
        for attribute, value in written(op).items():
            if attribute in done or (text := marked(module, op, name.split(".")[0] not in UNREGISTERED)) is None:
                continue
            done.add(attribute)
            for other in [value, *sorted(values.get(attribute, set()) - {value})[:2]]:
                yield Twice(text.replace(MARK, f"{attribute} = {other}"), name, index, attribute, other, True)
            other = "unit" if value.startswith('"') else '"of another kind"'
            yield Twice(text.replace(MARK, f"{attribute} = {other}"), name, index, attribute, other, False)
        for flag in flags:
            del op.properties[flag]


def is_invalid(text: str) -> bool:
    """Return whether the verifier rejects a program."""
    try:
        sr.parse(text, allow_unregistered_dialect=True).verify()
    except sr.InvalidError:
        return True
    return False


@pytest.mark.parametrize("name", ops_with_attributes())
def test_the_dictionary_wins(name: str) -> None:
    definition, count = REGISTRY[name], 0
    for case in cases(name):
        count += 1
        if case.attribute in REFUSED.get(name, ()):
            with pytest.raises(sr.MalformedError, match=f"attribute '{case.attribute}' is already given"):
                sr.parse(case.text, allow_unregistered_dialect=True)
            continue
        module = sr.parse(case.text, allow_unregistered_dialect=True).module
        op = list(module.walk())[case.index]
        found = definition.encode(op.properties) | op.attributes
        assert attribute_text(found[case.attribute]) == case.value, case.text
    assert count, f"no program has '{name}' with attributes in its form"


@needs_mlir
@pytest.mark.parametrize("name", [name for name in ops_with_attributes() if name.split(".")[0] not in UNREGISTERED])
def test_mlir_reads_attributes_that_are_given_twice_alike(name: str, mlir: Reader) -> None:
    for case in cases(name):
        if (name, case.attribute) in NEWER or (case.attribute in DROPPED and not case.is_valid):
            continue
        expected = mlir(case.text)
        if "strict properties" in expected.get("error", ""):
            continue  # MLIR from 24 on does not read attributes of forms from dictionaries at all
        if case.attribute in OF_ARITH and expected.get("error", "").endswith("expected ':'"):
            continue  # this op has no flags in MLIR
        is_refused = "more than once" in expected.get("error", "") or "inferred attribute" in expected.get("error", "")
        try:
            module = sr.parse(case.text, allow_unregistered_dialect=True).module
        except sr.MalformedError as error:
            assert is_refused, f"{error}\n{expected}\n{case.text}"
            continue
        found = mlir(printed(module, generic=True))
        if "error" in expected:
            assert not is_refused and ("error" in found or is_invalid(case.text)), f"{expected['error']}\n{case.text}"
        else:
            assert found == expected, case.text


@pytest.mark.parametrize(
    ("line", "attribute"),
    [
        ("stablehlo.compare EQ, %a, %a {comparison_direction = 5 : i64}"
         " : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>", "comparison_direction"),
        ('stablehlo.iota dim = 0 {iota_dimension = "0"} : tensor<2xf32>', "iota_dimension"),
        ('stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {dot_dimension_numbers = 1 : i64}'
         ' : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>', "dot_dimension_numbers"),
    ],
)  # fmt: skip
def test_an_invalid_value_in_the_dictionary_is_an_error_at_its_place(line: str, attribute: str) -> None:
    text = f"func.func @main(%a: tensor<2xf32>) {{\n  %0 = {line}\n  return\n}}"
    with pytest.raises(sr.InvalidError, match=f"attribute '{attribute}'") as caught:
        sr.load(text.encode())
    assert caught.value.diagnostics[0].column == 8 + line.index(attribute)


def test_properties_and_dictionary_of_the_generic_form_have_no_attribute_in_common() -> None:
    """MLIR drops that of the dictionary silently."""
    text = '%0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> {iota_dimension = 1 : i64} : () -> tensor<4x2xi32>'
    with pytest.raises(sr.MalformedError, match="duplicate attribute 'iota_dimension', which is a property already"):
        sr.parse(text)
    one, two = (f"{{value = dense<{number}> : tensor<i32>}}" for number in (1, 2))
    text = f"%0 = stablehlo.constant() <{one}> {two} : () -> tensor<i32>"
    with pytest.raises(sr.MalformedError, match="duplicate attribute 'value', which is a property already"):
        sr.parse(text)
