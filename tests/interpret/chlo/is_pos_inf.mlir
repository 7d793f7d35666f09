// RUN: stablehlo-interp --split-input-file %s

func.func @bf16() {
  %operand = stablehlo.constant dense<[0x7F80, 0xFF80, 0x7FC0, 1.0]> : tensor<4xbf16>
  %result = chlo.is_pos_inf %operand : tensor<4xbf16> -> tensor<4xi1>
  check.expect_eq_const %result, dense<[true, false, false, false]> : tensor<4xi1>
  func.return
}

// -----

// A format without infinities has none.
func.func @f8() {
  %operand = stablehlo.constant dense<[0x7F, 0x7E]> : tensor<2xf8E4M3FN>
  %result = chlo.is_pos_inf %operand : tensor<2xf8E4M3FN> -> tensor<2xi1>
  check.expect_eq_const %result, dense<[false, false]> : tensor<2xi1>
  func.return
}
