"""GSPMD's SPMDFullToShardShape and SPMDShardToFullShape: the order of shards, joining, and unsupported shardings."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr


def program(sharding: str, part: str, body: str) -> sr.Program:
    """Return a program that computes `%r` from `%p`, a device's shard of a 4x4 tensor, and joins the shards."""
    return sr.load(f"""
    func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {{
      %s = stablehlo.custom_call @Sharding(%x) {{mhlo.sharding = "{sharding}"}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %p = stablehlo.custom_call @SPMDFullToShardShape(%s) {{mhlo.sharding = "{{manual}}"}}
        : (tensor<4x4xf32>) -> tensor<{part}xf32>
      {body}
      %y = stablehlo.custom_call @SPMDShardToFullShape(%r) {{mhlo.sharding = "{sharding}"}}
        : (tensor<{part}xf32>) -> tensor<4x4xf32>
      return %y : tensor<4x4xf32>
    }}
    """)


def devices(sharding: str, part: str) -> list[list[float]]:
    """Return the device that holds each element: each device adds its number to zeros."""
    body = f"""
      %id = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<{part}xf32>
      %r = stablehlo.add %p, %b : tensor<{part}xf32>
    """
    (y,) = program(sharding, part, body).run(np.zeros((4, 4), np.float32))
    return y.tolist()  # type: ignore[no-any-return]


def test_shards_are_in_row_major_order_of_devices() -> None:
    assert devices("{devices=[2,2]<=[4]}", "2x2") == [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]


def test_transposed_device_order() -> None:
    # The transpose of [[0, 1], [2, 3], [4, 5], [6, 7]] is [[0, 2, 4, 6], [1, 3, 5, 7]].
    assert devices("{devices=[2,4]<=[4,2]T(1,0)}", "2x1") == [[0, 2, 4, 6]] * 2 + [[1, 3, 5, 7]] * 2


def test_explicit_device_order() -> None:
    assert devices("{devices=[4,1]2,0,3,1}", "1x4") == [[2] * 4, [0] * 4, [3] * 4, [1] * 4]


@pytest.mark.parametrize("more", ["last_tile_dim_replicate", "last_tile_dims={manual, replicated}"])
def test_result_of_a_replicated_shard_is_that_of_the_last_device(more: str) -> None:
    last = "2," * (more != "last_tile_dim_replicate")
    count = 8 if last else 4
    sharding = f"{{devices=[2,1,{last}2]<=[{count}] {more}}}"
    assert devices(sharding, "2x4") == [[count // 2 - 1] * 4] * 2 + [[count - 1] * 4] * 2


def test_collective_permute_between_devices() -> None:
    body = """
      %r = "stablehlo.collective_permute"(%p) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    """
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    (y,) = program("{devices=[2,1]<=[2]}", "2x4", body).run(x)
    np.testing.assert_array_equal(y, x[[2, 3, 0, 1]])


def test_grid_must_have_as_many_partitions_as_devices() -> None:
    doubled = program("{devices=[2,1]<=[2]}", "2x4", "%r = stablehlo.add %p, %p : tensor<2x4xf32>")
    x = np.ones((4, 4), np.float32)
    for (y,) in doubled.run_parallel([[x], [x]], num_partitions=2):
        np.testing.assert_array_equal(y, 2 * x)
    with pytest.raises(sr.EvaluationError, match="the tensor is sharded over 2 devices, but the grid has 4 partitions"):
        doubled.run_parallel([[x]] * 4, num_partitions=4)


def test_rejects_shards_without_a_sharding() -> None:
    with pytest.raises(sr.UnsupportedError, match=r"does not split tensor<4x4xf32> into shards tensor<2x4xf32>"):
        program("{replicated}", "2x4", "%r = stablehlo.add %p, %p : tensor<2x4xf32>").run(np.ones((4, 4), np.float32))


@pytest.mark.parametrize(
    "sharding, why",
    [
        ("{devices=[2,1]<=[3]}", "it has 3 devices for 2 shards"),
        ("{devices=[2,1]0}", "its devices are not a permutation of 0 to 1"),
        ("{devices=[2,1]1,1}", "its devices are not a permutation of 0 to 1"),
        ("{devices=[2]<=[2]}", "expected 2 tile sizes, got 1"),
        ("{devices=[2,1]<=[2]T(1,0)}", "axes don't match array"),
        ("{devices=[0,1]<=[0]}", "the sharding does not split"),
        ("{devices=[2,1,999999999999]<=[1999999999998]}", "it has more than 1048576 devices"),
        ("{devices=[3,1]<=[3]}", "the sharding does not split"),
    ],
)
def test_rejects_malformed_sharding(sharding: str, why: str) -> None:
    with pytest.raises(sr.UnsupportedError, match=why) as raised:
        program(sharding, "2x4", "%r = stablehlo.add %p, %p : tensor<2x4xf32>").run(np.ones((4, 4), np.float32))
    assert raised.value.diagnostics[0].line == 4


def test_scalars_are_replicated() -> None:
    (y,) = sr.load("""
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %s = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2]<=[2] last_tile_dim_replicate}"}
        : (tensor<f32>) -> tensor<f32>
      %p = stablehlo.custom_call @SPMDFullToShardShape(%s) {mhlo.sharding = "{manual}"} : (tensor<f32>) -> tensor<f32>
      %r = "stablehlo.all_reduce"(%p) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %0 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %0 : tensor<f32>
      }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids,
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<f32>) -> tensor<f32>
      %y = stablehlo.custom_call @SPMDShardToFullShape(%r) {mhlo.sharding = "{replicated}"}
        : (tensor<f32>) -> tensor<f32>
      return %y : tensor<f32>
    }
    """).run(np.float32(3))
    assert y == 6


def test_rejects_sizes_that_shards_do_not_divide() -> None:
    text = """
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %s = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<?xf32>) -> tensor<?xf32>
      %p = stablehlo.custom_call @SPMDFullToShardShape(%s) {mhlo.sharding = "{manual}"}
        : (tensor<?xf32>) -> tensor<?xf32>
      %y = stablehlo.custom_call @SPMDShardToFullShape(%p) {mhlo.sharding = "{devices=[2]<=[2]}"}
        : (tensor<?xf32>) -> tensor<?xf32>
      return %y : tensor<?xf32>
    }
    """
    x = np.arange(6, dtype=np.float32)
    np.testing.assert_array_equal(sr.load(text).run(x)[0], x)
    with pytest.raises(sr.EvaluationError, match=r"cannot split .* shape \[5\] into \[2\] equal parts"):
        sr.load(text).run(x[:5])
