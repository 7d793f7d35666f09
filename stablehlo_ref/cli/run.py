"""`stablehlo-interp FILE`: run a program and print its results."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from stablehlo_ref._version import __version__
from stablehlo_ref.cli.commands import EXIT_CODES, INTERRUPTED
from stablehlo_ref.cli.console import Part, for_each_part
from stablehlo_ref.cli.errors import CommandLineError
from stablehlo_ref.cli.messages import remark
from stablehlo_ref.cli.options import (
    PROGRAM_HELP,
    CommandParser,
    add_limit_options,
    add_message_options,
    add_reading_options,
    count,
    directory,
    limits_of,
    number,
    positive,
    seed,
    threads,
)
from stablehlo_ref.cli.outputs import (
    Report,
    check_output,
    differences,
    last_line,
    last_line_of_parts,
    print_results,
    read_expected,
    save_outputs,
)
from stablehlo_ref.cli.process_inputs import inputs_of_processes
from stablehlo_ref.cli.progress import showing_progress
from stablehlo_ref.cli.random_inputs import FORMS, Distribution
from stablehlo_ref.cli.watch import dump_code, observers
from stablehlo_ref.define.context import Context, Observers
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError, StablehloError
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.signature import Parameter, shortened
from stablehlo_ref.program import Program
from stablehlo_ref.reading.parsing import cache_in
from stablehlo_ref.suggestions import did_you_mean
from stablehlo_ref.syntax.mhlo import renamed

if TYPE_CHECKING:
    from stablehlo_ref.debug.traces.observe import Statistics

DESCRIPTION = """\
Run a StableHLO program and print its results. The entry is @main, or the only public function."""

EXAMPLES = """\
examples:
  stablehlo-interp add.mlir --input x=0.5 --input 'y=[1, 2, 3, 4]'
  stablehlo-interp add.mlir --args="[dense<1.0> : tensor<4xf32>, dense<2.0> : tensor<4xf32>]"
  stablehlo-interp model.mlir --input x=image.npy --inputs weights.npz --output result.npz
  stablehlo-interp model.mlir --input x=image.npy --inputs weights.npz --expect result.npz --rtol 1e-5
  stablehlo-interp model.mlir --weights weights.npz --input x=image.npy
  stablehlo-interp model.mlir --random-inputs 0 --random 'x=uniform(0, 255)' --full
  stablehlo-interp model.mlir --random-inputs 0 --stats                  # which ops take the time
  stablehlo-interp model.mlir --random-inputs 0 --profile                # and where they are
  stablehlo-interp model.mlir --random-inputs 0 -v                       # one line for each op
  stablehlo-interp model.mlir --random-inputs 0 --trace-values %0,%1     # these values
  stablehlo-interp model.mlir --random-inputs 0 --trace-to trace         # all values as .npy files
  echo continue | stablehlo-interp model.mlir --random-inputs 0 --break %0
  stablehlo-interp model.mlir --random-inputs 0 --trap nan,inf           # stop at the op that generates one
  stablehlo-interp model.mlir --random-inputs 0 --json
  stablehlo-interp spmd.mlir --partitions 2 --random-inputs 0            # two processes
  cat tests.mlir | stablehlo-interp --split-input-file -                 # each part between `// -----`"""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the options; a usage error ends the process."""
    command_line = parser()
    options = command_line.parse_args(arguments)
    if error := _contradiction(options):
        command_line.error(error)
    return options


def _contradiction(options: argparse.Namespace) -> str | None:
    """Return why options exclude each other."""
    is_random = options.random_inputs is not None or options.random
    if is_random and options.args:
        return "--args gives all inputs: it excludes --random-inputs and --random"
    if options.dim and not is_random:
        return "--dim gives the sizes of random inputs: it needs --random-inputs"
    if options.expect is None and (options.rtol or options.atol or options.ulp is not None):
        return "--rtol, --atol and --ulp are tolerances of --expect"
    if options.semantics and (options.strict or options.warn_implementation_defined or options.dump_code):
        return "--semantics excludes --strict, --warn-implementation-defined and --dump-code"
    if options.json and options.print_dense:
        return "--json and --print-dense exclude each other"
    if options.keep is not None and not options.trace_to:
        return "--keep selects what --trace-to writes"
    if options.breaks and options.file in ("-", "/dev/stdin"):
        return "--break reads commands from standard input, so the program cannot come from there"
    processes = (options.replicas or 1) * (options.partitions or 1)
    for name, given in (("--args", len(options.args)), ("--inputs", len(options.inputs))):
        if given not in (0, 1, processes) and (name == "--args" or processes > 1):
            return f"{name} is given {given} times, but the number of processes is {processes}"
    return None


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = CommandParser("", DESCRIPTION, f"{EXAMPLES}\n\n{EXIT_CODES}", "stablehlo-interp [run] FILE [options]")
    add = found.add_argument
    add("file", metavar="FILE", help=PROGRAM_HELP)
    add("--version", action="version", version=f"stablehlo-interp {__version__}")
    add("--entry", metavar="NAME", help="the function to run")
    add_input_options(found)
    _add_outputs(found)
    add_grid_options(found)
    _add_watching(found)
    _add_semantics(found)
    add_reading_options(found)
    found.add_argument("--no-fast", action="store_true", help="take no fast paths; results are the same, bit for bit")
    found.add_argument("--cache", metavar="DIR", type=directory, help="keep programs that were parsed and verified")
    found.add_argument("--threads", metavar="N", type=threads, help="threads, of BLAS and for blocks of large tensors")
    found.add_argument("--no-jit", action="store_true", help="compile nothing to machine code (the extra jit does)")
    add_limit_options(found)
    add_message_options(found)
    return found


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """Add what gives or draws inputs; `inputs_of_processes` returns them."""
    add = parser.add_argument_group("inputs").add_argument
    add("--input", action="append", default=[], metavar="NAME=VALUE", type=_named,
        help="an input by its name in the text or in its loc(...): a number, which all elements have; a list [[1, 2], "
        "[3, 4]]; dense<...>; or a file, or pipe, with an array (.npy, .npz, .safetensors), a list, or raw elements: "
        "FILE, @FILE, or @FILE:tensor<...> to give the type of raw elements")  # fmt: skip
    add("--inputs", action="append", default=[], metavar="FILE", type=Path,
        help="inputs by name from a .npz or .safetensors file; repeated: per process")  # fmt: skip
    add("--weights", metavar="FILE", type=Path,
        help="weights by name, q.weight for states['q.weight'], from a .safetensors, .npz or .pt file or a folder of "
        ".npy files; the other options give the inputs that remain")  # fmt: skip
    add("--args", action="append", default=[], metavar="LIST",
        help="inputs as MLIR literals: [dense<...> : tensor<...>, ...]")  # fmt: skip
    add("--random-inputs", metavar="SEED", type=seed, help="draw the inputs that are not given")
    add("--random", action="append", default=[], metavar="NAME=DISTRIBUTION", type=_distribution,
        help=f"draw an input, or * for all, from {FORMS}")  # fmt: skip
    add("--dim", action="append", default=[], metavar="NAME:AXIS=SIZE", type=_dimension,
        help="the size of an unknown dimension of a random input")  # fmt: skip
    add("--random-weights", metavar="SEED", type=seed, help="draw the elements of constants that the text leaves out")


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("results").add_argument
    add("--output", metavar="FILE", type=Path, help="write the results to a .npz, .npy or .safetensors file instead")
    add("--full", action="store_true", help="print all elements of large results")
    add("--print-dense", action="store_true", help="print results as dense<...> literals, and nothing else")
    add("-q", "--quiet", action="store_true", help="leave out the last line, on checks and results")
    add("--json", action="store_true",
        help="print one line of JSON: signature, statistics of results, diagnostics, times")  # fmt: skip
    add("--expect", metavar="FILE", type=Path, help="compare the results with a .npz, .npy or .safetensors file")
    add("--rtol", metavar="R", type=number, default=0.0,
        help="how far elements may differ, relative to the expected (0)")  # fmt: skip
    add("--atol", metavar="A", type=number, default=0.0, help="how far elements may differ (0)")
    add("--ulp", metavar="N", type=count, help="how many representable numbers apart elements may be")
    add("--probe-output-dir", metavar="DIR", type=Path, help="the directory for the .npy files of interpreter.probe")


def add_grid_options(parser: argparse.ArgumentParser) -> None:
    """Add the sizes of a grid of processes."""
    add = parser.add_argument_group("a grid of processes").add_argument
    add("--replicas", metavar="N", type=positive, help="run N replicas; give --args or --inputs once, or once for each")
    add("--partitions", metavar="M", type=positive, help="run M partitions of each replica, likewise")


def _add_watching(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("watching the run (on standard error)").add_argument
    add("-v", "--verbose", action="count", default=0,
        help="a line for each op; -vv: its results; -vvv: all their elements")  # fmt: skip
    add("--trace-values", action="extend", default=[], metavar="%3,%7", type=_names,
        help="only these values; also @f/%%3, names in locations, or a line of the model: model.py:6")  # fmt: skip
    add("--trace-ops", action="extend", default=[], metavar="OP,OP", type=_names,
        help="only these ops, with wildcards: dot_general, chlo.*")  # fmt: skip
    add("--trace-to", metavar="DIR", type=Path, help="write the values to .npy files, with an index")
    add("--keep", metavar="REGEX",
        help="write only values in whose name or op it is found; statistics of all are kept; '' for none")  # fmt: skip
    add("--break", action="append", default=[], metavar="VALUE", dest="breaks",
        help="stop when a value is computed, and open a prompt")  # fmt: skip
    add("--trap", action="extend", default=[], metavar="KIND,KIND", type=exception_kinds,
        help="stop at the first op that generates nan, inf, overflow, underflow, ...: see `exceptions`")  # fmt: skip
    add("--stats", action="store_true", help="the number and time of ops, and the peak memory")
    add("--profile", action="store_true", help="the time of ops by kind and by place")
    add("--profile-output", metavar="FILE", type=Path,
        help="write the time of ops, and what they run in, as JSON that speedscope.app opens")  # fmt: skip
    add("--dump-code", action="store_true", help="the Python source that hot loops and functions became")


def _add_semantics(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("results that the spec leaves open").add_argument
    add("--rng-seed", metavar="SEED", type=seed, default=0, help="the seed of the op `rng`")
    add("--warn-implementation-defined", action="store_true", help="warn about implementation-defined results")
    add("--strict", action="store_true", help="reject implementation-defined results; docs/choices.md lists the cases")
    add("--exact-lapack", action="store_true", help="compute LAPACK custom calls in f64 and round once")
    add("--semantics", action="store_true", help="run each op element by element as the spec describes it, slowly")
    add("--reproducible", action="store_true", help="round results from exact ones: the same bits on every machine")
    add(
        "--exact-sums",
        action="store_true",
        help="sums of reductions, windows, collectives, scatters and batch normalization are exact, and rounded once",
    )


def _named(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    return name, value


def _distribution(text: str) -> tuple[str, Distribution]:
    name, distribution = _named(text)
    try:
        return name, Distribution(distribution)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def exception_kinds(text: str) -> Sequence[str]:
    """Convert names of kinds of exceptions, with commas between them."""
    from stablehlo_ref.debug.exceptions import kinds_of  # imported when it is used

    try:
        return kinds_of(text)
    except EvaluationError as error:
        raise argparse.ArgumentTypeError(error.diagnostics[0].message) from None


def _dimension(text: str) -> tuple[str, int]:
    name, equals, size = text.rpartition("=")
    if not (name and equals and size.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected NAME:AXIS=SIZE, got {text!r}")
    return name, int(size)


def main(arguments: Sequence[str], is_upstream: bool = False) -> int:
    """Run a program as the arguments say; return the exit code. `is_upstream` prints what upstream's tool does."""
    options = parse(arguments)
    options.full |= is_upstream
    run = Run(options, is_upstream)
    try:
        with showing_progress():
            code = for_each_part(options.file, options.split_input_file, run.part, limits_of(options))
    except run.quit_at_prompt:
        print("stopped", file=sys.stderr)
        return INTERRUPTED
    run.conclude()
    return code


class Run:
    """The run of a file, part by part."""

    def __init__(self, options: argparse.Namespace, is_upstream: bool) -> None:
        self.options = options
        self.is_upstream = is_upstream
        self.grid = Grid(options.replicas or 1, options.partitions or 1)
        self.parts = self.failed = self.checks = 0
        self.cache = cache_in(options.cache)
        if problem := self.cache.problem():
            remark(Diagnostic(f"--cache {options.cache}: nothing is kept: {problem}", severity="warning"))

    @property
    def quit_at_prompt(self) -> tuple[type[BaseException], ...]:
        """What a user who leaves the prompt of `--break` raises."""
        if not self.options.breaks:
            return ()
        from stablehlo_ref.debug.debugger import Quit

        return (Quit,)

    def part(self, part: Part) -> None:
        """Run one part, and print its results or a report."""
        self.parts += 1
        report = Report(part.filename, part.first_line)
        try:
            self._part(part, report)
            report.fields["ok"] = True
        except StablehloError as error:
            self.failed += 1
            report.diagnostics(error.diagnostics)
            raise
        finally:
            if self.options.json:
                print(report)

    def conclude(self) -> None:
        """Print the line on all parts of a file."""
        if self.options.split_input_file and self._has_last_line:
            print(last_line_of_parts(self.options.file, self.parts, self.failed, self.checks))

    @property
    def _has_last_line(self) -> bool:
        options = self.options
        return not (self.is_upstream or options.quiet or options.json or options.print_dense)

    # --- one part ---------------------------------------------------------------------------------------------

    def _part(self, part: Part, report: Report) -> None:
        with _timed(report, "parse"), self.cache.in_use():
            program = part.parse(self.options.allow_unregistered_dialect, self.options.entry)
        with _timed(report, "verify"):
            program.verify()
            self.cache.store(program.module)
            program = program.on_shards(self.grid) if program.functions else program
        program.limits = limits_of(self.options)
        if self.options.random_weights is not None:
            program = program.with_random_weights(self.options.random_weights)
        if not program.functions and self.options.entry is None:
            if self.is_upstream or self.options.split_input_file:
                return
            what = "has no functions" if part.text is None or part.text.strip() else "is empty"
            raise EvaluationError(f"the program {what}: there is nothing to run", program.module.location)
        self._check_entry(program)
        self._run(program, part, report)

    def _check_entry(self, program: Program) -> None:
        entry = self.options.entry
        if entry is not None and entry not in program.functions:
            known = shortened([f"@{name}" for name in program.functions])
            hint = did_you_mean(entry, program.functions)
            raise CommandLineError(f"--entry: there is no function @{entry}{hint}; there are {known}")
        try:
            _ = program.entry
        except EvaluationError as error:
            first = error.diagnostics[0]
            raise EvaluationError([replace(first, notes=(*first.notes, "choose it by --entry NAME"))]) from None

    def _run(self, program: Program, part: Part, report: Report) -> None:
        options = self.options
        report.signature(program.entry.name, program.inputs, program.outputs)
        if options.output:
            check_output(options.output, program.outputs, self._files())
        context = self._context(program)
        expected = read_expected(options.expect) if options.expect else {}
        arguments = inputs_of_processes(options, program, self.grid, context.limits)
        with ExitStack() as stack:
            watching = list(observers(options, program, self.grid, stack))
            with _timed(report, "plan"):
                fast = context.fast and not watching and not options.stats
                if not context.semantics:
                    program.plan(fast=fast, reproducible=context.reproducible, exact_sums=context.exact_sums)
            statistics = stack.enter_context(_statistics()) if options.stats else None
            every = [*watching, statistics] if statistics else watching
            context.observer = Observers(*every) if every else None
            stack.enter_context(_timed(report, "run"))
            parameters, results = self._results(program, context, arguments, report)
        if options.dump_code:
            dump_code(program)
        self._show(part, context, parameters, results, expected)
        report.results(parameters, results)
        if statistics:
            report.ops(statistics.count, statistics.seconds)
            _print_statistics(program, statistics, options)

    def _context(self, program: Program) -> Context:
        options = self.options
        return Context(
            program.limits,
            probe_output_dir=options.probe_output_dir,
            rng_seed=options.rng_seed,
            exact_lapack=options.exact_lapack,
            reproducible=options.reproducible,
            exact_sums=options.exact_sums,
            fast=not options.no_fast,
            threads=options.threads,
            jit=not options.no_jit,
            semantics=options.semantics,
            warn=remark,
            on_implementation_defined=(
                "error" if options.strict else "warn" if options.warn_implementation_defined else "ignore"
            ),
        )

    def _results(
        self, program: Program, context: Context, arguments: Sequence[Sequence[RuntimeValue]], report: Report
    ) -> tuple[list[Parameter], list[RuntimeValue]]:
        """Return the outputs and their values; those of a grid are named `name@(replica id, partition id)`."""
        try:
            if self.grid.count == 1:
                return list(program.outputs), list(program.run_in(context, *arguments[0]))
            results = program.run_parallel_in(context, self.grid, arguments)
        except StablehloError as error:
            if context.failures and not self.is_upstream:
                note = f"{len(context.failures)} of {context.checks} checks failed"
                raise type(error)([*error.diagnostics, Diagnostic(note, severity="note")]) from None
            raise
        finally:
            self.checks += context.checks - len(context.failures)
            report.checks(context.checks, len(context.failures))
        outputs = program.outputs
        named = [replace(p, name=f"{p.name}@{process}") for process in self.grid.processes for p in outputs]
        return named, list(chain(*results))

    def _show(
        self,
        part: Part,
        context: Context,
        parameters: Sequence[Parameter],
        results: Sequence[RuntimeValue],
        expected: Mapping[str, Array] | Array,
    ) -> None:
        """Write or print the results, compare them with the expected ones, and print the last line."""
        options = self.options
        if options.output:
            save_outputs(options.output, parameters, results)
        elif not options.json and (options.full or not options.expect):
            print_results(options, parameters, results, names=self.grid.count > 1)
        if options.expect and (found := differences(options, parameters, results, expected)):
            raise EvaluationError(found)
        if self._has_last_line and not options.split_input_file:
            print(last_line(options, part.filename, context.checks, parameters, results))

    def _files(self) -> dict[str, Path]:
        """Return the files that the run reads, by the option that names them."""
        options = self.options
        named = [(f"--inputs {path}", path) for path in options.inputs]
        named += [(f"--input {name}", Path(text.removeprefix("@"))) for name, text in options.input if len(text) < 4096]
        named += [(f"--{name} {path}", path) for name in ("weights", "expect") if (path := getattr(options, name))]
        return {"the program": Path(options.file), **dict(named)}


def _statistics() -> Statistics:
    from stablehlo_ref.debug.traces.observe import Statistics  # imported when it is used

    return Statistics()


def _print_statistics(program: Program, statistics: Statistics, options: argparse.Namespace) -> None:
    print(statistics, file=sys.stderr)
    guarantees = program.guarantees(reproducible=options.reproducible, exact_sums=options.exact_sums)
    print(
        f"\nbits of results:\n{guarantees}",
        file=sys.stderr,
    )
    for dialect, ops in Counter(renamed(program.module)).items():
        print(f"{ops} ops of {dialect} were read as the equal ops of StableHLO and CHLO", file=sys.stderr)


@contextmanager
def _timed(report: Report, phase: str) -> Iterator[None]:
    start = perf_counter()
    try:
        yield
    finally:
        report.fields["seconds"][phase] = perf_counter() - start
