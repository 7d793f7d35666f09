"""The names of the values of a flat program: those that they have in the program that was made flat."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator

from stablehlo_ref.debug.traces.follow import joined
from stablehlo_ref.execute.regions import CONSTANTS
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.value_index import ValueIndex
from stablehlo_ref.passes.call_graph import functions

CALLS = {"func.call": "callee", "stablehlo.composite": "decomposition"}  # the attribute that names the function


def set_origins(index: ValueIndex, entry: Block, flat: Block) -> None:
    """Name the values of a flat copy of an entry, and of regions in it, as traces of the program do.

    The name is that of the value in its function, `@relu/%3`; where several calls of the function were inlined, it is
    the address of the value, `%t/%3`. Constants, which have one value, always have the first.
    """
    found = [(value, twin, prefix, index.unique_name(value)) for value, twin, prefix in _twins(index, entry, flat)]
    counts = Counter(name for *_, name in found)
    for value, twin, prefix, name in found:
        is_constant = isinstance(value.owner, Operation) and value.owner.name in CONSTANTS
        is_unique = counts[name] == 1 or is_constant
        twin.origin = name if is_unique else joined(prefix, index.local_name(value))


def set_turn(ops: list[Operation], loop: Operation, turn: int) -> None:
    """Let addresses of values in a loop say the turn: `%t/%loop[2]/%3`."""
    address = loop.results[0].origin.partition("#")[0] if loop.results else ""
    for value in (value for outer in ops for op in outer.walk() for value in op.results):
        if address and value.origin.startswith(f"{address}/"):
            value.origin = f"{address}[{turn}]{value.origin.removeprefix(address)}"


def _twins(index: ValueIndex, entry: Block, flat: Block) -> Iterator[tuple[Value, Value, str]]:
    """Yield each value of the program with its copy and the address of the call, or op with a region, that it is in."""
    table = functions(index.module)
    blocks = [(entry, flat, "")]
    while blocks:
        block, copied, prefix = blocks.pop()
        yield from ((value, twin, prefix) for value, twin in zip(block.arguments, copied.arguments))
        rest = deque(copied.operations)
        calls = [(iter(block.operations), prefix)]  # in progress, the innermost last
        while calls and rest:
            ops, prefix = calls[-1]
            if (op := next(ops, None)) is None:
                calls.pop()
                continue
            inner = joined(prefix, index.segment(op))
            callee = table.get(str(op.properties.get(CALLS.get(op.name, ""))))
            if callee is not None and callee.regions[0].blocks and not _is_left(op, rest[0]):
                calls.append((iter(callee.regions[0].block.operations[:-1]), inner))
                continue
            twin = rest.popleft()
            yield from ((value, copy, prefix) for value, copy in zip(op.results, twin.results))
            for region, other in zip(op.regions, twin.regions):
                blocks += [(b, c, inner) for b, c in zip(region.blocks, other.blocks)]


def _is_left(call: Operation, copied: Operation) -> bool:
    """Return whether an op in a flat program is a call that was not inlined."""
    place, other = call.location, copied.location
    return copied.name == "func.call" and (place.source, place.offset) == (other.source, other.offset)
