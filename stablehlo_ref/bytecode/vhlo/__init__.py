"""Portable artifacts: VHLO, the versioned form of StableHLO, which every later version of StableHLO reads.

An op of VHLO is named after an op of StableHLO and the revision of its attributes: `vhlo.gather_v2`. Attributes are
flat, as the members of op definitions are, and none is left out. What each version changed is in `versions.py`.
"""
