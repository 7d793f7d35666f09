"""Programs as text of any dialect: no op needs to be known."""

from stablehlo_ref.text.inline import inline_function
from stablehlo_ref.text.tokens import names
from stablehlo_ref.text.writer import InlinedFunction

__all__ = ["InlinedFunction", "inline_function", "names"]
