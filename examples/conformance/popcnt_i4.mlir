// XLA on CPUs counts 8 bits, which is -8 in i4: -1 has four.
func.func @main() {
  %x = stablehlo.constant dense<-1> : tensor<1xi4>
  %given = stablehlo.optimization_barrier %x : tensor<1xi4>
  %0 = stablehlo.popcnt %given : tensor<1xi4>
  check.expect_eq_const %0, dense<4> : tensor<1xi4>
  return
}
