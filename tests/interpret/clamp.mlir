// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %min = stablehlo.constant dense<[5, 10, 15]> : tensor<3xi32>
  %operand = stablehlo.constant dense<[3, 13, 23]> : tensor<3xi32>
  %max = stablehlo.constant dense<[10, 15, 20]> : tensor<3xi32>
  %result = stablehlo.clamp %min, %operand, %max : tensor<3xi32>
  check.expect_eq_const %result, dense<[5, 13, 20]> : tensor<3xi32>
  func.return
}

// -----

// Bounds of rank 0.
func.func @main() {
  %min = stablehlo.constant dense<-1.0> : tensor<f32>
  %operand = stablehlo.constant dense<[[-2.0, 0.5], [0x7FC00000, 7.0]]> : tensor<2x2xf32>
  %max = stablehlo.constant dense<1.0> : tensor<f32>
  %result = stablehlo.clamp %min, %operand, %max : (tensor<f32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  check.expect_eq_const %result, dense<[[-1.0, 0.5], [0x7FC00000, 1.0]]> : tensor<2x2xf32>
  func.return
}

// -----

// One bound of rank 0; if min exceeds max, the result is max.
func.func @main() {
  %min = stablehlo.constant dense<5> : tensor<i8>
  %operand = stablehlo.constant dense<[1, 6, 9]> : tensor<3xi8>
  %max = stablehlo.constant dense<[3, 7, 2]> : tensor<3xi8>
  %result = stablehlo.clamp %min, %operand, %max : (tensor<i8>, tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
  check.expect_eq_const %result, dense<[3, 6, 2]> : tensor<3xi8>
  func.return
}

// -----

// Booleans.
func.func @main() {
  %min = stablehlo.constant dense<[false, true, true]> : tensor<3xi1>
  %operand = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %max = stablehlo.constant dense<[true, true, false]> : tensor<3xi1>
  %result = stablehlo.clamp %min, %operand, %max : tensor<3xi1>
  check.expect_eq_const %result, dense<[true, true, false]> : tensor<3xi1>
  func.return
}

// -----

// Complex numbers, in lexicographic order.
func.func @main() {
  %min = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %operand = stablehlo.constant dense<[(-1.0, 5.0), (1.0, 9.0), (1.0, -9.0)]> : tensor<3xcomplex<f32>>
  %max = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  %result = stablehlo.clamp %min, %operand, %max : (tensor<complex<f32>>, tensor<3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
  check.expect_eq_const %result, dense<[(0.0, 0.0), (1.0, 2.0), (1.0, -9.0)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

// -0 is below +0.
func.func @main() {
  %min = stablehlo.constant dense<0.0> : tensor<f32>
  %operand = stablehlo.constant dense<[-0.0, 0.0, -1.0]> : tensor<3xf32>
  %max = stablehlo.constant dense<6.0> : tensor<f32>
  %result = stablehlo.clamp %min, %operand, %max : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %bits = stablehlo.bitcast_convert %result : (tensor<3xf32>) -> tensor<3xui32>
  check.expect_eq_const %bits, dense<[0, 0, 0]> : tensor<3xui32>
  func.return
}
