// RUN: stablehlo-interp --split-input-file %s

// Checks that hold. Those that fail are in the unit tests.
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

// Quantized values are compared in stored form.
func.func @quantized() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.uniform_quantize %0 : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  check.expect_eq %1, %1 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  check.expect_eq_const %1, dense<[5, 7]> : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  return
}

// -----

// A probe returns its operand, and records it under its name each time it is reached.
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

// -----

// All element types, down to 1 bit: NaN equals NaN and 0 equals -0; complex numbers part by part.
func.func @element_types() {
  %a = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  check.expect_eq_const %a, dense<[true, false]> : tensor<2xi1>
  %b = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  check.expect_eq %b, %b : tensor<2xi4>
  %c = stablehlo.constant dense<[0x7F, 0xFF, 0x80]> : tensor<3xf8E4M3FN>
  check.expect_eq_const %c, dense<[0xFF, 0x7F, 0x00]> : tensor<3xf8E4M3FN>
  %d = stablehlo.constant dense<[(0x7FC00000, -0.0), (1.0, 2.0)]> : tensor<2xcomplex<f32>>
  check.expect_eq_const %d, dense<[(0xFFC00000, 0.0), (1.0, 2.0)]> : tensor<2xcomplex<f32>>
  check.expect_almost_eq_const %d, dense<[(0x7FC00000, 0.0), (1.00005, 1.99995)]> : tensor<2xcomplex<f32>>
  check.expect_close %d, %d, max_ulp_difference = 0 : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>
  %e = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  check.expect_eq_const %e, dense<18446744073709551615> : tensor<ui64>
  %f = stablehlo.constant dense<> : tensor<2x0xf64>
  check.expect_eq_const %f, dense<> : tensor<2x0xf64>
  check.expect_almost_eq %f, %f : tensor<2x0xf64>
  return
}

// -----

// ULPs are counted across 0 and across powers of two; infinities, and NaNs, have distance 0 from themselves.
func.func @units_in_the_last_place() {
  %x = stablehlo.constant dense<[0x00000001, 1.0, 0x7F800000]> : tensor<3xf32>
  %y = stablehlo.constant dense<[0x80000001, 0x3F7FFFFE, 0x7F800000]> : tensor<3xf32>
  check.expect_close %x, %y, max_ulp_difference = 2 : tensor<3xf32>, tensor<3xf32>
  return
}
