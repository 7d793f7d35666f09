// RUN: stablehlo-interp %s

// The elements of a poison are arbitrary: only what does not depend on them is checked.
func.func @main() {
  %0 = ub.poison : tensor<2x3xf32>
  %1 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  check.expect_eq_const %1, dense<3> : tensor<i32>
  %2 = ub.poison : i32
  %3 = arith.subi %2, %2 : i32
  %4 = tensor.from_elements %3 : tensor<i32>
  check.expect_eq_const %4, dense<0> : tensor<i32>
  return
}
