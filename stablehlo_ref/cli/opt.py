"""Read, verify, transform and print a program, as MLIR's `stablehlo-opt` does: `stablehlo-interp opt`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

from stablehlo_ref.bytecode.vhlo.artifact import serialize
from stablehlo_ref.bytecode.writer import write as write_bytecode
from stablehlo_ref.cli.console import Chunk, for_each_part, is_file, write_output
from stablehlo_ref.cli.options import (
    LIMITS,
    PROGRAM_OR_STDIN,
    READING,
    CommandParser,
    Group,
    Option,
    count,
    limits_of,
    messages,
    option,
)
from stablehlo_ref.diagnostics import Diagnostic, InvalidError, MalformedError, StablehloError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.limits import Limits
from stablehlo_ref.limits.budget import activity, limited
from stablehlo_ref.limits.files import contents, open_file
from stablehlo_ref.passes.catalog import PASSES
from stablehlo_ref.passes.inspection import (
    as_json,
    as_table,
    elide_constants,
    op_counts,
    op_graph,
    parse_supported,
    unsupported_ops,
)
from stablehlo_ref.passes.registry import BoundPass, Pass, flag, parse_pipeline
from stablehlo_ref.program import Program
from stablehlo_ref.reading.parsing import decode
from stablehlo_ref.syntax.printer import print_operation
from stablehlo_ref.syntax.value_names import number_values
from stablehlo_ref.syntax.vhlo_printer import spelled_version
from stablehlo_ref.verify import verify

DESCRIPTION = """\
Read, verify, transform and print a program, as MLIR's stablehlo-opt does. Passes run in the order given."""
EXAMPLES = """\
examples:
  stablehlo-interp opt model.mlir                                   # verify and print
  stablehlo-interp opt model.mlir --inline --symbol-dce -o flat.mlir
  stablehlo-interp opt model.mlir --op-stats                        # which ops there are
  stablehlo-interp opt model.mlir --pass-pipeline='builtin.module(canonicalize, cse)'"""
Show = Callable[[Operation], str | bytes]  # the output for a module


def run(options: argparse.Namespace) -> int:
    """Print a program as the options say; return the exit code. Parts with errors are left out of the output."""
    printed: list[str | bytes] = []
    show = _show(options)
    supported = _supported(options.supported_by, limits_of(options)) if options.supported_by else None

    def handle(part: Chunk) -> None:
        module, reported = _transformed(options, part)
        for diagnostic in reported:
            options.messages.remark(diagnostic)
        if supported is not None and (missing := unsupported_ops(module, supported)):
            raise InvalidError(missing)
        printed.append(show(module))

    code = for_each_part(options, handle)
    write_output(options.output, printed)
    return code


def _supported(file: Path, limits: Limits) -> tuple[str, ...]:
    with limited(limits), open_file(file) as opened:
        return parse_supported(decode(contents(opened, str(file)), str(file)))


def _transformed(options: argparse.Namespace, part: Chunk) -> tuple[Operation, list[Diagnostic]]:
    """Return the module of one part after all passes, and what they report besides errors."""
    module = part.parse(options.allow_unregistered_dialect).verify().module
    reported: list[Diagnostic] = []
    for number, transform in enumerate(options.passes):
        name = transform.definition.name
        before = clone(module, {}) if options.verify_semantics else None
        with activity(f"pass {number + 1} of {len(options.passes)}: {name}"):
            reported.extend(transform(module))
            verify(module)
            if before is not None:
                reported.extend(_verified_semantics(name, before, module))
    return module, reported


def _verified_semantics(name: str, before: Operation, after: Operation) -> list[Diagnostic]:
    """Raise InvalidError if a pass changed what a module means; return why that is not known."""
    from stablehlo_ref.debug.diff_passes import same_meaning  # imported when it is needed

    try:
        reasons = same_meaning(Program(before, verified=True), Program(clone(after, {}), verified=True))
    except StablehloError as error:
        reason = error.diagnostics[0].message
        return [Diagnostic(f"what pass '{name}' did is not compared: {reason}", after.location, "warning")]
    if reasons:
        raise InvalidError(f"pass '{name}' changes what the program means", after.location, reasons)
    return []


# --- output ---------------------------------------------------------------------------------------------------------


def _show(options: argparse.Namespace) -> Show:
    match options:
        case argparse.Namespace(op_stats="table"):
            return lambda module: as_table(op_counts(module))
        case argparse.Namespace(op_stats="json"):
            return lambda module: as_json(op_counts(module))
        case argparse.Namespace(print_op_graph=True):
            return op_graph
        case argparse.Namespace(supported_by=Path()):
            return lambda module: ""
        case argparse.Namespace(emit_bytecode=True):
            return _bytecode
    return partial(_text, options)


def _bytecode(module: Operation) -> bytes:
    version = spelled_version(module)
    return write_bytecode(module) if version is None else serialize(module, str(version), allow_other_dialects=True)


def _text(options: argparse.Namespace, module: Operation) -> str:
    if options.mlir_elide_elementsattrs_if_larger is not None:
        elide_constants(module, options.mlir_elide_elementsattrs_if_larger)
    if not options.keep_names:
        number_values(module)
    is_local = options.mlir_print_local_scope
    return print_operation(module, options.mlir_print_op_generic, _prints_locations(options), is_local)


def _prints_locations(options: argparse.Namespace) -> bool:
    """Return whether to print locations: into files by default, as they have the names of inputs and ops."""
    if options.mlir_print_debuginfo is not None:
        return bool(options.mlir_print_debuginfo)
    return is_file(options.output)


# --- options --------------------------------------------------------------------------------------------------------


class _AppendPass(argparse.Action):
    """Appends a pass to those that run, in the order of the command line."""

    def __call__(
        self, parser: argparse.ArgumentParser, options: argparse.Namespace, value: object, option: object = None
    ) -> None:
        definition = PASSES[self.dest]
        try:
            found = definition.bind(_pass_options(str(value or "")))
        except MalformedError as error:
            parser.error(str(error.diagnostics[0].message))
        options.passes = [*options.passes, found]


class _AppendPipeline(argparse.Action):
    """Appends the passes of a pipeline."""

    def __call__(
        self, parser: argparse.ArgumentParser, options: argparse.Namespace, value: object, option: object = None
    ) -> None:
        try:
            found: list[BoundPass] = parse_pipeline(str(value), PASSES)
        except MalformedError as error:
            parser.error(str(error.diagnostics[0].message))
        options.passes = [*options.passes, *found]


def _pass_options(text: str) -> dict[str, str]:
    """Parse `name=value name=value`."""
    pairs = (part.partition("=") for part in text.split())
    return {name: value if equals else "true" for name, equals, value in pairs}


def parser() -> CommandParser:
    """Return the parser of the command line."""
    found = CommandParser(
        "opt", DESCRIPTION, EXAMPLES, OPTIONS, READING, INSTEAD, LIMITS, messages(),
        Group("passes, which run in the order given", [_option(definition) for definition in PASSES.values()]),
        usage="%(prog)s [FILE] [options] [passes]", has_one_dash=True,
    )  # fmt: skip
    found.set_defaults(passes=[])
    return found


OPTIONS = Group("", [
    PROGRAM_OR_STDIN,
    option("-o FILE", "where to write; standard output if left out", Path, dest="output"),
    option("--mlir-print-op-generic", "print ops in MLIR's generic form"),
    option("--mlir-print-debuginfo FLAG", "whether to print locations; by default into files only", flag, bare="true"),
    option("--mlir-print-local-scope", "print locations in place, not as aliases"),
    option("--mlir-elide-elementsattrs-if-larger N", "leave out constants of more elements", count),
    option("--keep-names", "print values under their names in the text, not numbered"),
    option("--verify-semantics", "run the program after each pass on the same random inputs; an error if a pass "
           "changes what it means"),
    option("--pass-pipeline PIPELINE", "run `builtin.module(pass, ...)`", action=_AppendPipeline),
])  # fmt: skip
INSTEAD = Group("what to print instead of the program", [
    option("--emit-bytecode", "the program in MLIR bytecode"),
    option("--op-stats", "how often each op occurs; `table` if left out", choices=("table", "json"), bare="table"),
    option("--print-op-graph", "the data flow, in the DOT language"),
    option("--supported-by LIST", "ops that a file of op names, one per line, lacks", Path),
])  # fmt: skip


def _option(definition: Pass) -> Option:
    """Return the option that runs a pass; its value are the options of the pass, if it has any."""
    values = [f"{o.name}=..." for o in definition.options]
    if not values:
        return option(f"--{definition.name}", definition.summary, dest=definition.name, action=_AppendPass, nargs=0)
    described = "; ".join(f"{o.name}=...: {o.summary}" for o in definition.options)
    form, summary = f"--{definition.name} [{' '.join(values)}]", f"{definition.summary} ({described})"
    return option(form, summary, dest=definition.name, action=_AppendPass, bare="")
