"""Helpers for tests: assertions on arrays, lit-style files in pytest."""

from stablehlo_ref.testing.assertions import assert_close, pearson_correlation, ulp_distance

__all__ = ["assert_close", "pearson_correlation", "ulp_distance"]
