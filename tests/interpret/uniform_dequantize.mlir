// RUN: stablehlo-interp --split-input-file %s

// (10 + 30) * 0.1 = 4; (10 + 20) * 0.5 = 15
func.func @per_axis() {
  %i = stablehlo.constant dense<[10, 10]> : tensor<2xi8>
  %q = stablehlo.bitcast_convert %i : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32:0, {0.1:-30,0.5:-20}>>
  %0 = stablehlo.uniform_dequantize %q : (tensor<2x!quant.uniform<i8:f32:0, {0.1:-30,0.5:-20}>>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[4.0, 15.0]> : tensor<2xf32>
  return
}

// -----

// 100 + 60 exceeds the range of the storage type; the difference does not wrap.
func.func @the_difference_is_wide() {
  %i = stablehlo.constant dense<[100, -128]> : tensor<2xi8>
  %q = stablehlo.bitcast_convert %i : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 0.5:-60>>
  %0 = stablehlo.uniform_dequantize %q : (tensor<2x!quant.uniform<i8:f32, 0.5:-60>>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[80.0, -34.0]> : tensor<2xf32>
  return
}
