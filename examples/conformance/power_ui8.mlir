// XLA on CPUs returns 1: 0 to a power of 64 or more, of unsigned integers of 8 bits. 0 to any positive power is 0.
func.func @main() {
  %base = stablehlo.constant dense<0> : tensor<1xui8>
  %exponent = stablehlo.constant dense<64> : tensor<1xui8>
  %given:2 = stablehlo.optimization_barrier %base, %exponent : tensor<1xui8>, tensor<1xui8>
  %0 = stablehlo.power %given#0, %given#1 : tensor<1xui8>
  check.expect_eq_const %0, dense<0> : tensor<1xui8>
  return
}
