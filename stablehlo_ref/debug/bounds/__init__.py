"""Worst-case bounds on what a legal backend computes: each value as a ball, a center and a radius around it."""
