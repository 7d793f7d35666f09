"""Run `stablehlo-interp`: choose the command; without one, run the program."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from stablehlo_ref._version import __version__
from stablehlo_ref.cli.commands import AT_FAULT, COMMANDS, EXIT_CODES, FINE, INTERRUPTED, USAGE

USAGES = "usage: stablehlo-interp FILE [options of run]\n       stablehlo-interp COMMAND ..."
EXAMPLES = """\
examples:
  stablehlo-interp model.mlir --random-inputs 0
  stablehlo-interp add.mlir --input x=1.0 --input 'y=[1, 2, 3, 4]'
  stablehlo-interp run --help                         # all options of run, with more examples
  stablehlo-interp opt model.mlir --canonicalize      # transform and print"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        try:
            return _dispatch(sys.argv[1:] if arguments is None else list(arguments))
        finally:  # also when argparse has printed the help
            if sys.stdout is not None and not sys.stdout.closed:  # as the language server leaves it
                sys.stdout.flush()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # the reader closed the pipe and needs no message
            print(f"stablehlo-interp: error: cannot write to standard output: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # discards what Python still flushes
        return AT_FAULT


def _dispatch(arguments: Sequence[str]) -> int:
    if "_ARGCOMPLETE" in os.environ:
        from stablehlo_ref.cli.completion import complete  # argcomplete is optional

        return complete()
    if sys.stdout is None:
        print("stablehlo-interp: error: standard output is closed", file=sys.stderr)
        return AT_FAULT
    match arguments:
        case ["--version"]:
            print(f"stablehlo-interp {__version__}")
            return FINE
        case ["--help" | "-h" | "help"]:
            print(overview())
            return FINE
        case []:
            print("stablehlo-interp: error: expected a file or a command\nsee stablehlo-interp --help", file=sys.stderr)
            raise SystemExit(USAGE)
        case ["help", command] if command in COMMANDS:
            return _run(command, ["--help"])
        case ["--list-ops"]:  # as it was called before there were commands
            return _run("list-ops", [])
        case [command, *rest] if command in COMMANDS:
            return _run(command, rest)
        case [word, _, *_] if not word.startswith("-") and not os.path.exists(word):
            _check_command(word)
    return _run("run", arguments)


def _check_command(word: str) -> None:
    """End with an error if a word, which is no file, looks like a command: arguments of `run` would not fit."""
    from stablehlo_ref.suggestions import did_you_mean  # takes longer than `--version` and `--help`

    if hint := did_you_mean(word, COMMANDS):
        print(f"stablehlo-interp: error: no command or file is called {word!r}{hint}", file=sys.stderr)
        raise SystemExit(USAGE)


def _run(name: str, arguments: Sequence[str]) -> int:
    """Run a command, and print its diagnostics if they are one document."""
    command = COMMANDS[name]
    with _ending_on_interrupt():  # it is imported only now, so that `--version` is fast
        module = command.load()
        from stablehlo_ref.cli.console import guarded
    options = module.parser().parse(arguments)
    code = guarded(options.messages, str(getattr(options, "file", name)), lambda: int(module.run(options)))
    options.messages.finish()
    return code


def overview() -> str:
    """Return the help: the commands, examples and exit codes."""
    lines = [f"  {command.name:14} {command.summary}" for command in COMMANDS.values()]
    return "\n\n".join(
        (
            USAGES,
            "Run, check, transform and convert StableHLO programs.",
            "\n".join(["commands (each has its own --help):", *lines]),
            EXAMPLES,
            EXIT_CODES,
        )
    )


@contextmanager
def _ending_on_interrupt() -> Iterator[None]:
    """Let Ctrl-C end the process at once: an exception in the middle of an import may become any other error."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    try:
        signal.signal(signal.SIGINT, _end)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)
