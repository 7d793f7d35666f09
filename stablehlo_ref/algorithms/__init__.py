"""Algorithms of ops that are more than a formula on whole arrays: orders of reductions, windows, sorting, gathering.

Unlike the modules of numerics/, they depend on shapes and on the regions of ops.
"""
