"""How ops compute where a formula on whole arrays is not enough: orders of reductions, windows, sorting, gathering.

Numbers alone are in numerics/; here are shapes, and bodies that programs give.
"""
