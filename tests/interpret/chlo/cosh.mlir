// RUN: stablehlo-interp --split-input-file %s

// The hyperbolic cosine.
func.func @values() {
  %operand = stablehlo.constant dense<[0.5, -1.0e-09, 10.0, -700.0]> : tensor<4xf64>
  %result = chlo.cosh %operand : tensor<4xf64> -> tensor<4xf64>
  %expected = stablehlo.constant dense<[1.1276259652063807, 1.0, 11013.232920103323, 5.0711602736750225e+303]> : tensor<4xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf64>, tensor<4xf64>
  func.return
}

// -----

// Special values of f32.
func.func @special_values() {
  %operand = stablehlo.constant dense<[-0.0, 0x7F800000, 0xFF800000, 90.0, 0x7FC00000]> : tensor<5xf32>
  %result = chlo.cosh %operand : tensor<5xf32> -> tensor<5xf32>
  check.expect_eq_const %result, dense<[1.0, 0x7F800000, 0x7F800000, 0x7F800000, 0x7FC00000]> : tensor<5xf32>
  func.return
}

// -----

// Complex numbers.
func.func @complex() {
  %operand = stablehlo.constant dense<[(0.5, 0.25), (-2.0, 1.0), (0.1, -3.0), (1.5, 0.001)]> : tensor<4xcomplex<f64>>
  %result = chlo.cosh %operand : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
  %expected = stablehlo.constant dense<[(1.0925708047319176, 0.12892104172809826), (2.0327230070196656, -3.0518977991518), (-0.9949465854274187, -0.014135532570131094), (2.3524084390385376, 0.002129279100214926)]> : tensor<4xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 3 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
  func.return
}

// -----

// Empty tensors.
func.func @empty() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %result = chlo.cosh %operand : tensor<0x2xf32> -> tensor<0x2xf32>
  check.expect_eq_const %result, dense<> : tensor<0x2xf32>
  func.return
}
