// RUN: stablehlo-interp --split-input-file %s

// 4.0 / 0.1 - 30 = 10; 15.0 / 0.5 - 20 = 10
func.func @per_axis() {
  %x = stablehlo.constant dense<[4.0, 15.0]> : tensor<2xf32>
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32:0, {0.1:-30,0.5:-20}>>
  %1 = stablehlo.bitcast_convert %0 : (tensor<2x!quant.uniform<i8:f32:0, {0.1:-30,0.5:-20}>>) -> tensor<2xi8>
  check.expect_eq_const %1, dense<[10, 10]> : tensor<2xi8>
  return
}

// -----

// Ties round to even; numbers out of range are clamped to the range of the storage type.
func.func @per_tensor() {
  %x = stablehlo.constant dense<[0.25, 0.75, -0.25, 1000.0, -1000.0]> : tensor<5xf32>
  %0 = stablehlo.uniform_quantize %x : (tensor<5xf32>) -> tensor<5x!quant.uniform<i8:f32, 0.5>>
  %1 = stablehlo.bitcast_convert %0 : (tensor<5x!quant.uniform<i8:f32, 0.5>>) -> tensor<5xi8>
  check.expect_eq_const %1, dense<[0, 2, 0, 127, -128]> : tensor<5xi8>
  return
}

// -----

// 10 and 10 stand for 4.0 and 15.0; 4.0 / 0.1 - 20 = 20, 15.0 / 0.2 - 30 = 45.
func.func @to_other_parameters() {
  %i = stablehlo.constant dense<[10, 10]> : tensor<2xi8>
  %q = stablehlo.bitcast_convert %i : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32:0, {0.1:-30,0.5:-20}>>
  %0 = stablehlo.uniform_quantize %q : (tensor<2x!quant.uniform<i8:f32:0, {0.1:-30,0.5:-20}>>) -> tensor<2x!quant.uniform<i8:f32:0, {0.1:-20,0.2:-30}>>
  %1 = stablehlo.bitcast_convert %0 : (tensor<2x!quant.uniform<i8:f32:0, {0.1:-20,0.2:-30}>>) -> tensor<2xi8>
  check.expect_eq_const %1, dense<[20, 45]> : tensor<2xi8>
  return
}
