"""Exit codes of all commands."""

FINE, AT_FAULT, USAGE, INTERRUPTED = 0, 1, 2, 130
