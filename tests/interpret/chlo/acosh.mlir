// RUN: stablehlo-interp --split-input-file %s

// The number whose hyperbolic cosine is the operand.
func.func @values() {
  %operand = stablehlo.constant dense<[1.5, 1.0000001, 10.0, 1.0e+300]> : tensor<4xf64>
  %result = chlo.acosh %operand : tensor<4xf64> -> tensor<4xf64>
  %expected = stablehlo.constant dense<[0.9624236501192069, 0.0004472135919037347, 2.993222846126381, 691.4686750787737]> : tensor<4xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf64>, tensor<4xf64>
  func.return
}

// -----

// Special values of f32.
func.func @special_values() {
  %operand = stablehlo.constant dense<[1.0, 0.5, -2.0, 0x7F800000, 0x7FC00000]> : tensor<5xf32>
  %result = chlo.acosh %operand : tensor<5xf32> -> tensor<5xf32>
  check.expect_eq_const %result, dense<[0.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 0x7FC00000]> : tensor<5xf32>
  func.return
}

// -----

// Complex numbers.
func.func @complex() {
  %operand = stablehlo.constant dense<[(0.5, 0.25), (-2.0, 1.0), (0.1, -3.0), (1.5, 0.001)]> : tensor<4xcomplex<f64>>
  %result = chlo.acosh %operand : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
  %expected = stablehlo.constant dense<[(0.2813960562452928, 1.0691874735193958), (1.4693517443681852, 2.6342363503726487), (1.81892062306286, -1.5391825065417164), (0.9624241867748775, 0.0008944266662701902)]> : tensor<4xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 3 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
  func.return
}

// -----

// Empty tensors.
func.func @empty() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %result = chlo.acosh %operand : tensor<0x2xf32> -> tensor<0x2xf32>
  check.expect_eq_const %result, dense<> : tensor<0x2xf32>
  func.return
}
