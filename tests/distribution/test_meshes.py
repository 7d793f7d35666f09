"""Replica groups along the axes of a mesh."""

from __future__ import annotations

import pytest

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import Source
from stablehlo_ref.distribution.meshes import groups_along
from stablehlo_ref.syntax.parser import parse_attribute


def axis(name: str, part: str = "") -> str:
    return f'#stablehlo.axis_ref<name = "{name}"{f", sub_axis_info = {part}" if part else ""}>'


def mesh(device_ids: str = "", **sizes: int) -> str:
    axes = ", ".join(f'#stablehlo.mesh_axis<name = "{name}", size = {size}>' for name, size in sizes.items())
    return f"#stablehlo.mesh<axes = [{axes}]{device_ids and f', device_ids = dense<{device_ids}> : tensor<8xi64>'}>"


def groups(axes: str, mesh: str) -> tuple[tuple[int, ...], ...]:
    return groups_along(*(parse_attribute(Source(text, "")) for text in (f"[{axes}]", mesh)))


XY = mesh(x=2, y=4)


@pytest.mark.parametrize(
    ("axes", "mesh", "expected"),
    [
        (axis("x"), XY, ((0, 4), (1, 5), (2, 6), (3, 7))),
        (axis("y"), XY, ((0, 1, 2, 3), (4, 5, 6, 7))),
        (f"{axis('x')}, {axis('y')}", XY, ((0, 1, 2, 3, 4, 5, 6, 7),)),
        (f"{axis('y')}, {axis('x')}", XY, ((0, 4, 1, 5, 2, 6, 3, 7),)),
        (axis("y", "(1)2"), XY, ((0, 2), (1, 3), (4, 6), (5, 7))),
        (axis("y", "(2)2"), XY, ((0, 1), (2, 3), (4, 5), (6, 7))),
        (f"{axis('y', '(2)2')}, {axis('y', '(1)2')}", XY, ((0, 2, 1, 3), (4, 6, 5, 7))),
        (axis("z", "(2)2"), mesh(z=8), ((0, 2), (1, 3), (4, 6), (5, 7))),
        (axis("x"), mesh("[7, 6, 5, 4, 3, 2, 1, 0]", x=2, y=4), ((7, 3), (6, 2), (5, 1), (4, 0))),
        ("0 : i64", XY, ((0, 4), (1, 5), (2, 6), (3, 7))),
        ('"y"', XY, ((0, 1, 2, 3), (4, 5, 6, 7))),
        ("", mesh(x=2), ((0,), (1,))),
        ("", mesh(), ((0,),)),
        (axis("y"), '#stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 2>]>', ((0, 1), (2, 3))),
    ],
)  # fmt: skip
def test_groups_along_axes(axes: str, mesh: str, expected: tuple[tuple[int, ...], ...]) -> None:
    assert groups(axes, mesh) == expected


@pytest.mark.parametrize(
    ("axes", "mesh", "reason"),
    [
        (axis("z"), XY, "unknown axis 'z'"),
        ("2 : i64", XY, "unknown axis number 2"),
        ("1.0 : f32", XY, "expected the name or number of an axis"),
        (axis("y", "(1)3"), XY, "sub-axes of 'y' are not factors of its size 4"),
        (axis("y", "(0)2"), XY, "positive pre-size and size, got 0 and 2"),
        (axis("y", "(4)2"), XY, "sub-axes of 'y' are not factors of its size 4"),
        (f"{axis('y')}, {axis('y', '(1)2')}", XY, "axes overlap"),
        (axis("x"), mesh(x=0), "expected a positive size of axis 'x', got 0"),
        (axis("x"), mesh(x=1 << 62, y=1 << 62), "expected at most 1048576 devices"),
        (axis("x"), mesh("[0, 1, 2, 3, 4, 5, 6, 7]", x=2), "expected 2 device_ids, got 8"),
        (axis("x"), "7 : i64", "axes that have names and sizes"),
    ],
)
def test_rejects_axes(axes: str, mesh: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        groups(axes, mesh)


def test_reports_location_of_unknown_axis() -> None:
    with pytest.raises(sr.InvalidError, match=r"<string>:2:8: error: replica_groups: .*unknown axis 'z'"):
        sr.load(f"""func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {{
  %0 = "stablehlo.collective_broadcast"(%a) <{{
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = {XY}, axes = [{axis("z")}]>
  }}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}}
""")
