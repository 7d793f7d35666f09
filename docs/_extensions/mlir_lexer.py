"""Highlights MLIR."""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

TYPES = words(("tensor", "tuple", "complex", "index", "none", "memref", "vector"), suffix=r"\b")


class MlirLexer(RegexLexer):
    """MLIR's textual form: names by their sigils, ops with a dialect, types, literals."""

    name = "MLIR"
    aliases: ClassVar = ["mlir"]
    filenames: ClassVar = ["*.mlir"]
    tokens: ClassVar = {
        "root": [
            (r"\s+", Whitespace),
            (r"//.*?$", Comment.Single),
            (r'"[^"\\]*(?:\\.[^"\\]*)*"', String),
            (r"%[\w$.\-]+(?:#\d+)?", Name.Variable),
            (r"@(?:[\w$.\-]+|\"[^\"]*\")", Name.Function),
            (r"\^[\w$.\-]+", Name.Label),
            (r"[#!][\w$.\-]+", Name.Attribute),
            (r"-?0x[0-9a-fA-F]+|-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?", Number),
            (TYPES, Keyword.Type),
            (r"(?:x|\b)(?:(?:[su]?i\d+)|(?:b?f\d+\w*))\b", Keyword.Type),
            (r"\b(?:true|false|unit|dense|array|loc|return|module|call)\b", Keyword),
            (r"[A-Za-z_]\w*\.[\w$.\-]+", Name.Builtin),
            (r"[A-Za-z_][\w$]*", Name),
            (r"->|::|=", Operator),
            (r"[\[\](){}<>,:?*+\-|/.;]", Punctuation),
        ]
    }


def setup(app: Any) -> dict[str, bool]:
    app.add_lexer("mlir", MlirLexer)
    return {"parallel_read_safe": True}
