stablehlo-interp examples/softmax.mlir --args="[dense<[0.0, 1.0, 2.0]> : tensor<3xf32>]"
stablehlo-interp examples/softmax.mlir --random-inputs 0 --stats --output results.npz
stablehlo-interp examples/mean.mlir --partitions 8 --random-inputs 0  # a grid of processes and their collectives
stablehlo-interp opt examples/decode.mlir --inline --symbol-dce -o flat.mlir
stablehlo-interp translate --serialize --target=1.9.0 examples/softmax.mlir -o softmax.mlirbc
