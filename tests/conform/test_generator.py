"""Generated programs: valid ones run, others break the constraint that they say, and the C++ MLIR agrees."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from spec_checks.examples import FACTOR
from stablehlo_ref.conform import cases
from stablehlo_ref.conform.members import PER_TENSOR, neighbours
from stablehlo_ref.conform.programs import Builder
from stablehlo_ref.conform.solve import Solver
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.diagnostics import InvalidError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import FLOATS, QuantizedType, TensorType, tensor_type
from stablehlo_ref.reading.parsing import parse
from tools.conform_coverage import coverage, implied_by, measure

# One op of each kind: elementwise, of CHLO, with a region, with struct attributes, control flow, with shape operands,
# with symbols, with futures and tuples, that communicates, and that needs an infeed.
OPS = (
    "stablehlo.add", "chlo.broadcast_add", "stablehlo.reduce", "stablehlo.dot_general", "stablehlo.gather",
    "stablehlo.convolution", "stablehlo.while", "stablehlo.dynamic_pad", "stablehlo.dynamic_conv",
    "stablehlo.composite", "stablehlo.get_tuple_element", "stablehlo.async_start", "stablehlo.all_gather",
    "stablehlo.recv", "stablehlo.infeed", "stablehlo.einsum", "stablehlo.compute_reshape_shape",
    "stablehlo.custom_call",
)  # fmt: skip
INVALID = (
    "stablehlo.add/C1", "stablehlo.dot_general/C5", "stablehlo.gather/C4", "stablehlo.slice/C2", "stablehlo.pad/C3",
    "stablehlo.concatenate/C2", "stablehlo.transpose/C2", "stablehlo.reduce/C6", "stablehlo.iota/C1",
)  # fmt: skip


@pytest.mark.parametrize("op", OPS)
def test_runs_programs_of_ops_of_all_kinds(op: str) -> None:
    made = (program_of(op, seed) for seed in range(20))
    assert any(case is not None for case in made)


def program_of(op: str, seed: int) -> cases.Case | None:
    rng = random.Random(seed)
    builder = Builder(rng)
    if builder.add(REGISTRY[op]) is None:
        return None
    return cases.valid_case(f"{op}/{seed}", rng, builder)


def test_a_large_dimension_is_not_quantized_along() -> None:
    """Its scales, one for each element, would not fit into memory."""
    (member, *_) = REGISTRY["stablehlo.negate"].operands
    near = list(neighbours(member, tensor_type((1 << 40, 3), FLOATS["f32"])))
    elements = [t.element_type for t in near if isinstance(t, TensorType)]
    per_axis = [e for e in elements if isinstance(e, QuantizedType) and e.quantization_dimension is not None]
    assert {len(e.scales) for e in per_axis} == {3}


@pytest.mark.parametrize("op", ["stablehlo.add", "stablehlo.dot_general", "stablehlo.sort", "chlo.top_k"])
@pytest.mark.parametrize("element", ["i32", "bf16"])
def test_case_has_the_element_type_of_its_name(op: str, element: str) -> None:
    made = cases.case(f"op/{op}/{element}/0")
    assert made is not None
    (found,) = (o for o in parse(made.text).module.walk() if o.name == op)
    assert any(cases.has_elements(value.type, element) for value in (*found.operands, *found.results))


def test_case_follows_from_its_name() -> None:
    first, second = (cases.case("op/stablehlo.reduce/f32/3") for _ in range(2))
    assert first is not None and second is not None
    assert first.text == second.text
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first.inputs, second.inputs))


def test_cases_do_not_depend_on_other_ops_that_are_registered() -> None:
    names = ["chain/3/1", "chain/5/2", "op/stablehlo.dot_general/f32/1", "invalid/stablehlo.pad/C3/0"]
    texts = texts_of(names)
    assert len(texts) == len(names)
    known = dict(REGISTRY)
    erf, other = known["chlo.erf"], type("Extra", (), {"__module__": "plugin"})
    plugin = {f"chlo.extra{i}": replace(erf, mnemonic=f"extra{i}", op_class=other) for i in range(9)}
    try:
        REGISTRY.clear()
        REGISTRY.update({**plugin, **dict(reversed(known.items()))})
        cases.case.cache_clear()
        again = texts_of(names)
    finally:
        REGISTRY.clear()
        REGISTRY.update(known)
    assert again == texts


def texts_of(names: Sequence[str]) -> list[str]:
    return [made.text for made in map(cases.case, names) if made is not None]


@pytest.mark.parametrize("name", INVALID)
def test_invalid_program_is_rejected_for_the_constraint_of_its_name(name: str) -> None:
    op, label = name.split("/")
    made = cases.case(f"invalid/{name}/0")
    assert made is not None and made.broken == label
    with pytest.raises(InvalidError, match=rf"'{op}' op \({label}\): "):
        parse(made.text).verify()


def test_random_numbers_are_not_drawn_from_an_interval_without_numbers() -> None:
    made = [cases.case(f"op/stablehlo.rng/{element}/0") for element in ("f32", "bf16", "i32", "f64")]
    assert [[float(end) for end in c.inputs] for c in made if c is not None] == [[0, 3]] * 4


def test_loops_end_and_turn() -> None:
    loops = [made for seed in range(12) if (made := program_of("stablehlo.while", seed)) is not None]
    limits = [constants_in_cond(made.text) for made in loops]
    assert len(loops) > 6
    assert {0} < {limit for found in limits for limit in found}


def constants_in_cond(text: str) -> list[int]:
    loops = [op for op in parse(text).module.walk() if op.name == "stablehlo.while"]
    return [int(op.properties["value"].array) for loop in loops for op in ops_of(loop, 0) if "value" in op.properties]  # type: ignore[attr-defined]


def ops_of(loop: Operation, region: int) -> list[Operation]:
    return loop.regions[region].block.operations


@pytest.mark.parametrize("op", ["stablehlo.slice", "stablehlo.pad", "stablehlo.real_dynamic_slice", "stablehlo.iota"])
def test_each_constraint_is_at_its_edge_and_broken(op: str) -> None:
    found = coverage(op, 15)
    assert found.is_complete, (set(found.labels) - found.tight, set(found.labels) - found.first)


def test_values_that_shapes_depend_on_stay_few() -> None:
    solver = Solver(REGISTRY["stablehlo.dynamic_pad"], random.Random(0))
    members = solver.solve()
    assert members is not None
    many = {**members, "edge_padding_low": tensor_type((1, 64, 64), FLOATS["f32"])}
    assert solver._with(many, "values of edge_padding_low", (1, 2)) == many  # and not 2 times 64 times 64 of them


# Each is broken alone only where several members are unlike those of any valid program nearby.
@pytest.mark.parametrize(
    ("op", "label"),
    [
        ("add", "C5"),
        ("fft", "C3"),
        ("all_to_all", "C4"),
        ("recv", "C2"),
        ("reduce_window", "C7"),
        ("convolution", "C30"),
    ],
)
def test_search_breaks_a_constraint_alone(op: str, label: str) -> None:
    definition = REGISTRY[f"stablehlo.{op}"]
    types = [PER_TENSOR if op in ("add", "convolution") else FLOATS["f32"]]
    tried = (Solver(definition, random.Random(seed), (), types).break_singly(label) for seed in range(12))
    broken = next(found for found in tried if found is not None and not found.others)
    failures = Solver(definition, random.Random(0)).failures(broken.members)
    assert {failure.label for failure in failures} == {label}


# `dims(lhs, a) == dims(rhs, b)` needs lists of one size, of dimensions in range; `inputs[0]` that there are inputs.
@pytest.mark.parametrize(
    ("op", "label", "reason"),
    [("stablehlo.dot_general", "C1", "C9"), ("stablehlo.dot_general", "C8", "C10"), ("stablehlo.map", "C2", "C3")],
)
def test_constraint_that_others_imply_is_told(op: str, label: str, reason: str) -> None:
    assert implied_by(op, label) == (reason,)


def test_constraint_that_can_be_broken_alone_is_not_implied() -> None:
    assert implied_by("stablehlo.slice", "C3") == ()


def test_edge_is_one_step_from_a_broken_constraint() -> None:
    solver = Solver(REGISTRY["stablehlo.slice"], random.Random(1))
    members = solver.solve()
    assert members is not None and not solver.failures(members)
    edges = list(solver.edges(members))
    assert edges
    for label, broken in edges:
        different = [name for name in members if broken.members[name] != members[name]]
        assert len([name for name in different if name != "result"]) <= 1  # the result follows from the others
        assert solver.failures(broken.members)[0].label == label


@pytest.mark.many_examples
@pytest.mark.skipif("STABLEHLO_REF_EXAMPLES" not in os.environ, reason="takes five minutes")
def test_constraints_that_programs_do_not_cover() -> None:
    """Of all ops, at least 95 % are at their edge, and of those that others do not imply, are broken alone."""
    assert measure(cases.names_of_ops(), 60)


# --- the C++ MLIR -----------------------------------------------------------------------------------------------------


@pytest.mark.many_examples
@pytest.mark.parametrize(
    "op", ["add", "dot_general", "reduce", "gather", "pad", "convolution", "sort", "while", "case"]
)
def test_mlir_accepts_what_is_valid(op: str) -> None:
    mlir = pytest.importorskip("jax._src.interpreters.mlir")
    ir = pytest.importorskip("jaxlib.mlir.ir")
    with mlir.make_ir_context(), ir.Location.unknown():
        for number in range(3 if FACTOR else 2):  # one of the op once, and others of many shapes
            made = cases.case(f"op/stablehlo.{op}/f32/{number}")
            # A dialect that jaxlib does not have, and algorithms that no hardware has.
            if made is not None and "!quant" not in made.text and "algorithm" not in made.text:
                assert ir.Module.parse(made.text).operation.verify(), made.text


@pytest.mark.parametrize("name", INVALID)
def test_mlir_rejects_what_is_invalid(name: str) -> None:
    mlir = pytest.importorskip("jax._src.interpreters.mlir")
    ir = pytest.importorskip("jaxlib.mlir.ir")
    made = cases.case(f"invalid/{name}/1")
    assert made is not None
    with mlir.make_ir_context(), ir.Location.unknown(), pytest.raises(ir.MLIRError):
        ir.Module.parse(made.text)
