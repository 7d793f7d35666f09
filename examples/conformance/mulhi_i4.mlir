// XLA on CPUs returns 0: the product 7 * 6 = 42 is 2 * 16 + 10.
func.func @main() {
  %x = stablehlo.constant dense<7> : tensor<1xi4>
  %y = stablehlo.constant dense<6> : tensor<1xi4>
  %given:2 = stablehlo.optimization_barrier %x, %y : tensor<1xi4>, tensor<1xi4>
  %0 = chlo.mulhi %given#0, %given#1 : tensor<1xi4>, tensor<1xi4> -> tensor<1xi4>
  check.expect_eq_const %0, dense<2> : tensor<1xi4>
  return
}
