// RUN: stablehlo-interp --split-input-file %s

// Steps of one ULP, across powers of two, to and from infinity, through zero.
func.func @f32() {
  %lhs = stablehlo.constant dense<[1.0, 1.0, -1.0, 0.0, -0.0, 0x00000001, 0x7F7FFFFF, 0x7F800000]> : tensor<8xf32>
  %rhs = stablehlo.constant dense<[2.0, 0.0, -2.0, 1.0, -1.0, -1.0, 0x7F800000, 0.0]> : tensor<8xf32>
  %result = chlo.next_after %lhs, %rhs : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  check.expect_eq_const %result, dense<[0x3F800001, 0x3F7FFFFF, 0xBF800001, 0x00000001, 0x80000001, 0.0, 0x7F800000, 0x7F7FFFFF]> : tensor<8xf32>
  func.return
}

// -----

// If the operands are equal, the result is the second, with its sign; NaN in either operand gives NaN.
func.func @equal() {
  %lhs = stablehlo.constant dense<[1.5, 0.0, -0.0, 0x7E00, 1.0]> : tensor<5xf16>
  %rhs = stablehlo.constant dense<[1.5, -0.0, 0.0, 1.0, 0x7E00]> : tensor<5xf16>
  %result = chlo.next_after %lhs, %rhs : tensor<5xf16>, tensor<5xf16> -> tensor<5xf16>
  check.expect_eq_const %result, dense<[1.5, -0.0, 0.0, 0x7E00, 0x7E00]> : tensor<5xf16>
  func.return
}

// -----

// A format without infinities and without -0.
func.func @f8() {
  %lhs = stablehlo.constant dense<[0.0, 0x81, 0x01, 1.0]> : tensor<4xf8E4M3FNUZ>
  %rhs = stablehlo.constant dense<[-1.0, 1.0, -1.0, 2.0]> : tensor<4xf8E4M3FNUZ>
  %result = chlo.next_after %lhs, %rhs : tensor<4xf8E4M3FNUZ>, tensor<4xf8E4M3FNUZ> -> tensor<4xf8E4M3FNUZ>
  check.expect_eq_const %result, dense<[0x81, 0.0, 0.0, 1.125]> : tensor<4xf8E4M3FNUZ>
  func.return
}
