"""Property tests that compare the interpreter with slow oracles, which transcribe the spec."""
