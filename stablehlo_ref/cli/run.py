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

from stablehlo_ref.cli.console import Part, for_each_part
from stablehlo_ref.cli.errors import CommandLineError
from stablehlo_ref.cli.exit_codes import INTERRUPTED
from stablehlo_ref.cli.json_report import Report
from stablehlo_ref.cli.messages import remark
from stablehlo_ref.cli.options import limits_of
from stablehlo_ref.cli.outputs import check_output, differences, read_expected, save_outputs
from stablehlo_ref.cli.process_inputs import inputs_of_processes
from stablehlo_ref.cli.progress import showing_progress
from stablehlo_ref.cli.results import last_line, last_line_of_parts, print_results
from stablehlo_ref.cli.run_options import parse, parser  # noqa: F401  (the parser of this command)
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
        from stablehlo_ref.cli.debugger import Quit

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
    for dialect, count in Counter(renamed(program.module)).items():
        print(f"{count} ops of {dialect} were read as the equal ops of StableHLO and CHLO", file=sys.stderr)


@contextmanager
def _timed(report: Report, phase: str) -> Iterator[None]:
    start = perf_counter()
    try:
        yield
    finally:
        report.fields["seconds"][phase] = perf_counter() - start
