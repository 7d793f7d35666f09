"""Parameters of roles are annotated with the types of the members that they name."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stablehlo_ref.cli.list_ops import own_definitions
from stablehlo_ref.define.attribute_codecs import Dims, Int
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.type_constraints import tensor
from stablehlo_ref.ir.types import TensorType

TOOL = Path(__file__).parents[2] / "tools" / "check_annotations.py"


def load_tool() -> Any:
    spec = importlib.util.spec_from_file_location("check_annotations", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


mismatches: Callable[[OpDefinition], Iterator[str]] = load_tool().mismatches


@pytest.mark.parametrize("definition", own_definitions(), ids=lambda definition: definition.name)
def test_roles_are_annotated_with_the_types_of_members(definition: OpDefinition) -> None:
    assert list(mismatches(definition)) == []


class Annotated(Op, dialect="test", op="annotated"):
    """For these tests alone."""

    operand = In(tensor)
    index = Attr(Int)
    dims = Attr(Dims, default=None)
    result = Out(tensor)

    @staticmethod
    def infer(operand: TensorType, index: str, dims: Dims) -> Any:
        return operand

    @staticmethod
    def plan(operand: int, index: Int, dims: Dims | None, result: TensorType) -> None: ...


REGISTRY.pop("test.annotated")


def test_finds_annotations_of_another_type() -> None:
    assert list(mismatches(Annotated.definition)) == [
        "test.annotated: parameter 'index' of infer: expected type Int, got str",
        "test.annotated: parameter 'dims' of infer: expected type Dims | None, got Dims",
        "test.annotated: the result of infer: expected a precise type, got Any",
        "test.annotated: parameter 'operand' of plan: expected type TensorType, got int",
    ]
