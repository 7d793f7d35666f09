// RUN: stablehlo-interp --split-input-file %s

// The hyperbolic sine.
func.func @values() {
  %operand = stablehlo.constant dense<[0.5, -1.0e-09, 10.0, -700.0]> : tensor<4xf64>
  %result = chlo.sinh %operand : tensor<4xf64> -> tensor<4xf64>
  %expected = stablehlo.constant dense<[0.5210953054937474, -1.0e-09, 11013.232874703393, -5.0711602736750225e+303]> : tensor<4xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf64>, tensor<4xf64>
  func.return
}

// -----

// Special values of f32.
func.func @special_values() {
  %operand = stablehlo.constant dense<[-0.0, 0x7F800000, 0xFF800000, 90.0, 0x7FC00000]> : tensor<5xf32>
  %result = chlo.sinh %operand : tensor<5xf32> -> tensor<5xf32>
  check.expect_eq_const %result, dense<[-0.0, 0x7F800000, 0xFF800000, 0x7F800000, 0x7FC00000]> : tensor<5xf32>
  func.return
}

// -----

// Complex numbers.
func.func @complex() {
  %operand = stablehlo.constant dense<[(0.5, 0.25), (-2.0, 1.0), (0.1, -3.0), (1.5, 0.001)]> : tensor<4xcomplex<f64>>
  %result = chlo.sinh %operand : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
  %expected = stablehlo.constant dense<[(0.504895714387995, 0.2789791283502615), (-1.9596010414216058, 3.165778513216168), (-0.0991643309284981, -0.14182619629623516), (2.1292783904551786, 0.0023524092231749978)]> : tensor<4xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 3 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
  func.return
}

// -----

// Empty tensors.
func.func @empty() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %result = chlo.sinh %operand : tensor<0x2xf32> -> tensor<0x2xf32>
  check.expect_eq_const %result, dense<> : tensor<0x2xf32>
  func.return
}
