// RUN: stablehlo-interp --split-input-file %s

// 64 * 4 = 256, whose upper 8 bits are 1; those of -256 and -1 are -1.
func.func @signed_8() {
  %lhs = stablehlo.constant dense<[64, -64, -1, -128]> : tensor<4xi8>
  %rhs = stablehlo.constant dense<[4, 4, 1, -128]> : tensor<4xi8>
  %result = chlo.mulhi %lhs, %rhs : tensor<4xi8>, tensor<4xi8> -> tensor<4xi8>
  check.expect_eq_const %result, dense<[1, -1, -1, 64]> : tensor<4xi8>
  func.return
}

// -----

func.func @unsigned_4() {
  %lhs = stablehlo.constant dense<[15, 4]> : tensor<2xui4>
  %rhs = stablehlo.constant dense<[15, 3]> : tensor<2xui4>
  %result = chlo.mulhi %lhs, %rhs : tensor<2xui4>, tensor<2xui4> -> tensor<2xui4>
  check.expect_eq_const %result, dense<[14, 0]> : tensor<2xui4>
  func.return
}

// -----

// (2**64 - 1)**2 = 2**128 - 2**65 + 1.
func.func @unsigned_64() {
  %lhs = stablehlo.constant dense<[18446744073709551615, 4294967296, 4294967295]> : tensor<3xui64>
  %rhs = stablehlo.constant dense<[18446744073709551615, 4294967296, 4294967297]> : tensor<3xui64>
  %result = chlo.mulhi %lhs, %rhs : tensor<3xui64>, tensor<3xui64> -> tensor<3xui64>
  check.expect_eq_const %result, dense<[18446744073709551614, 1, 0]> : tensor<3xui64>
  func.return
}

// -----

func.func @signed_64() {
  %lhs = stablehlo.constant dense<[-9223372036854775808, -1, 9223372036854775807, -9223372036854775808]> : tensor<4xi64>
  %rhs = stablehlo.constant dense<[-9223372036854775808, 1, 9223372036854775807, 9223372036854775807]> : tensor<4xi64>
  %result = chlo.mulhi %lhs, %rhs : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  check.expect_eq_const %result, dense<[4611686018427387904, -1, 4611686018427387903, -4611686018427387904]> : tensor<4xi64>
  func.return
}
