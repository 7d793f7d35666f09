// StableHLO's interpreter in C++ ends by signal 11, of endless recursion: the only x is 6 / 2.
func.func @main() {
  %a = stablehlo.constant dense<2.0> : tensor<1x1xf32>
  %b = stablehlo.constant dense<6.0> : tensor<1x1xf32>
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false,
    transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  check.expect_eq_const %0, dense<3.0> : tensor<1x1xf32>
  return
}
