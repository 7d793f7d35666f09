"""StableHLO's ops: one class per op, one file per category of the spec."""
