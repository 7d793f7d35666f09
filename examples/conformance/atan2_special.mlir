// IREE returns NaN for both. These are pi / 4 and 0, by IEEE 754.
func.func @main() {
  %value = stablehlo.constant dense<[0x7F800000, 0.0]> : tensor<2xf32>
  %given = stablehlo.optimization_barrier %value : tensor<2xf32>
  %0 = stablehlo.atan2 %given, %given : tensor<2xf32>
  check.expect_almost_eq_const %0, dense<[0.785398185, 0.0]> : tensor<2xf32>
  return
}
