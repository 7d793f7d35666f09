// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf64>
  %result = stablehlo.exponential %operand : tensor<2x2xf64>
  %expected = stablehlo.constant dense<[[1.0, 2.718281828459045], [7.38905609893065, 20.085536923187668]]> : tensor<2x2xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<2x2xf64>, tensor<2x2xf64>
  func.return
}

// -----

// Other values.
func.func @main() {
  %operand = stablehlo.constant dense<[-1.0, 0.5, 10.0, -100.0]> : tensor<4xf32>
  %result = stablehlo.exponential %operand : tensor<4xf32>
  %expected = stablehlo.constant dense<[0.36787945, 1.6487212, 22026.465, 3.8e-44]> : tensor<4xf32>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

// Special values.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.0, 0xFF800000, 0x7F800000, 0x7FC00000, 100.0, -200.0]> : tensor<6xf32>
  %result = stablehlo.exponential %operand : tensor<6xf32>
  check.expect_eq_const %result, dense<[1.0, 0.0, 0x7F800000, 0x7FC00000, 0x7F800000, 0.0]> : tensor<6xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (-0.5, 0.25)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.exponential %operand : tensor<2xcomplex<f64>>
  %expected = stablehlo.constant dense<[(-1.1312043837568135, 2.4717266720048188), (0.5876750903439226, 0.15005808662216327)]> : tensor<2xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  func.return
}

// -----

// bf16: the exact result is rounded once.
func.func @main() {
  %operand = stablehlo.constant dense<[1.0, -1.0, 3.0]> : tensor<3xbf16>
  %result = stablehlo.exponential %operand : tensor<3xbf16>
  check.expect_eq_const %result, dense<[2.71875, 0.3671875, 20.125]> : tensor<3xbf16>
  func.return
}

// -----

// f16, up to the largest number and beyond.
func.func @main() {
  %operand = stablehlo.constant dense<[1.0, 11.0, 12.0]> : tensor<3xf16>
  %result = stablehlo.exponential %operand : tensor<3xf16>
  check.expect_eq_const %result, dense<[2.71875, 59872.0, 0x7C00]> : tensor<3xf16>
  func.return
}

// -----

// With a result accuracy; results are correctly rounded anyway.
func.func @main() {
  %operand = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf64>
  %result = "stablehlo.exponential"(%operand) {
    result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>
  } : (tensor<2xf64>) -> tensor<2xf64>
  %expected = stablehlo.constant dense<[1.0, 2.718281828459045]> : tensor<2xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<2xf64>, tensor<2xf64>
  func.return
}
