"""Inlining a function of one text into another text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.diagnostics import LimitError, Location, Source
from stablehlo_ref.limits import Limits
from stablehlo_ref.limits.budget import limited
from stablehlo_ref.text.aliases import Aliases
from stablehlo_ref.text.functions import FoundFunction, find_function, find_returns
from stablehlo_ref.text.reader import read_structure
from stablehlo_ref.text.scopes import resolve_names
from stablehlo_ref.text.tokens import Tokens, counted
from stablehlo_ref.text.writer import FreshNames, InlinedFunction, Prefixes, WriteOptions, Writer, check_operand, rename

MAX_GROWTH = 1 << 26  # characters that aliases and new names may add to a text


@checks_arguments
def inline_function(
    text: str,
    operands: Sequence[str],
    fresh_names: str | Callable[[str], str] | None = None,
    *,
    prefix: str = "t",
    block_prefix: str = "blk_arg",
    label_prefix: str | None = None,
    function: str | None = None,
    used_names: Collection[str] = (),
    keep_locations: bool = True,
    branch: str = "cf.br",
    filename: str = "<string>",
    max_growth: int = MAX_GROWTH,
    limits: Limits | None = None,
) -> InlinedFunction:
    """Return the body of a function as lines for another text, with operands in place of arguments.

    Ops may be of any dialect, in pretty or generic form. Results are called `%t0, %t1, ...`, arguments of blocks and
    regions `%blk_arg0, ...`, each in the order of their definitions, and blocks of the function `^t_bb0, ...`; names
    that are operands or in `used_names` are left out. Labels in nested regions keep their names. Aliases are replaced
    with what they stand for. Names in strings and comments stay.

    A return at the end of the last block is left out. Where a function returns from elsewhere, each return becomes a
    branch to one more block at the end, whose arguments are the results.

    Args:
        text: A module, or functions without a module.
        operands: One SSA name for each argument: `%x`, or `%x#1`.
        fresh_names: A prefix, as `prefix`; or a function that returns a name which is new in the other text, called
            with the prefix, once for each value and block.
        prefix: What names of results start with.
        block_prefix: What names of arguments of blocks and regions start with.
        label_prefix: What labels start with; by default `prefix` followed by `_bb`.
        function: The symbol of the function; by default `main`, else the only public function, else the only one.
        used_names: SSA names and labels of the other text, see `names`.
        keep_locations: Whether to keep `loc(...)` behind ops and arguments.
        branch: The op that branches to the block where all returns meet, in a function with several.
        filename: The name of the text in messages.
        max_growth: How many characters the result may be longer than the text.
        limits: What the call may use; of these, `max_seconds` counts, and memory is limited by `max_growth`.

    Raises:
        MalformedError: The text has no such function, the number of operands is wrong, a value, block or alias is
            undefined or defined twice, or the result is too long. Its location is the place in `text`.
        LimitError: It takes longer than `limits.max_seconds`.
        ArgumentValueError: An operand or a prefix is not a name, or `fresh_names` returned a name twice.
    """
    prefix, make = (fresh_names, None) if isinstance(fresh_names, str) else (prefix, fresh_names)
    prefixes = Prefixes.of(prefix, block_prefix, label_prefix)
    fresh = FreshNames([*operands, *used_names], make)
    source = Source(text, filename)
    try:
        with limited(limits or Limits()):
            tokens = Tokens(source)
            structure = read_structure(tokens)
            aliases = Aliases(tokens, structure, max_growth)
            found = find_function(tokens, structure, function)
            _bind_operands(tokens, found, operands)
            names = resolve_names(tokens, structure, found.body, found.header_arguments)
            returns = find_returns(tokens, found)
            new_names = rename(found, names, returns, fresh, prefixes)
            options = WriteOptions(keep_locations, branch, max_growth)
            return Writer(tokens, found.body, names, new_names, aliases, options).write(returns)
    except LimitError as error:
        raise error.at(Location(source, 0)) from None


def _bind_operands(tokens: Tokens, function: FoundFunction, operands: Sequence[str]) -> None:
    """Replace uses of each argument with its operand; MalformedError if there are more or fewer operands."""
    if len(operands) != function.count:
        expected = counted(function.count, "operand")
        raise tokens.error(f"expected {expected} for function '@{function.name}', got {len(operands)}", function.token)
    for argument, operand in zip(function.arguments, operands):
        argument.is_operand = True
        argument.new_name = check_operand(operand)
