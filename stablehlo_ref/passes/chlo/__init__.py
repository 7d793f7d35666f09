"""Decompositions of CHLO's ops into StableHLO's, with the formulas and coefficients of upstream's pass."""
