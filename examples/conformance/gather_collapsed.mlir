// The compiler of XLA for CPUs dies (signal 6): sizes of slices along collapsed dimensions are at most 1, and may be 0.
func.func @main() {
  %x = stablehlo.constant dense<[5, 6, 7]> : tensor<3xi32>
  %index = stablehlo.constant dense<1> : tensor<1xi32>
  %given:2 = stablehlo.optimization_barrier %x, %index : tensor<3xi32>, tensor<1xi32>
  %0 = "stablehlo.gather"(%given#0, %given#1) <{dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 0>}>
    : (tensor<3xi32>, tensor<1xi32>) -> tensor<i32>
  check.expect_eq_const %0, dense<6> : tensor<i32>
  return
}
