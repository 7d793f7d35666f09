"""Colours, on terminals that want them."""

from __future__ import annotations

import os
import re
from typing import TextIO

RED, GREEN, MAGENTA, CYAN, BOLD, DIM = "1;31", "1;32", "1;35", "1;36", "1", "2"

_SEVERITIES = {"error": RED, "warning": MAGENTA, "note": CYAN, "remark": CYAN}
_HEADLINE = re.compile(r"^((?:[^\n]*?: )?)(error|warning|note|remark)(: )(.*)$", re.M)
_CARET = re.compile(r"^(\s*)\^$", re.M)
_when = "auto"  # or always, or never


def set_color(when: str) -> None:
    """Choose `always`, `never`, or `auto`: to colour terminals, unless the environment says otherwise."""
    global _when
    _when = when


def has_color(stream: TextIO) -> bool:
    """Return whether to colour what is written to a stream, by `--color`, `NO_COLOR`, `FORCE_COLOR` and the stream."""
    if _when != "auto":
        return _when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") != "0":
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def paint_diagnostics(text: str, stream: TextIO) -> str:
    """Return diagnostics with severities, messages and carets in colour, if the stream has colours."""
    if not has_color(stream):
        return text
    text = _HEADLINE.sub(_headline, text)
    return _CARET.sub(lambda match: f"{match[1]}\x1b[{GREEN}m^\x1b[0m", text)


def _headline(match: re.Match[str]) -> str:
    place, severity, colon, message = match.groups()
    place = f"\x1b[{BOLD}m{place}\x1b[0m" if place else ""
    return f"{place}\x1b[{_SEVERITIES[severity]}m{severity}{colon}\x1b[0m\x1b[{BOLD}m{message}\x1b[0m"
