"""What each version of StableHLO's portable artifacts changed: all in one table, `RELEASES`.

Whatever is not listed has been there since 0.9.0, the first version. An op whose attributes or numbers of operands
change gets a new revision. Where an earlier one is read, what it lacks has its default; one can be written if nothing
else is said by the op.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Version(NamedTuple):
    """A version of StableHLO."""

    major: int
    minor: int
    patch: int = 0

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


@dataclass(frozen=True)
class Revision:
    """A new revision of an op: the attributes that it added, those that it dropped, and what else it allows."""

    op: str
    adds: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    is_variadic: bool = False  # any number of operands and results instead of one
    has_regions: bool = False  # any number of regions instead of none


@dataclass(frozen=True)
class Release:
    """A version and what it introduced."""

    version: Version
    ops: tuple[str, ...] = ()
    types: tuple[str, ...] = ()  # as MLIR writes them, or `quantized per axis`, `memref` and `future`
    attributes: tuple[str, ...] = ()  # struct attributes
    revisions: tuple[Revision, ...] = ()
    rules: tuple[str, ...] = ()  # other things that ops may be; `artifact.py` looks for them


ACCURACY = ("result_accuracy",)
ALGORITHM = (
    "lhs_precision_type", "rhs_precision_type", "accumulation_type", "lhs_component_count", "rhs_component_count",
    "num_primitive_operations", "allow_imprecise_accumulation",
)  # fmt: skip
GATHER_BATCHING = ("operand_batching_dims", "start_indices_batching_dims")
SCATTER_BATCHING = ("input_batching_dims", "scatter_indices_batching_dims")
WITH_ACCURACY = (
    "cbrt", "cosine", "exponential_minus_one", "log", "log_plus_one", "logistic", "rsqrt", "sine", "sqrt", "tan",
    "tanh",
)  # fmt: skip
MESH_ATTRIBUTES = ("sub_axis_info", "axis_ref", "replica_group_mesh_axes", "mesh_axis", "mesh")

MIXED_REDUCTIONS = "reductions whose operands and results differ in element type"
TYPED_CUSTOM_CALLS = "custom_call with a dictionary as backend_config or with api_version 4"
FUTURES_IN_CUSTOM_CALLS = "custom_call with operands of type future"

RELEASES = (
    Release(Version(0, 9)),
    Release(Version(0, 10), types=("f8E4M3FNUZ", "f8E5M2FNUZ")),
    Release(Version(0, 11), types=("f8E4M3B11FNUZ",)),
    Release(Version(0, 12)),
    Release(Version(0, 13)),
    Release(Version(0, 14)),
    Release(Version(0, 15)),
    Release(Version(0, 16), ops=("collective_broadcast",)),
    Release(Version(0, 17), rules=(MIXED_REDUCTIONS,)),
    Release(Version(0, 18), types=("quantized per axis",)),
    Release(Version(0, 19), ops=("composite",)),
    Release(Version(0, 20), revisions=(Revision("dynamic_conv", drops=("padding",)),)),
    Release(Version(1, 0)),
    Release(
        Version(1, 1),
        revisions=(
            Revision("gather", GATHER_BATCHING),
            Revision("dynamic_gather", GATHER_BATCHING),
            Revision("scatter", SCATTER_BATCHING),
        ),
    ),
    Release(Version(1, 2), types=("i2", "ui2")),
    Release(Version(1, 3), rules=(TYPED_CUSTOM_CALLS,)),
    Release(Version(1, 4), ops=("tan",)),
    Release(
        Version(1, 5),
        revisions=tuple(Revision(op, is_variadic=True) for op in ("all_gather", "all_reduce", "all_to_all")),
    ),
    Release(Version(1, 6), types=("tf32", "none"), revisions=(Revision("dot_general", ALGORITHM),)),
    Release(Version(1, 7), types=("f8E4M3", "f8E3M4")),
    Release(Version(1, 8), types=("f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E8M0FNU")),
    Release(Version(1, 9), attributes=ACCURACY, revisions=(Revision("exponential", ACCURACY),)),
    Release(Version(1, 10), revisions=tuple(Revision(op, ACCURACY) for op in WITH_ACCURACY)),
    Release(Version(1, 11)),
    Release(Version(1, 12), revisions=tuple(Revision(op, ("source_target_pairs",)) for op in ("send", "recv"))),
    Release(Version(1, 13), types=("memref",)),
    Release(Version(1, 14), revisions=(Revision("composite", has_regions=True),)),
    Release(Version(1, 15), ops=("async_start", "async_done"), types=("future",)),
    Release(Version(1, 16), attributes=MESH_ATTRIBUTES),
    Release(Version(1, 17), rules=(FUTURES_IN_CUSTOM_CALLS,)),
    Release(Version(1, 18), revisions=(Revision("custom_call", ("result_tilings",)),)),
    Release(Version(1, 19), ops=("collective_reduce",)),
    Release(Version(1, 20), revisions=(Revision("collective_broadcast", ("has_dynamic_root",), is_variadic=True),)),
    Release(Version(1, 21)),  # in which, and in 1.22, no op, type or attribute is new
    Release(Version(1, 22)),
)
FIRST, CURRENT = RELEASES[0].version, RELEASES[-1].version

# The version of MLIR bytecode that artifacts are written in, from a version of StableHLO on.
BYTECODE_VERSIONS = (
    (Version(0, 9), 0),
    (Version(0, 10), 1),
    (Version(0, 12), 3),
    (Version(0, 14), 4),
    (Version(0, 15), 6),
)


@dataclass(frozen=True)
class History:
    """The revisions of an op: the first, which is 1, and what later ones changed, each with its version."""

    since: Version = FIRST
    revisions: Sequence[tuple[Version, Revision]] = field(default=())

    def revision_at(self, version: Version) -> int:
        """Return the number of the newest revision that a version has."""
        return 1 + sum(since <= version for since, _ in self.revisions)

    def later(self, number: int) -> Sequence[tuple[Version, Revision]]:
        """Return what the revisions after number `number` changed."""
        return self.revisions[number - 1 :]


def _histories() -> Mapping[str, History]:
    since = {op: release.version for release in RELEASES for op in release.ops}
    revisions: dict[str, list[tuple[Version, Revision]]] = {}
    for release in RELEASES:
        for revision in release.revisions:
            revisions.setdefault(revision.op, []).append((release.version, revision))
    return {op: History(since.get(op, FIRST), tuple(revisions.get(op, ()))) for op in since | revisions}


HISTORIES = _histories()
TYPES = {name: release.version for release in RELEASES for name in release.types}
ATTRIBUTES = {name: release.version for release in RELEASES for name in release.attributes}
RULES = {rule: release.version for release in RELEASES for rule in release.rules}


def history_of(op: str) -> History:
    """Return the history of an op, named without dialect."""
    return HISTORIES.get(op, History())


def parse_version(text: str) -> Version | None:
    """Return the version that a text such as `1.9.0` or `1.9` states; `current` is the newest. None for other texts."""
    if text == "current":
        return CURRENT
    match = re.fullmatch(r"(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?", text)
    return Version(*(int(number or 0) for number in match.groups())) if match else None


def bytecode_version(version: Version) -> int:
    """Return the version of MLIR bytecode that artifacts of a version of StableHLO are written in."""
    return next(number for since, number in reversed(BYTECODE_VERSIONS) if since <= version)
