"""`convert-global-to-local`: partitioned programs compute the same, with the collectives that are expected."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.debug import contract_of, spmd_check
from stablehlo_ref.debug.spmd_check import SpmdPrograms

COLLECTIVE = re.compile(r"stablehlo\.(all_\w+|reduce_scatter|collective_permute|dynamic_slice)")
MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>'


def sharding(text: str) -> str:
    return f"{{sdy.sharding = #sdy.sharding<@mesh, {text}>}}"


def program(inputs: dict[str, str], body: str, result: str, out: str) -> sr.Program:
    """Return a function of inputs `%name: type` with shardings."""
    arguments = ", ".join(f"{name} {sharding(text)}" for name, text in inputs.items())
    text = f"module {{ {MESH} func.func @main({arguments}) -> ({result} {sharding(out)}) {{\n{body}\n}} }}"
    return sr.parse(text).verify()


def local(whole: sr.Program) -> sr.Program:
    """Return the partitioned program, read back from its text."""
    return sr.parse(str(whole.transform("convert-global-to-local"))).verify()


def collectives(whole: sr.Program) -> list[str]:
    return COLLECTIVE.findall(str(local(whole)))


DOT = """  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>"""


@pytest.mark.parametrize(
    ("x", "w", "out", "expected"),
    [
        ('[{"x"}, {}]', '[{}, {"y"}]', '[{"x"}, {"y"}]', []),
        ('[{"x"}, {"y"}]', '[{"y"}, {}]', '[{"x"}, {}]', ["all_reduce"]),
        ('[{"x"}, {"y"}]', '[{"y"}, {}]', '[{"x"}, {"y"}]', ["reduce_scatter"]),
        ('[{"x"}, {}]', '[{}, {"y"}]', '[{"x"}, {}]', ["all_gather"]),
        ('[{"x"}, {}]', "[{}, {}]", '[{}, {"x"}]', ["all_gather"]),
        ('[{"x", "y"}, {}]', "[{}, {}]", '[{"y", "x"}, {}]', ["collective_permute"]),
    ],
)
def test_collectives_of_a_dot(x: str, w: str, out: str, expected: list[str]) -> None:
    """Megatron's cases by hand: no communication, a sum over the contracted axis, a gather, a transposition of axes."""
    whole = program({"%x: tensor<8x16xf32>": x, "%w: tensor<16x32xf32>": w}, DOT, "tensor<8x32xf32>", out)
    found = [name for name in collectives(whole) if name != "dynamic_slice"]
    assert found == expected
    assert not spmd_check(whole).is_wrong


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('[{"x"}, {}]', '[{}, {"x"}]', ["all_to_all"]),
        ('[{"x", "y"}, {}]', '[{"x"}, {"y"}]', ["all_to_all"]),
        ('[{"x"}, {"y"}]', "[{}, {}]", ["all_gather", "all_gather"]),
        ('[{"y"}, {}]', '[{"x"}, {"y"}]', ["all_to_all"]),
        ('[{"x", "y"}, {}]', '[{"y", "x"}, {}]', ["collective_permute"]),
    ],
)
def test_a_tensor_changes_its_layout(before: str, after: str, expected: list[str]) -> None:
    """Axes move between dimensions by an exchange, not by a gather of all."""
    whole = program({"%x: tensor<8x16xf32>": before}, "  return %x : tensor<8x16xf32>", "tensor<8x16xf32>", after)
    assert [name for name in collectives(whole) if name != "dynamic_slice"] == expected
    assert spmd_check(whole).verdict == "same"


def test_groups_and_types_by_hand() -> None:
    """On a 2 x 4 mesh, devices 0 to 3 have x=0: a sum along y is over 0 to 3 and 4 to 7."""
    inputs = {"%x: tensor<8x16xf32>": '[{"x"}, {"y"}]', "%w: tensor<16x32xf32>": '[{"y"}, {}]'}
    text = str(local(program(inputs, DOT, "tensor<8x32xf32>", '[{"x"}, {}]')))
    assert "(tensor<4x4xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>" in text
    assert "replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]>" in text
    assert "@main(%x: tensor<4x4xf32>, %w: tensor<4x32xf32>) -> tensor<4x32xf32>" in text


def test_a_slice_takes_the_part_of_each_device() -> None:
    """Device d of the 2 x 4 mesh is at y = d mod 4, so its part of 8 elements starts at 2 (d mod 4)."""
    body = "  %0 = stablehlo.negate %x : tensor<8xf32>\n  return %0 : tensor<8xf32>"
    whole = program({"%x: tensor<8xf32>": "[{}]"}, body, "tensor<8xf32>", '[{"y"}]')
    text = str(local(whole))
    assert "dense<[0, 2, 4, 6, 0, 2, 4, 6]>" in text
    x = np.arange(8, dtype=np.float32)
    found = local(whole).run_parallel([[x]] * 8, num_replicas=1, num_partitions=8)
    assert [list(result[0]) for result in found[:5]] == [[0, -1], [-2, -3], [-4, -5], [-6, -7], [0, -1]]


def test_devices_in_another_order_and_parts_of_axes() -> None:
    mesh = 'sdy.mesh @mesh = <["x"=4], device_ids=[3, 1, 0, 2]>'
    body = "%0 = stablehlo.tanh %x : tensor<8xf32>\n return %0 : tensor<8xf32>"
    text = "module {{ {} func.func @main(%x: tensor<8xf32> {}) -> (tensor<8xf32> {}) {{ {} }} }}"
    whole = sr.parse(text.format(mesh, sharding('[{"x"}]'), sharding('[{"x":(2)2}]'), body)).verify()
    assert not spmd_check(whole).is_wrong
    x = np.arange(8, dtype=np.float32)
    programs = SpmdPrograms(whole, local(whole), contract_of("strict"), None, (None, None))
    # Position 0 of the axis is device 3, position 1 device 1, 2 device 0, 3 device 2.
    assert [list(shard[0]) for shard in programs.split([x])] == [[4, 5], [2, 3], [6, 7], [0, 1]]


def test_ops_without_a_rule_run_on_whole_tensors() -> None:
    body = """  %0 = "stablehlo.sort"(%x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>"""
    whole = program({"%x: tensor<8xf32>": '[{"x"}]'}, body, "tensor<8xf32>", '[{"x"}]')
    assert collectives(whole)[0] == "all_gather"
    assert not spmd_check(whole).is_wrong


def test_a_program_without_shardings_stays() -> None:
    whole = sr.parse("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }")
    assert str(whole.transform("convert-global-to-local")) == str(whole)


JAX = """
import os, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 --xla_dump_to=" + sys.argv[1] + (
    " --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=spmd.*")
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
def step(x, w, v):
    h = jnp.tanh(x @ w)
    h = jax.lax.with_sharding_constraint(h, NamedSharding(mesh, P("x", "y")))
    return (h @ v).sum(0), h.max(1)
put = lambda *names: NamedSharding(mesh, P(*names))
shapes = (8, 16), (16, 32), (32, 4)
arrays = [np.random.default_rng(i).uniform(-0.3, 0.3, s).astype(np.float32) for i, s in enumerate(shapes)]
jitted = jax.jit(step, in_shardings=(put("x"), put(None, "y"), put("y")), out_shardings=(put(), put("x")))
lowered = jitted.lower(*arrays)
open(sys.argv[1] + "/global.mlir", "w").write(lowered.as_text())
results = jitted(*arrays)
ordered = [sorted(r.addressable_shards, key=lambda s: s.device.id) for r in results]
shards = [np.stack([np.asarray(s.data) for s in each]) for each in ordered]
np.savez(sys.argv[1] + "/arrays.npz", *arrays, **{f"shards{i}": s for i, s in enumerate(shards)})
manual = jax.shard_map(
    lambda x, w, v: (jax.lax.psum((jnp.tanh(x @ w) @ v).sum(0), ("x", "y")),
                     jax.lax.pmax(jnp.tanh(x @ w).max(1), "y")),
    mesh=mesh, in_specs=(P("x"), P(None, "y"), P("y")), out_specs=(P(), P("x")))
open(sys.argv[1] + "/manual.mlir", "w").write(jax.jit(manual).lower(*arrays).as_text())
"""


@pytest.fixture(scope="module")
def from_jax(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what JAX made of a function on 8 CPU devices: programs, dumps of XLA, arrays and shards."""
    pytest.importorskip("jax")
    folder = tmp_path_factory.mktemp("jax")
    env = {key: value for key, value in os.environ.items() if key != "XLA_FLAGS"}
    subprocess.run([sys.executable, "-c", JAX, str(folder)], check=True, env=env, timeout=300)
    return folder


def arrays_of(folder: Path) -> tuple[list[np.ndarray], list[np.ndarray]]:
    with np.load(folder / "arrays.npz") as stored:
        return [stored[f"arr_{i}"] for i in range(3)], [stored[f"shards{i}"] for i in range(2)]


def test_shards_are_those_of_jax(from_jax: Path) -> None:
    """The shard of each device is what JAX computes on it."""
    inputs, expected = arrays_of(from_jax)
    whole = sr.load(from_jax / "global.mlir").verify()
    programs = SpmdPrograms(whole, local(whole), contract_of("xla-cpu"), None, (None, None))
    found = programs.local.run_parallel(programs.split(inputs), num_replicas=1, num_partitions=8)
    for shards, results in zip(expected, zip(*found)):
        np.testing.assert_allclose(np.stack(results), shards, rtol=1e-5, atol=1e-5)


def test_what_xla_partitions_is_not_called_wrong(from_jax: Path) -> None:
    (dump,) = from_jax.glob("*jit_step*after_spmd-partitioning*.txt")
    found = spmd_check(sr.load(from_jax / "global.mlir"), sr.load(dump), arrays_of(from_jax)[0])
    assert found.verdict == "not wrong", found


def test_a_wrong_group_in_what_xla_partitions_is_located(from_jax: Path) -> None:
    """The maximum along y is one along x."""
    (dump,) = from_jax.glob("*jit_step*after_spmd-partitioning*.txt")
    (line,) = [line for line in dump.read_text().splitlines() if "all-reduce(" in line and "/reduce_max" in line]
    groups = re.search(r"replica_groups=(mesh\[[^\]]*\] \{[^}]*\}|\{\{.*?\}\}|\[[^ ]*\])", line)
    assert groups is not None
    text = dump.read_text().replace(line, line.replace(groups[1], "{{0,4},{1,5},{2,6},{3,7}}"))
    found = spmd_check(sr.load(from_jax / "global.mlir"), sr.parse(text, filename="xla.txt"), arrays_of(from_jax)[0])
    fault = found.fault
    assert fault is not None and fault.is_confirmed and found.first_output == 1
    assert fault.place.startswith(f"xla.txt:{text[: text.index('{{0,4}')].count(chr(10)) + 1}:")
    assert (fault.op, fault.device, fault.axis) == ("stablehlo.all_reduce", 0, "y")


def test_a_shard_map_is_what_each_device_runs(from_jax: Path) -> None:
    whole, manual = sr.load(from_jax / "global.mlir"), sr.load(from_jax / "manual.mlir")
    assert not spmd_check(whole, manual, arrays_of(from_jax)[0]).is_wrong
    wrong = sr.parse((from_jax / "manual.mlir").read_text().replace("stablehlo.maximum %arg", "stablehlo.minimum %arg"))
    found = spmd_check(whole, wrong, arrays_of(from_jax)[0])
    assert found.verdict == "wrong" and found.first_output == 1


def test_from_jax_on_a_mesh_without_devices() -> None:
    jax = pytest.importorskip("jax")
    mesh = jax.sharding.AbstractMesh((32, 32), ("x", "y"))

    def put(*names: str | None) -> object:
        return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*names))

    def step(x: object, w: object) -> object:
        return jax.numpy.tanh(x @ w).sum(0)  # type: ignore[operator]

    x, w = (np.random.default_rng(0).standard_normal(shape).astype(np.float32) for shape in ((64, 32), (32, 64)))
    jitted = jax.jit(step, in_shardings=(put("x", "y"), put("y")), out_shardings=put("y"))
    program = sr.from_jax(jitted, x, w, mesh=mesh)
    np.testing.assert_allclose(program.run(x, w), np.tanh(x @ w).sum(0), rtol=1e-4, atol=1e-4)
    found = spmd_check(program, inputs=[x, w])
    assert (found.verdict, found.devices) == ("not wrong", 1024)
    assert "all_reduce" in str(sr.Program(program.module).transform("convert-global-to-local"))
    plain = sr.from_jax(jax.jit(step), x, w, mesh=jax.make_mesh((1,), ("x",)))
    np.testing.assert_allclose(plain.run(x, w), program.run(x, w))
