// RUN: stablehlo-interp --split-input-file %s

// A token for when all others are there.
func.func @main() {
  %token0 = stablehlo.after_all  : !stablehlo.token
  %token1 = stablehlo.after_all %token0 : !stablehlo.token
  %result = stablehlo.after_all %token0, %token1 : !stablehlo.token
  %done = stablehlo.constant dense<true> : tensor<i1>
  check.expect_eq_const %done, dense<true> : tensor<i1>
  func.return
}
