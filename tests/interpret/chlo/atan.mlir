// RUN: stablehlo-interp --split-input-file %s

// The angle whose tangent is the operand.
func.func @values() {
  %operand = stablehlo.constant dense<[0.5, -0.75, 10.0, 1000000000.0]> : tensor<4xf64>
  %result = chlo.atan %operand : tensor<4xf64> -> tensor<4xf64>
  %expected = stablehlo.constant dense<[0.4636476090008061, -0.6435011087932844, 1.4711276743037347, 1.5707963257948967]> : tensor<4xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf64>, tensor<4xf64>
  func.return
}

// -----

// Special values of f32.
func.func @special_values() {
  %operand = stablehlo.constant dense<[-0.0, 0x7FC00000]> : tensor<2xf32>
  %result = chlo.atan %operand : tensor<2xf32> -> tensor<2xf32>
  check.expect_eq_const %result, dense<[-0.0, 0x7FC00000]> : tensor<2xf32>
  func.return
}

// -----

// Complex numbers.
func.func @complex() {
  %operand = stablehlo.constant dense<[(0.5, 0.25), (-2.0, 1.0), (0.1, -3.0), (1.5, 0.001)]> : tensor<4xcomplex<f64>>
  %result = chlo.atan %operand : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
  %expected = stablehlo.constant dense<[(0.4842544903299662, 0.20058661813123432), (-1.1780972450961724, 0.17328679513998632), (1.5583145257433852, -0.3461055714225364), (0.9827938652591466, 0.00030769225185859716)]> : tensor<4xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 3 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
  func.return
}

// -----

// Empty tensors.
func.func @empty() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %result = chlo.atan %operand : tensor<0x2xf32> -> tensor<0x2xf32>
  check.expect_eq_const %result, dense<> : tensor<0x2xf32>
  func.return
}
