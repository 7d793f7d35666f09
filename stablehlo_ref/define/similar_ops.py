"""The op that was meant by a name that no op has."""

from __future__ import annotations

from collections.abc import Collection

from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.suggestions import MIN_ABBREVIATION, closest

DEFAULT_DIALECTS = ("stablehlo", "chlo")  # of ops that are written without a dialect, or with the wrong one of these


def did_you_mean_op(name: str, dialects: Collection[str]) -> str:
    """Return `; did you mean 'stablehlo.add'?` for the op most similar to `name`; "" if none is.

    `dialects` are others than those with registered ops; they are suggested only with ops that are registered.
    """
    meant = similar_op(name, dialects)
    return f"; did you mean '{meant}'?" if meant else ""


def similar_op(name: str, dialects: Collection[str]) -> str | None:
    """Return the registered op most similar to `name`, None if none is."""
    dialect, dot, mnemonic = name.partition(".")
    if not dot:
        return _in_dialect("stablehlo", name) if len(name) >= MIN_ABBREVIATION else None
    known = {definition.dialect for definition in REGISTRY.values()}
    if dialect not in known:
        meant = None if dialect in dialects else closest(dialect, known.union(dialects))
        return _in_dialect(meant, mnemonic) if meant in known else None
    if dialect in DEFAULT_DIALECTS:
        for other in DEFAULT_DIALECTS:
            if f"{other}.{mnemonic}" in REGISTRY:
                return f"{other}.{mnemonic}"
    return _in_dialect(dialect, mnemonic)


def _in_dialect(dialect: str | None, mnemonic: str) -> str | None:
    """Return the op of a dialect most similar to a mnemonic."""
    mnemonics = [definition.mnemonic for definition in REGISTRY.values() if definition.dialect == dialect]
    found = mnemonic if mnemonic in mnemonics else closest(mnemonic, mnemonics)
    return f"{dialect}.{found}" if found else None
