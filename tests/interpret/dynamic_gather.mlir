// RUN: stablehlo-interp --split-input-file %s

func.func @of_slices_of_sizes_that_are_an_operand() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %starts = stablehlo.constant dense<[[1, 1], [0, 9]]> : tensor<2x2xi64>
  %sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %0 = "stablehlo.dynamic_gather"(%x, %starts, %sizes) {
    dimension_numbers = #stablehlo.gather<
      offset_dims = [1],
      collapsed_slice_dims = [0],
      start_index_map = [0, 1],
      index_vector_dim = 1>,
    indices_are_sorted = false
  } : (tensor<2x3xi32>, tensor<2x2xi64>, tensor<2xi64>) -> tensor<2x2xi32>
  // The start of the second slice, column 9, is clamped to column 1.
  check.expect_eq_const %0, dense<[[5, 6], [2, 3]]> : tensor<2x2xi32>
  return
}
