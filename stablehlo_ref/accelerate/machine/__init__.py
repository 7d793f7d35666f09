"""Hot loops, chains, maps and functions as machine code, compiled by llvmlite (the extra `jit`)."""
