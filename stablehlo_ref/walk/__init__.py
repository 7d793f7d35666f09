"""Run programs by the semantics of their ops, element by element."""
