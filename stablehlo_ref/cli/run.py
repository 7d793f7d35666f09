"""Run a program and print its results: `stablehlo-interp FILE`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path
from time import perf_counter

from stablehlo_ref._version import __version__
from stablehlo_ref.arrays.results import compare_results, read_expected, save_results
from stablehlo_ref.cli.commands import EXIT_CODES, INTERRUPTED
from stablehlo_ref.cli.console import Chunk, for_each_part
from stablehlo_ref.cli.inputs import GRID, INPUTS, grid_of, inputs_of_processes
from stablehlo_ref.cli.options import (
    ENTRY,
    LIMITS,
    PROGRAM,
    READING,
    CommandLineError,
    CommandParser,
    Group,
    converter,
    count,
    directory,
    limits_of,
    messages,
    names,
    number,
    option,
    seed,
    threads,
    usage_errors,
)
from stablehlo_ref.cli.outputs import (
    Report,
    check_output,
    last_line,
    last_line_of_parts,
    print_results,
)
from stablehlo_ref.cli.watch import dump_code, observers, print_profile
from stablehlo_ref.define.context import Context, Observers
from stablehlo_ref.diagnostics import ArgumentValueError, Diagnostic, EvaluationError, StablehloError
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.signature import Parameter, shortened
from stablehlo_ref.program import Program
from stablehlo_ref.reading.parsing import cache_in
from stablehlo_ref.suggestions import did_you_mean

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
  stablehlo-interp model.mlir --random-inputs 0 --profile                # which ops take the time
  stablehlo-interp model.mlir --random-inputs 0 --mode reproducible      # the same bits on every machine
  stablehlo-interp model.mlir --random-inputs 0 -v                       # one line for each op
  stablehlo-interp model.mlir --random-inputs 0 --trace %0,%1            # these values
  stablehlo-interp model.mlir --random-inputs 0 --trace-to trace         # all values as .npy files
  echo continue | stablehlo-interp model.mlir --random-inputs 0 --break %0
  stablehlo-interp model.mlir --random-inputs 0 --json
  stablehlo-interp spmd.mlir --partitions 2 --random-inputs 0            # two processes
  cat tests.mlir | stablehlo-interp --split-input-file -                 # each part between `// -----`"""


# How results are computed: the names that `--mode` takes, and what each of them does.
MODES = {
    "reproducible": "the same bits on every machine, rounded from exact results",
    "exact-sums": "sums of reductions, windows, collectives, scatters and batch normalization are exact, rounded once",
    "exact-lapack": "LAPACK custom calls compute in f64 and round once",
    "semantics": "each op element by element as the spec describes it, slowly",
    "no-fast": "no fast paths; the same bits",
    "no-jit": "no machine code, which the extra jit makes; the same bits",
}


@converter
def _modes(text: str) -> list[str]:
    """Convert names of `MODES`."""
    for name in (found := names(text)):
        if name not in MODES:
            raise ArgumentValueError(f"unknown mode {name!r}{did_you_mean(name, MODES)}; there are {', '.join(MODES)}")
    return found


RESULTS = Group("results", [
    option("--output FILE", "write the results to a .npz, .npy or .safetensors file instead", Path),
    option("--full", "print all elements of large results"),
    option("--print-dense", "print results as dense<...> literals, and nothing else"),
    option("-q --quiet", "leave out the last line, on checks and results"),
    option("--json", "print one line of JSON: signature, statistics of results, diagnostics, times"),
    option("--probe-output-dir DIR", "the directory for the .npy files of interpreter.probe", Path),
])  # fmt: skip
EXPECTED = Group("comparison with expected results", [
    option("--expect FILE", "compare the results with a .npz, .npy or .safetensors file", Path),
    option("--rtol R", "how far elements may differ, relative to the expected (0)", number, default=0.0),
    option("--atol A", "how far elements may differ (0)", number, default=0.0),
    option("--ulp N", "how many representable numbers apart elements may be", count),
])  # fmt: skip
WATCHING = Group("watching the run (on standard error)", [
    option("-v --verbose", "a line for each op; -vv: its results; -vvv: all their elements", action="count", default=0),
    option("--trace NAME,NAME", "only these: values (%%3, @f/%%3, or names in locations), lines of the model "
           "(model.py:6), or ops, with wildcards (dot_general, chlo.*)", names, action="extend", default=[]),
    option("--trace-to DIR", "write the values to .npy files, with an index", Path),
    option("--keep REGEX", "write only values in whose name or op it is found (none for ''), and statistics of all"),
    option("--break VALUE", "stop when a value is computed, and open a prompt", action="append", default=[],
           dest="breaks"),
    option("--profile [FILE]", "the time of ops by kind and by place, the peak memory, and what is guaranteed of the "
           "bits of results; =FILE: also as JSON that speedscope.app opens", bare=""),
    option("--dump-code", "the Python source or machine code that hot loops and functions became"),
])  # fmt: skip
COMPUTING = Group("how results are computed", [
    option("--mode NAME,NAME", "one or several modes: see below", _modes, action="extend", default=[]),
    option("--on-implementation-defined", "what to do about results that the spec leaves open, which docs/choices.md "
           "lists (ignore)", choices=("ignore", "warn", "error"), default="ignore"),
    option("--rng-seed SEED", "the seed of the op `rng`", seed, default=0),
    option("--threads N", "threads, of BLAS and for blocks of large tensors", threads),
])  # fmt: skip
RENAMED = {
    "--stats": "--profile",
    "--profile-output": "--profile=",
    "--trace-values": "--trace=",
    "--trace-ops": "--trace=",
    "--trap": "use the command `exceptions` with --first: stablehlo-interp exceptions FILE --first --kinds nan,inf",
    "--strict": "--on-implementation-defined=error",
    "--warn-implementation-defined": "--on-implementation-defined=warn",
    **{f"--{name}": f"--mode={name}" for name in MODES},
}


def parser() -> CommandParser:
    """Return the parser of the command line."""
    first = Group("", [
        PROGRAM, option("--version", "show the version and exit", action="version",
                        version=f"stablehlo-interp {__version__}"), ENTRY,
        option("--cache DIR", "keep programs that were parsed and verified", directory),
    ])  # fmt: skip
    modes = "\n".join(f"  {name:14}{text}" for name, text in MODES.items())
    groups = (first, INPUTS, RESULTS, EXPECTED, GRID, WATCHING, COMPUTING, READING, LIMITS, messages())
    return CommandParser(
        "", DESCRIPTION, f"{EXAMPLES}\n\nmodes:\n{modes}\n\n{EXIT_CODES}", *groups,
        usage="stablehlo-interp [run] FILE [options]", check=_contradiction, renamed=RENAMED,
    )  # fmt: skip


def _contradiction(options: argparse.Namespace) -> str | None:
    """Return why options exclude each other."""
    is_random = options.random_inputs is not None or options.random
    if is_random and options.args:
        return "--args gives all inputs: it excludes --random-inputs and --random"
    if options.dim and not is_random:
        return "--dim gives the sizes of random inputs: it needs --random-inputs"
    if options.expect is None and (options.rtol or options.atol or options.ulp is not None):
        return "--rtol, --atol and --ulp are tolerances of --expect"
    if "semantics" in options.mode and (options.on_implementation_defined != "ignore" or options.dump_code):
        return "--mode semantics excludes --on-implementation-defined and --dump-code"
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


def run(options: argparse.Namespace, is_upstream: bool = False) -> int:
    """Run a program as the options say; return the exit code. `is_upstream` prints what upstream's tool does."""
    options.full |= is_upstream
    run = Run(options, is_upstream)
    try:
        code = for_each_part(options, run.part)
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
        self.grid = grid_of(options)
        self.parts = self.failed = self.checks = 0
        self.cache = cache_in(options.cache)
        if problem := self.cache.problem():
            options.messages.remark(
                Diagnostic(f"--cache {options.cache}: nothing is kept: {problem}", severity="warning")
            )

    @property
    def quit_at_prompt(self) -> tuple[type[BaseException], ...]:
        """What a user who leaves the prompt of `--break` raises."""
        if not self.options.breaks:
            return ()
        from stablehlo_ref.debug.traces.observe import Quit

        return (Quit,)

    def part(self, part: Chunk) -> None:
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

    def _part(self, part: Chunk, report: Report) -> None:
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

    def _run(self, program: Program, part: Chunk, report: Report) -> None:
        options = self.options
        report.signature(program.entry.name, program.inputs, program.outputs)
        if options.output:
            check_output(options.output, program.outputs, self._files())
        context = self._context(program)
        with usage_errors(f"--expect {options.expect}"):
            expected = read_expected(options.expect) if options.expect else {}
        arguments = inputs_of_processes(options, program, self.grid, context.limits)
        profile = None
        if options.profile is not None:
            from stablehlo_ref.debug.traces.observe import Profile  # imported when it is used

            profile = Profile()
        with ExitStack() as stack:
            watching = [*observers(options, program, stack), *([profile] if profile else [])]
            with _timed(report, "plan"):
                fast = context.fast and not watching
                if not context.semantics:
                    program.plan(fast=fast, reproducible=context.reproducible, exact_sums=context.exact_sums)
            context.observer = Observers(*watching) if watching else None
            stack.enter_context(profile or nullcontext())
            stack.enter_context(_timed(report, "run"))
            parameters, results = self._results(program, context, arguments, report)
        if options.dump_code:
            dump_code(program)
        self._show(part, context, parameters, results, expected)
        report.results(parameters, results)
        if profile:
            report.ops(profile.by_op())
            print_profile(profile, program, options)

    def _context(self, program: Program) -> Context:
        options, modes = self.options, self.options.mode
        return Context(
            program.limits,
            probe_output_dir=options.probe_output_dir,
            rng_seed=options.rng_seed,
            exact_lapack="exact-lapack" in modes,
            reproducible="reproducible" in modes,
            exact_sums="exact-sums" in modes,
            fast="no-fast" not in modes,
            threads=options.threads,
            jit="no-jit" not in modes,
            semantics="semantics" in modes,
            warn=options.messages.remark,
            on_implementation_defined=options.on_implementation_defined,
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
        part: Chunk,
        context: Context,
        parameters: Sequence[Parameter],
        results: Sequence[RuntimeValue],
        expected: Mapping[str, Array] | Array,
    ) -> None:
        """Write or print the results, compare them with the expected ones, and print the last line."""
        options = self.options
        if options.output:
            save_results(options.output, parameters, results)
        elif not options.json and (options.full or not options.expect):
            print_results(options, parameters, results, names=self.grid.count > 1)
        if options.expect:
            with usage_errors(f"--expect {options.expect}"):
                found = compare_results(
                    parameters, results, expected, rtol=options.rtol, atol=options.atol, ulp=options.ulp
                )
            if found:
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


@contextmanager
def _timed(report: Report, phase: str) -> Iterator[None]:
    start = perf_counter()
    try:
        yield
    finally:
        report.fields["seconds"][phase] = perf_counter() - start
