func.func @main() {
  %x = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %exp = stablehlo.exponential %x : tensor<2xf32>
  check.expect_almost_eq_const %exp, dense<[1.0, 2.718282]> : tensor<2xf32>
  return
}
