"""Arithmetic of the spec's element types on numpy arrays; ops ask here for kernels and know nothing of formats.

A *kernel factory* is a function `dtype -> callable(*arrays) -> array`: what depends on the element type is decided
once, when a program is planned. Kernels take numpy arrays and numpy scalars and never write into them.
"""
