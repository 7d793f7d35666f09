"""Hot loops, chains, maps and functions as machine code, by the compiler library llvmlite (the extra `jit`); `jit=False` makes none."""
