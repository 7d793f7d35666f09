// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[0x7FF0000000000000, 0x7FFFFFFFFFFFFFFF, 0x0000000000000001, 0.0, 65519.0, 65520.0]> : tensor<6xf64>
  %output = stablehlo.reduce_precision %operand, format = e5m10 : tensor<6xf64>
  check.expect_eq_const %output, dense<[0x7FF0000000000000, 0x7FFFFFFFFFFFFFFF, 0.0, 0.0, 65504.0, 0x7FF0000000000000]> : tensor<6xf64>
  func.return
}

// -----

// Ties go to even.
func.func @main() {
  %operand = stablehlo.constant dense<[1.00390625, 1.01171875, -1.00390625]> : tensor<3xf32>
  %output = stablehlo.reduce_precision %operand, format = e8m7 : tensor<3xf32>
  check.expect_eq_const %output, dense<[1.0, 1.015625, -1.0]> : tensor<3xf32>
  func.return
}

// -----

// Fewer mantissa bits alone keep subnormal numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[0x00000001, 0x00400000]> : tensor<2xf32>
  %output = stablehlo.reduce_precision %operand, format = e8m10 : tensor<2xf32>
  check.expect_eq_const %output, dense<[0.0, 0x00400000]> : tensor<2xf32>
  func.return
}

// -----

// Formats of more bits change nothing.
func.func @main() {
  %operand = stablehlo.constant dense<[3.140625, 0x7C00]> : tensor<2xf16>
  %output = stablehlo.reduce_precision %operand, format = e8m23 : tensor<2xf16>
  check.expect_eq_const %output, dense<[3.140625, 0x7C00]> : tensor<2xf16>
  func.return
}

// -----

// Without mantissa bits, ties go to even exponents, which are those of 2, 8, ...
func.func @main() {
  %operand = stablehlo.constant dense<[1.25, 1.75, 1.5, 3.0]> : tensor<4xbf16>
  %output = stablehlo.reduce_precision %operand, format = e8m0 : tensor<4xbf16>
  check.expect_eq_const %output, dense<[1.0, 2.0, 2.0, 2.0]> : tensor<4xbf16>
  func.return
}

// -----

// Without mantissa bits there is no NaN, and infinity takes its place.
func.func @main() {
  %operand = stablehlo.constant dense<[0x7FC00000, 0xFFC00000, -1.0, 0x7F800000]> : tensor<4xf32>
  %output = stablehlo.reduce_precision %operand, format = e8m0 : tensor<4xf32>
  check.expect_eq_const %output, dense<[0x7F800000, 0xFF800000, -1.0, 0x7F800000]> : tensor<4xf32>
  func.return
}

// -----

// The exponents of a type fit its own number of exponent bits; three bits end at 15.5, and NaN stands for infinity.
func.func @main() {
  %operand = stablehlo.constant dense<[15.0, 16.0, 240.0, 256.0, -448.0, 0x7F]> : tensor<6xf8E4M3FN>
  %four = stablehlo.reduce_precision %operand, format = e4m3 : tensor<6xf8E4M3FN>
  check.expect_eq_const %four, dense<[15.0, 16.0, 240.0, 256.0, -448.0, 0x7F]> : tensor<6xf8E4M3FN>
  %three = stablehlo.reduce_precision %operand, format = e3m3 : tensor<6xf8E4M3FN>
  check.expect_eq_const %three, dense<[15.0, 0x7F, 0x7F, 0x7F, 0xFF, 0x7F]> : tensor<6xf8E4M3FN>
  func.return
}

// -----

// So do those of f8E4M3FNUZ, whose bias is not that of IEEE-754; three bits begin at 0.25.
func.func @main() {
  %operand = stablehlo.constant dense<[0x01, 0x10, 0x0F, 0.25, 0.234375, 0x80]> : tensor<6xf8E4M3FNUZ>
  %four = stablehlo.reduce_precision %operand, format = e4m3 : tensor<6xf8E4M3FNUZ>
  check.expect_eq_const %four, dense<[0x01, 0x10, 0x0F, 0.25, 0.234375, 0x80]> : tensor<6xf8E4M3FNUZ>
  %three = stablehlo.reduce_precision %operand, format = e3m3 : tensor<6xf8E4M3FNUZ>
  check.expect_eq_const %three, dense<[0.0, 0.0, 0.0, 0.25, 0.0, 0x80]> : tensor<6xf8E4M3FNUZ>
  func.return
}
