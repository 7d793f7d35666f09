// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %pred = stablehlo.constant dense<[[false, true], [true, false]]> : tensor<2x2xi1>
  %on_true = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %on_false = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %result = stablehlo.select %pred, %on_true, %on_false : tensor<2x2xi1>, tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[5, 2], [3, 8]]> : tensor<2x2xi32>
  func.return
}

// -----

// One boolean for all elements.
func.func @main() {
  %pred = stablehlo.constant dense<true> : tensor<i1>
  %on_true = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %on_false = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %result = stablehlo.select %pred, %on_true, %on_false : tensor<i1>, tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  func.return
}

// -----

// NaN and infinity on both sides.
func.func @main() {
  %pred = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %on_true = stablehlo.constant dense<[0x7FC00000, 0x7FC00000]> : tensor<2xf32>
  %on_false = stablehlo.constant dense<[0.0, 0xFF800000]> : tensor<2xf32>
  %result = stablehlo.select %pred, %on_true, %on_false : tensor<2xi1>, tensor<2xf32>
  check.expect_eq_const %result, dense<[0x7FC00000, 0xFF800000]> : tensor<2xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %pred = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %on_true = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f64>>
  %on_false = stablehlo.constant dense<[(5.0, 6.0), (7.0, 8.0)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.select %pred, %on_true, %on_false : tensor<2xi1>, tensor<2xcomplex<f64>>
  check.expect_eq_const %result, dense<[(1.0, 2.0), (7.0, 8.0)]> : tensor<2xcomplex<f64>>
  func.return
}

// -----

// 4-bit integers.
func.func @main() {
  %pred = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %on_true = stablehlo.constant dense<[-8, 1]> : tensor<2xi4>
  %on_false = stablehlo.constant dense<[7, -1]> : tensor<2xi4>
  %result = stablehlo.select %pred, %on_true, %on_false : tensor<2xi1>, tensor<2xi4>
  check.expect_eq_const %result, dense<[-8, -1]> : tensor<2xi4>
  func.return
}
