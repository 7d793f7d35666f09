// RUN: stablehlo-interp --split-input-file %s

// The number whose hyperbolic tangent is the operand.
func.func @values() {
  %operand = stablehlo.constant dense<[0.5, -1.0e-09, 0.999, -0.25]> : tensor<4xf64>
  %result = chlo.atanh %operand : tensor<4xf64> -> tensor<4xf64>
  %expected = stablehlo.constant dense<[0.5493061443340549, -1.0e-09, 3.8002011672501994, -0.25541281188299536]> : tensor<4xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf64>, tensor<4xf64>
  func.return
}

// -----

// Special values of f32.
func.func @special_values() {
  %operand = stablehlo.constant dense<[-0.0, 1.0, -1.0, 1.5, 0x7FC00000]> : tensor<5xf32>
  %result = chlo.atanh %operand : tensor<5xf32> -> tensor<5xf32>
  check.expect_eq_const %result, dense<[-0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FC00000]> : tensor<5xf32>
  func.return
}

// -----

// Complex numbers.
func.func @complex() {
  %operand = stablehlo.constant dense<[(0.5, 0.25), (-2.0, 1.0), (0.1, -3.0)]> : tensor<3xcomplex<f64>>
  %result = chlo.atanh %operand : tensor<3xcomplex<f64>> -> tensor<3xcomplex<f64>>
  %expected = stablehlo.constant dense<[(0.5003700000525311, 0.3143981432077165), (-0.40235947810852507, 1.3389725222944935), (0.009991339649825619, -1.2493455325541871)]> : tensor<3xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 3 : tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>
  func.return
}

// -----

// Empty tensors.
func.func @empty() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %result = chlo.atanh %operand : tensor<0x2xf32> -> tensor<0x2xf32>
  check.expect_eq_const %result, dense<> : tensor<0x2xf32>
  func.return
}
