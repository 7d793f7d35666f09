"""A structure-aware fuzzer: valid programs from op definitions, and mutations of text, structure, inputs and arguments.

Whatever is given to this package, it must return a result or raise a located StablehloError. `programs` generates,
`mutations` changes, `cases` runs one case and judges the outcome, `worker` runs many in a process of its own, which
`tools/fuzz.py` watches.
"""
