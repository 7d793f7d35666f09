import stablehlo_ref as sr

program = sr.load("examples/softmax.mlir")
print(program.inputs)  # names, types, locations
(result,) = program.run([0.0, 1.0, 2.0])  # numpy arrays, numbers or tensors of a framework in, numpy arrays out
(result,) = program.run(x=[0.0, 1.0, 2.0])  # by name
print(result)
print(program.trace(x=[0.0, 1.0, 2.0])["%shifted"])  # any value in the middle
