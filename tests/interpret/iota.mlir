// RUN: stablehlo-interp --split-input-file %s

// The spec's first example.
func.func @main() {
  %output = stablehlo.iota dim = 0 : tensor<4x5xi32>
  check.expect_eq_const %output, dense<[[0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [2, 2, 2, 2, 2], [3, 3, 3, 3, 3]]> : tensor<4x5xi32>
  func.return
}

// -----

// The spec's second example.
func.func @main() {
  %output = stablehlo.iota dim = 1 : tensor<4x5xi32>
  check.expect_eq_const %output, dense<[[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]> : tensor<4x5xi32>
  func.return
}

// -----

// Floats: integers that are not representable are rounded to even.
func.func @main() {
  %output = stablehlo.iota dim = 0 : tensor<10xf8E5M2>
  check.expect_eq_const %output, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 8.0]> : tensor<10xf8E5M2>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %output = stablehlo.iota dim = 0 : tensor<3xcomplex<f64>>
  check.expect_eq_const %output, dense<[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]> : tensor<3xcomplex<f64>>
  func.return
}

// -----

// Unsigned 4-bit integers.
func.func @main() {
  %output = stablehlo.iota dim = 1 : tensor<1x4xui4>
  check.expect_eq_const %output, dense<[[0, 1, 2, 3]]> : tensor<1x4xui4>
  func.return
}

// -----

// No elements.
func.func @main() {
  %output = stablehlo.iota dim = 0 : tensor<0xf32>
  check.expect_eq_const %output, dense<[]> : tensor<0xf32>
  func.return
}
