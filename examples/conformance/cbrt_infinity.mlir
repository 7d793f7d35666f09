// IREE returns NaN: the cube root of infinity is infinity.
func.func @main() {
  %x = stablehlo.constant dense<[0x7F800000, 0xFF800000]> : tensor<2xf32>
  %given = stablehlo.optimization_barrier %x : tensor<2xf32>
  %0 = stablehlo.cbrt %given : tensor<2xf32>
  check.expect_eq_const %0, dense<[0x7F800000, 0xFF800000]> : tensor<2xf32>
  return
}
