// RUN: stablehlo-interp --split-input-file %s

// What each check lets pass. Those that fail are in the unit tests.
func.func @main() {
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %negative_zero = stablehlo.constant dense<-0.0> : tensor<f32>
  check.expect_eq %nan, %nan : tensor<f32>
  check.expect_eq %zero, %negative_zero : tensor<f32>
  check.expect_eq_const %nan, dense<0xFFC00001> : tensor<f32>
  check.expect_almost_eq %nan, %nan : tensor<f32>
  check.expect_almost_eq_const %zero, dense<1.0e-4> : tensor<f32>
  check.expect_almost_eq_const %zero, dense<0.5> : tensor<f32>, tolerance = 5.0e-1
  check.expect_close %zero, %negative_zero, max_ulp_difference = 0 : tensor<f32>, tensor<f32>

  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %next = stablehlo.constant dense<0x3F800001> : tensor<f32>
  check.expect_close %one, %next, max_ulp_difference = 1, min_ulp_difference = 1 : tensor<f32>, tensor<f32>
  check.expect_close %one, %nan, max_ulp_difference = 18446744073709551615, min_ulp_difference = 18446744073709551615 : tensor<f32>, tensor<f32>
  return
}

// -----

// Quantized values are compared as they are stored.
func.func @quantized() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.uniform_quantize %0 : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  check.expect_eq %1, %1 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  check.expect_eq_const %1, dense<[5, 7]> : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  return
}

// -----

// A probe gives its operand back, and keeps it under its name, once each time it is reached.
func.func @probes() {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.while(%i = %zero) : tensor<i32>
    cond {
      %p = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %1 = interpreter.probe %i, probe_id = "i" : tensor<i32>
      %2 = stablehlo.add %1, %one : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }
  check.expect_eq %0, %two : tensor<i32>
  check.expect_serialized_eq %zero, probe_id = "i" : tensor<i32>
  check.expect_serialized_eq %one, probe_id = "i", iter = 1 : tensor<i32>
  return
}
