// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %output = stablehlo.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>
  check.expect_eq_const %output, dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>
  func.return
}

// -----

// One value for all elements.
func.func @main() {
  %output = stablehlo.constant dense<7> : tensor<2x3xi8>

  check.expect_eq_const %output, dense<[[7, 7, 7], [7, 7, 7]]> : tensor<2x3xi8>
  func.return
}

// -----

// The bits of all elements in a hexadecimal string.
func.func @main() {
  %output = stablehlo.constant dense<"0x0000803F000000C0"> : tensor<2xf32>

  check.expect_eq_const %output, dense<[1.0, -2.0]> : tensor<2xf32>
  func.return
}

// -----

// Booleans, complex numbers, 4-bit integers, 8-bit floats.
func.func @main() {
  %a = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %b = stablehlo.constant dense<(1.0, -2.0)> : tensor<complex<f32>>
  %c = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  %d = stablehlo.constant dense<[1.5, 0x7F]> : tensor<2xf8E4M3FN>

  check.expect_eq_const %a, dense<[true, false]> : tensor<2xi1>
  check.expect_eq_const %b, dense<(1.0, -2.0)> : tensor<complex<f32>>
  check.expect_eq_const %c, dense<[-8, 7]> : tensor<2xi4>
  check.expect_eq_const %d, dense<[1.5, 0x7F]> : tensor<2xf8E4M3FN>
  func.return
}
