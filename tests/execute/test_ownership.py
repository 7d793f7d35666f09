"""An array may be overwritten or returned only if nothing else refers to it; all kinds of references count."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.define.definition import Traits
from stablehlo_ref.execute.ownership import is_exclusive_view, is_exclusively_owned
from stablehlo_ref.execute.steps import step_for


def test_array_in_one_list_is_owned() -> None:
    assert is_exclusively_owned([np.ones(2)], 0)
    assert is_exclusively_owned((None, np.ones(2)), 1)


def test_array_is_owned_again_after_the_last_other_reference() -> None:
    values = [np.ones(2)]
    other = values[0]
    assert not is_exclusively_owned(values, 0)
    del other
    assert is_exclusively_owned(values, 0)


def test_ownership_seen_through_local_variables_and_closures() -> None:
    """Interpreters pass local variables and variables of closures in different ways."""

    def check(slots: list[Any], slot: int) -> bool:
        return is_exclusively_owned(slots, slot)

    def make() -> Callable[[list[Any]], bool]:
        slot = 0

        def step(slots: list[Any]) -> bool:
            return is_exclusively_owned(slots, slot)

        return step

    slots = [np.ones(2)]
    assert check(slots, 0) and make()(slots) and (lambda s: is_exclusively_owned(s, 0))(slots)
    array = slots[0]
    assert not check(slots, 0) and not make()(slots) and not (lambda s: is_exclusively_owned(s, 0))(slots)
    assert array is slots[0]


def generator_with(array: Any) -> Iterator[Any]:
    yield array
    yield array


def started(array: Any) -> Iterator[Any]:
    generator = generator_with(array)
    next(generator)
    return generator


@pytest.mark.parametrize(
    "refer",
    [
        lambda array: array,
        lambda array: [array],
        lambda array: (array,),
        lambda array: {"key": array},
        lambda array: lambda: array,
        lambda array: array[:1],
        lambda array: array.reshape(1, 2)[0].view(np.int64),
        lambda array: memoryview(array),
        lambda array: np.frombuffer(array),
        lambda array: array.__dlpack__(),
        lambda array: array.flat,
        started,
    ],
    ids=["variable", "list", "tuple", "dict", "closure", "view", "view of view", "memoryview", "buffer", "dlpack",
         "iterator", "generator"],
)  # fmt: skip
def test_array_with_another_reference_is_not_owned(refer: Callable[[Any], Any]) -> None:
    values = [np.ones(2)]
    other = refer(values[0])
    assert not is_exclusively_owned(values, 0)
    del other
    assert is_exclusively_owned(values, 0)


def test_weak_references_do_not_count() -> None:
    values = [np.ones(2)]
    reference = weakref.ref(values[0])
    assert is_exclusively_owned(values, 0)
    assert reference() is values[0]


def test_array_twice_in_one_list_is_not_owned() -> None:
    array = np.ones(2)
    values = [array, array]
    del array
    assert not is_exclusively_owned(values, 0)
    values[1] = None
    assert is_exclusively_owned(values, 0)


def test_only_writeable_arrays_with_memory_of_their_own_are_owned() -> None:
    read_only = np.ones(2)
    read_only.flags.writeable = False
    values = [read_only, np.ones(3)[1:], np.frombuffer(b"abcd", np.uint8), np.float32(1), None]
    del read_only
    assert not any(is_exclusively_owned(values, index) for index in range(len(values)))


def test_view_that_alone_refers_to_its_array_is_exclusive() -> None:
    assert is_exclusive_view([np.ones((2, 3)).T], 0)
    assert is_exclusive_view([np.ones((2, 3)).T[1:].reshape(-1)[:2].view(np.int64)], 0) is True


def test_view_of_an_array_with_another_reference_is_not_exclusive() -> None:
    array = np.ones((2, 3))
    values = [array.T]
    assert not is_exclusive_view(values, 0)
    other = array[0]
    del array
    assert not is_exclusive_view(values, 0)
    del other
    assert is_exclusive_view(values, 0)


def test_view_with_another_reference_is_not_exclusive() -> None:
    view = np.ones((2, 3)).T
    assert not is_exclusive_view([view], 0)


def test_views_that_cannot_be_written_to_are_not_exclusive() -> None:
    values = [np.broadcast_to(np.ones(1), 3), np.frombuffer(b"abcd", np.uint8), np.ones(2), np.float32(1)]
    assert not any(is_exclusive_view(values, index) for index in range(len(values)))


# --- steps that may overwrite their first operand --------------------------------------------------------------------


def step_on(slots: list[Any], dead: tuple[int, ...] = (1,)) -> str:
    """Run a step on the operands in slots 1 and 2; return which function of its kernel it called."""
    kernel = Kernel(lambda x, y: "run", lambda x, y: "in_place")
    step_for(kernel, (1, 2), (3,), dead, Traits())(slots)
    assert slots[1] is None or 1 not in dead
    return str(slots[3])


def test_step_overwrites_an_operand_that_only_its_slot_refers_to() -> None:
    assert step_on([None, np.ones(2), np.ones(1), None]) == "in_place"


def test_step_keeps_an_operand_that_is_used_later() -> None:
    assert step_on([None, np.ones(2), np.ones(1), None], dead=()) == "run"


def test_step_keeps_an_operand_that_is_an_operand_twice() -> None:
    kernel = Kernel(lambda x, y: "run", lambda x, y: "in_place")
    slots: list[Any] = [None, np.ones(2), None]
    step_for(kernel, (1, 1), (2,), (1,), Traits())(slots)
    assert slots == [None, None, "run"]


def test_step_keeps_an_operand_that_the_caller_or_another_slot_has() -> None:
    array = np.ones(2)
    assert step_on([None, array, np.ones(1), None]) == "run"
    slots = [None, array, np.ones(1), None, array]
    del array
    assert step_on(slots) == "run"


def test_step_keeps_views_scalars_and_read_only_arrays() -> None:
    read_only = np.ones(2)
    read_only.flags.writeable = False
    assert step_on([None, np.ones(3)[1:], np.ones(1), None]) == "run"
    assert step_on([None, np.float32(1), np.ones(1), None]) == "run"
    assert step_on([None, read_only, np.ones(1), None]) == "run"


# --- programs -------------------------------------------------------------------------------------------------------

UPDATE = """
func.func @main(%x: tensor<4xf32>, %u: tensor<1xf32>, %i: tensor<i32>) -> (OUTPUTS) {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %1 = stablehlo.dynamic_update_slice %0, %u, %i : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
  return RESULTS
}
"""


class Addresses(sr.Observer):
    """The addresses of the first operand and of the result of the last op."""

    def __init__(self) -> None:
        self.operand = self.result = 0

    def before(self, op: Any, operands: Sequence[Any]) -> None:
        self.operand = operands[0].ctypes.data

    def after(self, op: Any, results: Sequence[Any]) -> None:
        self.result = results[0].ctypes.data


def addresses(outputs: str, results: str) -> Addresses:
    seen = Addresses()
    program = sr.load(UPDATE.replace("OUTPUTS", outputs).replace("RESULTS", results))
    program.run(np.zeros(4, np.float32), np.ones(1, np.float32), np.int32(1), observer=seen)
    return seen


def test_update_overwrites_an_operand_that_is_no_longer_used() -> None:
    seen = addresses("tensor<4xf32>", "%1 : tensor<4xf32>")
    assert seen.operand == seen.result


def test_update_copies_an_operand_that_is_used_later() -> None:
    seen = addresses("tensor<4xf32>, tensor<4xf32>", "%0, %1 : tensor<4xf32>, tensor<4xf32>")
    assert seen.operand != seen.result


def test_update_copies_an_operand_that_an_observer_keeps() -> None:
    kept: list[np.ndarray] = []

    class Keep(sr.Observer):
        def after(self, op: Any, results: Sequence[Any]) -> None:
            kept.extend(results)

    program = sr.load(UPDATE.replace("OUTPUTS", "tensor<4xf32>").replace("RESULTS", "%1 : tensor<4xf32>"))
    (result,) = program.run(np.ones(4, np.float32), np.zeros(1, np.float32), np.int32(1), observer=Keep())
    np.testing.assert_array_equal(kept, [[2, 2, 2, 2], [2, 0, 2, 2]])
    np.testing.assert_array_equal(result, [2, 0, 2, 2])
