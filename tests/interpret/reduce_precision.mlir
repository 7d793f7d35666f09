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

// Four exponent bits end at 240 with infinity above, for which f8E4M3FN has NaN; five bits have its whole range.
func.func @main() {
  %operand = stablehlo.constant dense<[240.0, 256.0, -448.0, 0x7F]> : tensor<4xf8E4M3FN>
  %four = stablehlo.reduce_precision %operand, format = e4m3 : tensor<4xf8E4M3FN>
  check.expect_eq_const %four, dense<[240.0, 0x7F, 0xFF, 0x7F]> : tensor<4xf8E4M3FN>
  %five = stablehlo.reduce_precision %operand, format = e5m3 : tensor<4xf8E4M3FN>
  check.expect_eq_const %five, dense<[240.0, 256.0, -448.0, 0x7F]> : tensor<4xf8E4M3FN>
  func.return
}

// -----

// f8E4M3FNUZ has smaller normal numbers than four exponent bits with the bias of IEEE-754.
func.func @main() {
  %operand = stablehlo.constant dense<[0x10, 0x0F, 0x80]> : tensor<3xf8E4M3FNUZ>  // 2^-6, 1.875 * 2^-7, NaN
  %output = stablehlo.reduce_precision %operand, format = e4m3 : tensor<3xf8E4M3FNUZ>
  check.expect_eq_const %output, dense<[0x10, 0.0, 0x80]> : tensor<3xf8E4M3FNUZ>
  func.return
}
