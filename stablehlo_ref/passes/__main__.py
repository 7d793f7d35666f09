"""`python -m stablehlo_ref.passes --list`: what each pass does, and its options."""

from __future__ import annotations

import argparse
import inspect
import sys
import textwrap
from collections.abc import Iterator, Sequence

from stablehlo_ref.passes.catalog import PASSES
from stablehlo_ref.passes.registry import Pass


def listing() -> str:
    """Return the name, the description and the options of each pass."""
    return "\n".join(line for definition in PASSES.values() for line in _lines(definition))


def _lines(definition: Pass) -> Iterator[str]:
    yield f"--{definition.name}"
    description = inspect.getdoc(definition.run) or f"{definition.summary.capitalize()}."
    yield textwrap.indent(description, "    ")
    for option in definition.options:
        yield f"    {option.name}=...: {option.summary}"
    yield ""


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m stablehlo_ref.passes", description=__doc__)
    parser.add_argument("--list", action="store_true", required=True, help="describe all passes")
    parser.parse_args(arguments)
    print(listing(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
