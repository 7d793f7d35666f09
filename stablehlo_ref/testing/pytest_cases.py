"""Conformance cases as tests: `pytest --stablehlo-backend jax --stablehlo-ops dot_general,reduce`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from stablehlo_ref.conform.campaign import PROFILES
from stablehlo_ref.conform.cases import case
from stablehlo_ref.conform.programs import select
from stablehlo_ref.conform.report import Known, read_known
from stablehlo_ref.conform.verdicts import Cell, Record, judge
from stablehlo_ref.debug.contract import Contract, contract_of
from stablehlo_ref.debug.session import Session
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.testing.pytest_plugin import Failure, MessageItem

SESSION = pytest.StashKey[Session]()
SKIPPED = (Cell.REFUSES, Cell.BLOCKED, Cell.UNTESTED)


class Cases(pytest.File):
    """The cases of a profile for the ops that the options select."""

    def collect(self) -> Iterator[pytest.Item]:
        option = self.config.getoption
        try:
            contract = contract_of(option("--stablehlo-contract"))
            known = read_known(Path(option("--stablehlo-known"))) if option("--stablehlo-known") else []
            ops = select([p.strip() for p in (option("--stablehlo-ops") or "").split(",") if p.strip()])
        except StablehloError as error:
            raise self.CollectError(str(error)) from None
        for name in PROFILES[option("--stablehlo-profile")].names(ops):
            if name.partition("/")[0] != "chain" or not option("--stablehlo-ops"):
                yield CaseItem.from_parent(self, name=name, contract=contract, known=known)


class CaseItem(MessageItem):
    """One case: what the backend does with a program."""

    def __init__(self, *, contract: Contract, known: Sequence[Known], **options: Any) -> None:
        super().__init__(**options)
        self.contract = contract
        self.known = known

    def runtest(self) -> None:
        is_known = any(entry.covers(Record(self.name, Cell.FAIL)) for entry in self.known)
        record = judge(self.name, session_of(self.config), self.contract, is_known)
        if record.cell in SKIPPED:
            pytest.skip(f"{record.cell.value}: {record.detail}")
        if not record.cell.is_bad:
            return
        for entry in self.known:
            if entry.covers(record):
                pytest.xfail(f"known: {entry.reason}")
        made = case(self.name)
        raise Failure(f"{record.cell.value}: {record.detail}\n\n{made.text if made else ''}")

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


def session_of(config: pytest.Config) -> Session:
    """Return the session with the backend of the options, which the end of pytest closes."""
    if SESSION not in config.stash:
        session = config.stash[SESSION] = Session(config.getoption("--stablehlo-backend"), seconds=60.0)
        config.add_cleanup(session.close)
        session.open()
    return config.stash[SESSION]
