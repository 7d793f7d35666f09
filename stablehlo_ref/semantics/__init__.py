"""Element-by-element transcriptions of the spec's "Semantics" sections, written to be read beside the spec.

They are not optimized for speed.

An oracle is a function named after the mnemonic of its op (with an underscore if that is a Python keyword: `and_`,
`if_`), whose parameters are the inputs of the op with the spec's names and order:

- operands are numpy arrays whose dtype is the element type (`bool` for `i1`, ml_dtypes for types that numpy lacks),
  and variadic operands are tuples of arrays;
- attributes are Python values: `int`, `bool`, tuples of `int`, and strings for enums, such as "LT" and "TOTALORDER";
- functions are Python callables from arrays to a tuple of arrays;
- if an op cannot be evaluated without the type of its result, the keyword `result` is `(shape, dtype)`.

An oracle returns one array, or a tuple of arrays if the spec's op has a variadic number of results. Inputs are assumed
to satisfy the op's constraints. Numbers are computed exactly, or with more digits than necessary, and rounded once to
the element type of the result (`rounding`); callers dequantize and quantize quantized types. Nothing here imports the
interpreter.
"""
