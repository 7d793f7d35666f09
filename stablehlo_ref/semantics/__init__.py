"""What each op means: the sentences of the spec as Python, element by element.

This is the reference that is to be read; the engine (`ops/`, `execute/`) is its fast twin, which properties compare
with it. It imports nothing of the rest of the package, and needs numpy and ml_dtypes to store elements, and mpmath for
digits. `run(..., semantics=True)` runs a program by it. Read it in this order, that of the spec:

    notation          shapes, element types and index spaces
    rounding, ieee, complexes, elements      numbers: exact ones, the operations of IEEE-754, pairs, each of a tensor
    quantization      quantized numbers, and ops on them
    elementwise       arithmetic, functions, bits, comparison, conversion
    data_movement, gather_scatter, sort
    reduction, dot_general, convolution
    control_flow, extensibility      regions, tuples and calls
    distribution      a grid of processes
    dynamism          ops whose shapes are operands
    constants, normalization, linear_algebra, fft, random
    deprecated        ops that left the spec
    chlo, chlo_structured            CHLO
    affine, arith, complex, math, scf, sdy, shape, tensor      ops of other dialects

The function of an op has its name (with an underscore after one that is Python's: `and_`, `if_`), and its parameters
are the inputs of the op, with the spec's names and order:

- operands are numpy arrays whose dtype is the element type (`bool` for `i1`, ml_dtypes for types that numpy lacks),
  and variadic operands are tuples of arrays;
- attributes are Python values: `int`, `bool`, tuples of `int`, and strings for enums, such as "LT" and "TOTALORDER";
- regions are Python callables from arrays to a tuple of arrays;
- where a result cannot be computed without its type, `result` is `(shape, dtype)`, `results` a tuple of them, and
  `element_type` a dtype.

It returns one array, or a tuple of arrays if the op has a variadic number of results. Inputs are assumed to satisfy the
op's constraints. Numbers are computed exactly, or with more digits than necessary, and rounded once to the element type
of the result; callers dequantize and quantize quantized types.
"""
