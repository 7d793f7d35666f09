"""Backends that `diff` and `reduce` compare the interpreter with, each in a process of its own."""
