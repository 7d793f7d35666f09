"""Arithmetic of the spec's element types on numpy arrays. Ops select kernels here and contain no format-specific code.

A *kernel factory* is a function `dtype -> kernel`, and a kernel is a function `(*arrays) -> array`: decisions that
depend on the element type are made once, while a program is planned. Kernels take numpy arrays and numpy scalars and
never write into them.
"""
