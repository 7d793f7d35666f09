"""`Rewriter`, `clone`, and the lookup of symbols in blocks that change."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

import stablehlo_ref as sr
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import FLOATS, tensor_type

F32 = tensor_type((), FLOATS["f32"])
CHAIN = """\
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %a = stablehlo.negate %x : tensor<f32>
  %b = stablehlo.add %a, %a : tensor<f32>
  return %b : tensor<f32>
}
"""


def body(text: str = CHAIN) -> tuple[Operation, Block]:
    """The module of a text, and the block of its first function."""
    module = sr.parse(text).module
    return module, module.regions[0].block.operations[0].regions[0].block


def unary(name: str, operand: Value, like: Operation) -> Operation:
    return build_operation(f"stablehlo.{name}", [operand], [operand.type], like.location)


def names(block: Block) -> list[str]:
    return [op.mnemonic for op in block.operations]


# --- uses -----------------------------------------------------------------------------------------------------------


def test_uses_are_pairs_of_op_and_operand_index_in_order() -> None:
    module, block = body()
    negate, add, last = block.operations
    rewriter = Rewriter(module)
    assert rewriter.uses(negate.results[0]) == ((add, 0), (add, 1))
    assert rewriter.uses(block.arguments[0]) == ((negate, 0),)
    assert rewriter.uses(add.results[0]) == ((last, 0),)
    assert rewriter.is_used(negate) and not rewriter.is_used(last)


def test_uses_inside_regions_count() -> None:
    module, block = body("""
    func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
      %0 = "stablehlo.if"(%p) ({
        stablehlo.return %x : tensor<f32>
      }, {
        %1 = stablehlo.negate %x : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    """)
    branches = [region.block.operations for region in block.operations[0].regions]
    assert Rewriter(module).uses(block.arguments[1]) == ((branches[0][0], 0), (branches[1][0], 0))


def test_changed_operands_change_uses() -> None:
    module, block = body()
    negate, add, _ = block.operations
    x, a = block.arguments[0], negate.results[0]
    rewriter = Rewriter(module)
    rewriter.set_operand(add, 1, x)
    assert rewriter.uses(a) == ((add, 0),) and rewriter.uses(x) == ((negate, 0), (add, 1))
    rewriter.set_operands(add, [x, x, a])
    assert add.operands == [x, x, a]
    assert rewriter.uses(a) == ((add, 2),) and rewriter.uses(x) == ((negate, 0), (add, 0), (add, 1))
    rewriter.replace_uses(x, a)
    assert add.operands == [a, a, a] and negate.operands == [a] and rewriter.uses(x) == ()
    rewriter.replace_uses(a, a)
    assert len(rewriter.uses(a)) == 4


# --- insert and erase -----------------------------------------------------------------------------------------------


def test_insertions_are_visible_after_commit() -> None:
    module, block = body()
    add = block.operations[1]
    with Rewriter(module) as rewriter:
        rewriter.insert_before(add, unary("abs", add.operands[0], add), unary("sine", add.operands[0], add))
        assert names(block) == ["negate", "add", "return"]
    assert names(block) == ["negate", "abs", "sine", "add", "return"]
    assert all(op.parent is block for op in block.operations)


def test_inserts_before_an_inserted_op() -> None:
    module, block = body()
    add = block.operations[1]
    with Rewriter(module) as rewriter:
        inserted = unary("abs", add.operands[0], add)
        rewriter.insert_before(add, inserted)
        rewriter.insert_before(inserted, unary("sine", add.operands[0], add))
        rewriter.insert_before(add, unary("cosine", add.operands[0], add))
    assert names(block) == ["negate", "sine", "abs", "cosine", "add", "return"]


def test_inserts_before_an_erased_op() -> None:
    module, block = body()
    negate, add, _ = block.operations
    with Rewriter(module) as rewriter:
        replacement = unary("abs", negate.operands[0], negate)
        rewriter.insert_before(negate, replacement)
        rewriter.replace(negate, replacement.results)
        rewriter.insert_before(negate, unary("sine", replacement.results[0], negate))
    assert names(block) == ["abs", "sine", "add", "return"]
    assert add.operands == [replacement.results[0]] * 2


def test_changes_inside_an_op_can_be_seen_before_commit() -> None:
    module, block = body()
    negate, add, _ = block.operations
    with Rewriter(module) as rewriter:
        rewriter.insert_before(negate, replacement := unary("abs", negate.operands[0], negate))
        rewriter.replace(negate, replacement.results)
        rewriter.settle(module)
        assert names(block) == ["abs", "add", "return"] and rewriter.is_erased(negate)
        rewriter.insert_before(add, unary("sine", negate.operands[0], add))
    assert names(block) == ["abs", "sine", "add", "return"]


def test_inserted_op_can_be_erased() -> None:
    module, block = body()
    add = block.operations[1]
    with Rewriter(module) as rewriter:
        inserted = unary("abs", add.operands[0], add)
        rewriter.insert_before(add, inserted)
        rewriter.erase(inserted)
        assert rewriter.is_erased(inserted) and not rewriter.is_erased(add)
        assert rewriter.uses(add.operands[0]) == ((add, 0), (add, 1))
    assert names(block) == ["negate", "add", "return"] and inserted.parent is None


def test_erasing_a_used_op_is_an_error() -> None:
    module, block = body()
    with pytest.raises(ValueError, match=r"'stablehlo\.negate' is used, so it cannot be erased"):
        Rewriter(module).erase(block.operations[0])
    assert names(block) == ["negate", "add", "return"]


def test_op_can_be_erased_after_its_users() -> None:
    module, block = body()
    negate, add, last = block.operations
    with Rewriter(module) as rewriter:
        rewriter.set_operand(last, 0, block.arguments[0])
        rewriter.erase(add)
        rewriter.erase(negate)
    assert names(block) == ["return"]


def test_erasing_an_op_forgets_the_uses_in_its_regions() -> None:
    module, block = body("""
    func.func @main(%p: tensor<i1>, %x: tensor<f32>) {
      %0 = "stablehlo.if"(%p) ({ stablehlo.return %x : tensor<f32> }, { stablehlo.return %x : tensor<f32> })
        : (tensor<i1>) -> tensor<f32>
      return
    }
    """)
    rewriter = Rewriter(module)
    rewriter.erase(block.operations[0])
    assert all(rewriter.uses(argument) == () for argument in block.arguments)


def test_nothing_is_committed_after_an_error() -> None:
    module, block = body()
    negate = block.operations[0]
    with pytest.raises(KeyError), Rewriter(module) as rewriter:
        rewriter.insert_before(negate, unary("abs", negate.operands[0], negate))
        raise KeyError
    assert names(block) == ["negate", "add", "return"]


# --- replace and inline ---------------------------------------------------------------------------------------------


def test_replace_passes_on_uses_and_names() -> None:
    module, block = body()
    negate, add, _ = block.operations
    with Rewriter(module) as rewriter:
        replacement = unary("abs", negate.operands[0], negate)
        rewriter.insert_before(negate, replacement)
        rewriter.replace(negate, replacement.results)
    assert names(block) == ["abs", "add", "return"]
    assert add.operands == [replacement.results[0]] * 2
    assert replacement.results[0].name == "a"


def test_replacing_by_a_named_value_keeps_its_name() -> None:
    module, block = body()
    with Rewriter(module) as rewriter:
        rewriter.replace(block.operations[0], [block.arguments[0]])
    assert block.arguments[0].name == "x" and names(block) == ["add", "return"]


def test_replacing_by_another_number_of_values_is_an_error() -> None:
    module, block = body()
    with pytest.raises(ValueError, match="argument 2"):
        Rewriter(module).replace(block.operations[0], [])


def test_inline_copies_a_block_and_maps_its_arguments() -> None:
    text = CHAIN.replace("stablehlo.negate %x", "func.call @f(%x)").replace(
        "%x) : tensor<f32>", "%x) : (tensor<f32>) -> tensor<f32>"
    )
    module, block = body(
        text
        + """
    func.func @f(%y: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.sine %y : tensor<f32>
      %1 = stablehlo.add %0, %y : tensor<f32>
      return %1 : tensor<f32>
    }
    """
    )
    callee = module.regions[0].block.operations[1].regions[0].block
    with Rewriter(module) as rewriter:
        rewriter.inline(block.operations[0], callee, block.arguments)
    assert names(block) == ["sine", "add", "add", "return"] and names(callee) == ["sine", "add", "return"]
    sine, first, second, _ = block.operations
    assert sine.operands == block.arguments
    assert first.operands == [sine.results[0], block.arguments[0]]
    assert second.operands == [first.results[0]] * 2
    assert callee.operations[0].operands == callee.arguments


def test_inline_of_a_block_that_returns_its_argument() -> None:
    module, block = body(
        CHAIN.replace("stablehlo.negate %x", "func.call @f(%x)").replace(
            "%x) : tensor<f32>", "%x) : (tensor<f32>) -> tensor<f32>"
        )
        + "func.func @f(%y: tensor<f32>) -> tensor<f32> {\n return %y : tensor<f32>\n}\n"
    )
    callee = module.regions[0].block.operations[1].regions[0].block
    with Rewriter(module) as rewriter:
        rewriter.inline(block.operations[0], callee, block.arguments)
    assert names(block) == ["add", "return"] and block.operations[0].operands == block.arguments * 2


# --- clone ----------------------------------------------------------------------------------------------------------

NESTED = """\
func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = "stablehlo.if"(%p) ({
      %2 = stablehlo.negate %x : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }, {
      stablehlo.return %x : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) {note = "outer"} : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""


def test_clone_copies_nested_regions() -> None:
    module, _ = body(NESTED)
    copy = clone(module, {})
    assert str(sr.Program(copy)) == str(sr.Program(module))
    originals, copies = set(module.walk()), set(copy.walk())
    assert len(copies) == len(originals) and not originals & copies
    used = {operand.owner for op in copies for operand in op.operands}
    assert not used & originals
    assert all(region.parent is op for op in copies for region in op.regions)
    assert all(inner.parent is b for op in copies for r in op.regions for b in r.blocks for inner in b.operations)


def test_clone_shares_no_dictionaries() -> None:
    _, block = body(NESTED)
    copy = clone(block.operations[0], {})
    copy.attributes["note"] = "copy"
    assert block.operations[0].attributes["note"] == "outer"


def test_clone_maps_values_from_outside_and_records_results() -> None:
    _, block = body()
    negate, add, _ = block.operations
    other = Value(F32, None, 0, "other")
    mapping = {negate.results[0]: other}
    copy = clone(add, mapping)
    assert copy.operands == [other, other]
    assert mapping[add.results[0]] is copy.results[0] and copy.results[0].name == "b"
    assert clone(add, {}).operands == add.operands


def test_clone_of_several_blocks_that_use_values_of_later_blocks() -> None:
    """^bb0 branches to ^bb2, which dominates ^bb1 but stands after it."""
    location = sr.parse(CHAIN).module.location
    produce = Operation("test.produce", [], [F32], {}, {}, [], location)
    nested = Block([], [Operation("test.use", produce.results, (), {}, {}, [], location)])
    use = Operation("test.use", produce.results, (), {}, {}, [Region([nested])], location)
    argument = Value(F32, None, 0, "a")
    use_argument = Operation("test.use", [argument], (), {}, {}, [], location)
    use.successors = ["bb3"]
    blocks = [Block([], [use, use_argument], "bb1"), Block([argument], [produce], "bb2")]
    copy = clone(Operation("test.cfg", [], (), {}, {}, [Region(blocks)], location), {})
    first, second = copy.regions[0].blocks
    assert [first.label, second.label] == ["bb1", "bb2"]
    assert all(op.operands == second.operations[0].results for op in first.operations[0].walk())
    assert first.operations[1].operands == second.arguments and first.operations[0].successors == ["bb3"]
    assert second.arguments[0] is not argument and second.arguments[0].owner is second and argument.owner is blocks[1]


# --- time -----------------------------------------------------------------------------------------------------------


def calls_of(function: Callable[[], None]) -> int:
    """How many calls of functions in Python, and resumptions of generators, a function makes."""
    count = 0

    def profile(frame: Any, event: str, _: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def change(count: int) -> Block:
    """Insert `count` ops before one op, and `count` ops each before the one inserted last; erase every other one."""
    module, block = body()
    anchor = add = block.operations[1]
    x = block.arguments[0]
    with Rewriter(module) as rewriter:
        for number in range(count):
            op = unary("abs", x, add)
            rewriter.insert_before(add, op)
            if number % 2:
                rewriter.erase(op)
        for _ in range(count):
            op = unary("sine", x, add)
            rewriter.insert_before(anchor, op)
            anchor = op
    return block


def test_commit_takes_linear_time() -> None:
    assert len(change(100).operations) == 3 + 50 + 100
    small, large = calls_of(lambda: change(200) and None), calls_of(lambda: change(2000) and None)
    assert large < 11 * small


def test_insertions_may_be_nested_deeper_than_pythons_stack() -> None:
    block = change(2 * sys.getrecursionlimit())
    assert names(block)[-2:] == ["add", "return"]


# --- symbols --------------------------------------------------------------------------------------------------------

FUNCTIONS = """\
func.func @f() {
  return
}
func.func @g() {
  return
}
"""


def functions() -> tuple[Operation, Block, Operation, Operation]:
    module = sr.parse(FUNCTIONS).module
    block = module.regions[0].block
    f, g = block.operations
    assert (block.symbol("f"), block.symbol("g"), block.symbol("h")) == (f, g, None)
    return module, block, f, g


def test_symbol_is_found_from_inside_the_ops_around_it() -> None:
    _, _, f, g = functions()
    inner = f.regions[0].block.operations[0]
    assert inner.symbol("g") is g and inner.symbol("h") is None


def test_symbol_is_found_by_its_new_name() -> None:
    _, block, f, g = functions()
    f.properties["sym_name"] = "h"
    assert (block.symbol("f"), block.symbol("g"), block.symbol("h")) == (None, g, f)


def test_symbols_that_exchange_their_names() -> None:
    _, block, f, g = functions()
    f.properties["sym_name"], g.properties["sym_name"] = "g", "f"
    assert (block.symbol("f"), block.symbol("g")) == (g, f)


def test_inserted_symbol_is_found() -> None:
    module, block, f, _ = functions()
    copy = clone(f, {})
    copy.properties["sym_name"] = "h"
    with Rewriter(module) as rewriter:
        rewriter.insert_after(f, copy)
    assert block.symbol("h") is copy and block.symbol("f") is f


def test_erased_symbol_is_not_found() -> None:
    module, block, f, g = functions()
    with Rewriter(module) as rewriter:
        rewriter.erase(f)
    assert block.symbol("f") is None and block.symbol("g") is g


def test_symbol_that_replaces_another_of_its_name_is_found() -> None:
    module, block, f, _ = functions()
    copy = clone(f, {})
    with Rewriter(module) as rewriter:
        rewriter.insert_before(f, copy)
        rewriter.erase(f)
    assert block.symbol("f") is copy


def test_first_symbol_of_a_block_is_found() -> None:
    """The number of ops in the block is the same before and after."""
    module = sr.parse('"test.op"() : () -> ()\n', allow_unregistered_dialect=True).module
    block = module.regions[0].block
    assert block.symbol("f") is None
    with Rewriter(module) as rewriter:
        function = sr.parse(FUNCTIONS).module.regions[0].block.operations[0]
        rewriter.insert_before(block.operations[0], function)
        rewriter.erase(block.operations[0])
    assert block.symbol("f") is function
