"""Does a partitioned program compute what the whole program does? Run both, join the shards, and locate what is wrong.

Inputs are split as the shardings say, and the partitioned program runs as one process for each device of the mesh. The
outputs are judged as those of a backend are: sums may be computed in any order, also across devices.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.interop import to_arrays
from stablehlo_ref.debug.contract import Contract, contract_of
from stablehlo_ref.debug.cut import FLATTENING
from stablehlo_ref.debug.diff_passes import differences, drawn
from stablehlo_ref.debug.evaluate import distance, same_bits
from stablehlo_ref.debug.spmd_locate import Locator, ShardFault, first_apart
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError, MalformedError, Source, StablehloError
from stablehlo_ref.dialects.sdy_shardings import mesh_of, read
from stablehlo_ref.distribution.layouts import DeviceMesh, layout_of
from stablehlo_ref.distribution.meshes import Tiling, check_sharding
from stablehlo_ref.distribution.sdy_attributes import Mesh, Sharding, invalid_mesh
from stablehlo_ref.distribution.sdy_forms import Reader
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.passes.emit import static_shape
from stablehlo_ref.passes.symbols import functions
from stablehlo_ref.program import Program
from stablehlo_ref.targets.spmd import tiling_of
from stablehlo_ref.text.tokens import counted

SHOWN = 64  # devices of a mesh that is drawn


@dataclass
class SpmdCheck:
    """What `spmd_check` found: "same", "not wrong", "wrong" or "failed", and where the first fault is."""

    contract: str
    mesh: str
    devices: int
    verdict: str = "same"
    reasons: tuple[str, ...] = ()  # how outputs differ, or how the partitioned program failed
    shards: tuple[int, ...] = ()  # the devices whose outputs are wrong
    first_output: int | None = None
    fault: ShardFault | None = None
    picture: str = field(default="", repr=False)  # of the mesh, with the shards that are wrong

    @property
    def is_wrong(self) -> bool:
        """Whether the partitioned program computes something else, or fails."""
        return self.verdict in ("wrong", "failed")

    def to_json(self) -> str:
        """Return all of the result in one line of JSON; docs/reference/json.md describes it."""
        document = {"schema": 1, **asdict(self), "shards": list(self.shards)}
        return json.dumps(document, allow_nan=False)

    def __str__(self) -> str:
        if not self.is_wrong:
            same = "has the bits of" if self.verdict == "same" else "agrees with"
            return f"the partitioned program {same} the whole one on {self.mesh}, under {self.contract}"
        verb = "computes something else than" if self.verdict == "wrong" else "fails beside"
        lines = [f"the partitioned program {verb} the whole one on {self.mesh}, under {self.contract}"]
        lines += [f"  {reason}" for reason in self.reasons]
        if self.shards:
            lines.append(
                f"  {len(self.shards)} of {counted(self.devices, 'shard')} differ{'s' * (len(self.shards) == 1)}"
            )
        if fault := self.fault:
            name = f"{fault.value} = {fault.op}" if fault.value else fault.op
            wrong = f"{name} is wrong" if self.verdict == "wrong" else f"{name} fails"
            what = wrong if fault.what == "wrong" else f"a collective is missing after {name}"
            axis = f', along axis "{fault.axis}"' if fault.axis else ""
            lines.append(f"{fault.place}: {what}, first in shard {fault.position} (process {fault.device}){axis}")
            lines += [f"  {reason}" for reason in fault.reasons]
            if self.verdict == "wrong":
                confirmed = "the outputs are right" if fault.is_confirmed else "the outputs are not known to be right"
                lines.append(f"  with the right shards there, {confirmed}")
        elif self.verdict == "wrong":
            lines.append(f"no op is located; output {self.first_output} is the first that differs")
        return "\n".join([*lines, *([self.picture] if self.picture else [])])


@checks_arguments
def spmd_check(
    whole: Program,
    local: Program | None = None,
    inputs: Sequence[Any] | None = None,
    contract: str | Contract = "xla-cpu",
    *,
    mesh: str | None = None,
    in_shardings: str | None = None,
    out_shardings: str | None = None,
    seed: int = 0,
) -> SpmdCheck:
    """Return whether a partitioned program computes what the whole program does, and if not, where it goes wrong.

    `local` takes and returns shards; without it, the pass `convert-global-to-local` makes it. `mesh` is `x=2,y=4`, or
    that of the shardings. These are the attributes `sdy.sharding` or `mhlo.sharding` of arguments and results of either
    program, or texts such as `[{"x"}, {}], [{}, {"y"}]`. Without `inputs` they are drawn from `seed`. EvaluationError
    if shardings are missing or do not fit, or if the whole program fails.
    """
    rules = contract_of(contract)
    rules = replace(rules, accumulator="operand")  # partial results of devices are stored
    whole = Program(whole.module, whole.entry.name, whole.limits).verify()
    local = whole.transform(*FLATTENING, "convert-global-to-local") if local is None else local
    return SpmdPrograms(whole, local.verify(), rules, mesh, (in_shardings, out_shardings)).run(
        to_arrays(drawn(seed, whole) if inputs is None else inputs)
    )


class SpmdPrograms:
    """A whole program and a partitioned one, and how inputs and outputs are split."""

    def __init__(
        self, whole: Program, local: Program, contract: Contract,
        mesh: str | None, texts: tuple[str | None, str | None],
    ) -> None:  # fmt: skip
        is_sharded = any(op.name.startswith("sdy.") and op.name != "sdy.mesh" for op in local.module.walk())
        self.local = local.transform("sdy-convert-global-to-local" if is_sharded else "sdy-drop-sharding-and-mesh")
        self.whole, self.contract = whole, contract
        self.functions = [functions(program.module)[program.entry.name] for program in (whole, local)]
        self.mesh = DeviceMesh(self._mesh(mesh))
        sides = (
            ("input", whole.entry.inputs, self.local.entry.inputs),
            ("output", whole.entry.outputs, self.local.entry.outputs),
        )
        self.inputs, self.outputs = (self._tilings(*side, text) for side, text in zip(sides, texts))
        self.found = SpmdCheck(contract.name, f"the mesh {self.mesh.mesh}", self.mesh.count)

    def run(self, inputs: Sequence[Array]) -> SpmdCheck:
        found = self.found
        ours = [np.asarray(array) for array in self.whole.run(*inputs)]
        shards = self.split(inputs)
        try:
            theirs = self._run_devices(self.local, shards)
        except StablehloError as error:
            self._failed(error)
            return found
        pairs = list(zip(self.outputs, ours, zip(*theirs)))
        joined = [_joined(tiling, array, pieces) for tiling, array, pieces in pairs]
        if all(map(same_bits, joined, ours)):
            return found
        found.reasons = tuple(differences(self.whole, inputs, ours, joined, self.contract))
        found.verdict = "wrong" if found.reasons else "not wrong"
        if found.reasons:
            apart = [
                [d for d in range(self.mesh.count) if first_apart([p[d]], [t.split(x, d)]) is not None]
                for t, x, p in pairs
            ]
            found.first_output = next((i for i, devices in enumerate(apart) if devices), 0)
            found.shards = tuple(sorted({device for devices in apart for device in devices}))
            found.fault = Locator(
                (self.whole, self.local), (inputs, shards), (self.inputs, self.outputs), self.mesh, self._run_devices
            ).locate()
            found.picture = picture(self.mesh, found.shards)
        return found

    def split(self, inputs: Sequence[Array]) -> list[list[Array]]:
        """Return the shards of each device."""
        return [[t.split(x, device) for t, x in zip(self.inputs, inputs)] for device in range(self.mesh.count)]

    def _run_devices(self, program: Program, inputs: Sequence[Sequence[Array]]) -> list[tuple[Any, ...]]:
        replicas = program.module.attributes.get("mhlo.num_replicas")
        count = None if getattr(replicas, "value", 1) > 1 else 1  # devices are replicas, or else partitions
        return program.run_parallel(inputs, num_replicas=count, num_partitions=count and self.mesh.count)

    def _failed(self, error: StablehloError) -> None:
        """Note an error of the partitioned program, with the process that it names first."""
        first = error.diagnostics[0]
        texts = [first.message, *first.notes]
        named = next((match for text in texts if (match := re.search(r"process \((\d+), (\d+)\)", text))), None)
        device = max(map(int, named.groups())) if named else 0
        op = next(iter(re.findall(r"'([\w.]+)'", first.message)), "")
        self.found.verdict, self.found.reasons = "failed", tuple(texts)
        place = str(first.location or "")
        position = self.mesh.position(device) if device < self.mesh.count else ""
        self.found.fault = ShardFault("wrong", op, place, "", device, position, None, (), is_confirmed=False)

    # --- shardings --------------------------------------------------------------------------------------------------

    def _mesh(self, given: str | None) -> Mesh:
        """Return the mesh that is given, or that of the shardings of either program."""
        wanted = None if given is None else parsed_mesh(given)
        for function in self.functions:
            for members in ("arg_attrs", "res_attrs"):
                for attributes in function.properties.get(members) or ():
                    sharding = read(attributes.get("sdy.sharding"))
                    found = mesh_of(sharding, function) if isinstance(sharding, Sharding) else None
                    if found is not None and found.axes and (wanted is None or wanted.axes == found.axes):
                        return found  # which may list devices in another order
        if wanted is None:
            raise ArgumentValueError("no argument or result has `sdy.sharding`; give the mesh, such as x=2,y=4")
        return wanted

    def _tilings(
        self, side: str, whole: Sequence[Parameter], local: Sequence[Parameter], text: str | None
    ) -> list[Tiling]:
        if len(whole) != len(local):
            counts = f"the whole program has {counted(len(whole), side)}, the partitioned one {len(local)}"
            raise EvaluationError(counts, self.local.entry.location)
        texts = parsed_shardings(text) if text else [None] * len(whole)
        if len(texts) != len(whole):
            raise ArgumentValueError(f"expected shardings of {counted(len(whole), side)}, got {len(texts)}")
        return [self._tiling(side, *each) for each in zip(range(len(whole)), whole, local, texts)]

    def _tiling(self, side: str, number: int, whole: Parameter, local: Parameter, text: Sharding | None) -> Tiling:
        """Return how an input or output is split; EvaluationError if that is not known, or does not fit the types."""
        place = local.location or self.local.entry.location
        if not isinstance(whole.type, TensorType) or not isinstance(local.type, TensorType) or not whole.type.is_static:
            raise EvaluationError(f"expected {side} {number} to be a static tensor, got {whole.type}", place)
        tiling = self._given(side, number, whole.type, text)
        if tiling is None and whole.type != local.type:
            types = f"{whole.type} in the whole program and {local.type} in the partitioned one"
            hint = f"give the shardings of all {side}s"
            raise EvaluationError(f"the sharding of {side} {number} is not known: it is {types}", place, (hint,))
        if tiling is None or (whole.type == local.type and tiling.part_type(whole.type) != local.type):
            return self.mesh.tiling(
                layout_of(None, self.mesh.mesh, whole.type)
            )  # LOCAL takes whole tensors, whatever GLOBAL says
        parts = " x ".join(map(str, tiling.parts)) or "1"
        if not tiling.splits(static_shape(whole.type)):
            raise EvaluationError(f"{side} {number}, {whole.type}, does not split into {parts} equal parts", place)
        if tiling.part_type(whole.type) != local.type:
            raise EvaluationError(f"{side} {number}, {whole.type} in {parts} parts, is {local.type} in a shard", place)
        return tiling

    def _given(self, side: str, number: int, type: TensorType, text: Sharding | None) -> Tiling | None:
        for function in self.functions:
            attributes = function.properties.get("arg_attrs" if side == "input" else "res_attrs") or ()
            found = attributes[number] if number < len(attributes) else {}
            sharding = text or read(found.get("sdy.sharding"))
            try:
                if isinstance(sharding, Sharding):
                    check_sharding(sharding, type, self.mesh.mesh, {})
                    return self.mesh.tiling(layout_of(sharding, self.mesh.mesh, type))
                if "mhlo.sharding" in found:
                    return tiling_of(found["mhlo.sharding"], type.rank)
            except ValueError as error:
                raise EvaluationError(
                    f"the sharding of {side} {number} is invalid: {error}", function.location
                ) from None
        return None


def _joined(tiling: Tiling, ours: Array, pieces: Sequence[Array]) -> Array:
    """Return the pieces of all devices as one array; of those of one block, the one that is furthest from ours."""
    worst: dict[tuple[int, ...], tuple[float, Array]] = {}
    blocks = [
        tuple(int(numbers[device % tiling.count]) for numbers in tiling.part_numbers) for device in range(len(pieces))
    ]
    for device, (block, piece) in enumerate(zip(blocks, pieces)):
        if block in worst and worst[block][1] is piece:
            continue
        expected = tiling.split(ours, device)
        apart = 0.0 if same_bits(piece, expected) else distance(piece, expected)
        if block not in worst or apart > worst[block][0]:
            worst[block] = apart, piece
    return tiling.join([worst[block][1] for block in blocks])


# --- texts ------------------------------------------------------------------------------------------------------------


def parsed_mesh(given: str) -> Mesh:
    """Return the mesh of `x=2,y=4`; ArgumentValueError for anything else."""
    items = [re.fullmatch(r"\s*([\w.\-]+)\s*=\s*(\d{1,9})\s*", item) for item in given.split(",")]
    mesh = Mesh(tuple((match[1], int(match[2])) for match in items if match))
    if reason := "expected X=N" if None in items else invalid_mesh(mesh):
        raise ArgumentValueError(f"expected a mesh such as x=2,y=4, got {given!r}: {reason}")
    return mesh


def parsed_shardings(text: str) -> list[Sharding | None]:
    """Return the shardings of `[{"x"}, {}], []`; ArgumentValueError for anything else."""
    reader = Reader(Source(text))
    found: list[Sharding | None] = []
    try:
        while reader.peek():
            if found:
                reader.expect(",")
            found.append(Sharding("mesh", Sharding.fields()["dimensions"].read(reader)))
    except MalformedError as error:
        raise ArgumentValueError(
            f'expected shardings such as [{{"x"}}, {{}}], []: {error.diagnostics[0].message}'
        ) from None
    return found


def picture(mesh: DeviceMesh, wrong: Sequence[int]) -> str:
    """Draw a mesh: `X` for devices that are wrong, `.` for others; empty for one that is large."""
    if mesh.count > SHOWN:
        return ""
    *outer, (last, size) = mesh.mesh.axes
    order = np.argsort(mesh.numbers(mesh.axes)).reshape(-1, size)
    heads = [" ".join(f"{name}={mesh.coordinate(row[0], name)}" for name, _ in outer) for row in order.tolist()]
    width = max(map(len, heads))
    cell = len(f"{last}={size - 1}")
    lines = [" " * width + "".join(f"  {last}={i}".ljust(cell + 2) for i in range(size))]
    lines += [
        head.ljust(width) + "".join("  " + ("X" if device in wrong else ".").center(cell) for device in row)
        for head, row in zip(heads, order.tolist())
    ]
    return "\n".join(f"  {line.rstrip()}" for line in lines)
