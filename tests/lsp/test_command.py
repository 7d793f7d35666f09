"""`stablehlo-interp lsp` where pygls is not installed."""

from __future__ import annotations

import sys

import pytest

from stablehlo_ref.cli.main import main


def test_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    assert main(["lsp"]) != 0
    assert "pygls is not installed; run: pip install 'pygls>=2' (the extra `lsp`)" in capsys.readouterr().err
