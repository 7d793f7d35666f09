// RUN: stablehlo-interp --split-input-file %s

// The angle whose sine is the operand.
func.func @values() {
  %operand = stablehlo.constant dense<[0.5, -0.75, 0.1, 1.0e-09]> : tensor<4xf64>
  %result = chlo.asin %operand : tensor<4xf64> -> tensor<4xf64>
  %expected = stablehlo.constant dense<[0.5235987755982989, -0.848062078981481, 0.1001674211615598, 1.0e-09]> : tensor<4xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf64>, tensor<4xf64>
  func.return
}

// -----

// Special values of f32.
func.func @special_values() {
  %operand = stablehlo.constant dense<[-0.0, 1.5, -1.5, 0xFF800000, 0x7FC00000]> : tensor<5xf32>
  %result = chlo.asin %operand : tensor<5xf32> -> tensor<5xf32>
  check.expect_eq_const %result, dense<[-0.0, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000]> : tensor<5xf32>
  func.return
}

// -----

// Complex numbers.
func.func @complex() {
  %operand = stablehlo.constant dense<[(0.5, 0.25), (-2.0, 1.0), (0.1, -3.0), (1.5, 0.001)]> : tensor<4xcomplex<f64>>
  %result = chlo.asin %operand : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
  %expected = stablehlo.constant dense<[(0.5016088532755008, 0.2813960562452928), (-1.0634400235777521, 1.4693517443681852), (0.03161382025318021, -1.81892062306286), (1.5699019001286265, 0.9624241867748775)]> : tensor<4xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
  func.return
}

// -----

// Empty tensors.
func.func @empty() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %result = chlo.asin %operand : tensor<0x2xf32> -> tensor<0x2xf32>
  check.expect_eq_const %result, dense<> : tensor<0x2xf32>
  func.return
}
