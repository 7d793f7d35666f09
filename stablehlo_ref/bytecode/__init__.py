"""MLIR bytecode and StableHLO's portable artifacts: `reader.read`, `writer.write` and `vhlo.artifact.serialize`."""
