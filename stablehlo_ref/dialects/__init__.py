"""Op classes of CHLO, of the check and interpreter dialects, and of MLIR's and Shardy's dialects."""
