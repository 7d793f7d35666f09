"""Element-by-element transcripts of the spec's "Semantics" sections, slow on purpose, to read beside the spec's pages.

An oracle is a function named as the mnemonic of its op (with an underscore where that is a Python keyword: `and_`,
`if_`), whose parameters are the inputs of the op in the spec's names and order:

- operands are numpy arrays whose dtype is the element type (`bool` for `i1`, ml_dtypes where numpy lacks the type),
  variadic operands tuples of arrays;
- attributes are Python values: `int`, `bool`, tuples of `int`, and strings for enums, such as "LT" and "TOTALORDER";
- functions are Python callables from arrays to a tuple of arrays;
- where an op cannot be evaluated without the type of its result, the keyword `result` gives it as `(shape, dtype)`.

It returns one array, or a tuple of arrays where the spec's op has a variadic number of results. Inputs are taken to
satisfy the op's constraints. Numbers are computed exactly, or with more digits than matter, and rounded once to the
element type of the result (`rounding`); quantized types are left to whoever dequantizes before and quantizes after.
Nothing here imports the interpreter.
"""
