// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %input0 = stablehlo.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>
  %input1 = stablehlo.constant dense<[[4, 5], [6, 7]]> : tensor<2x2xi64>
  %result = "stablehlo.map"(%input0, %input1) ({
    ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
      %0 = stablehlo.multiply %arg0, %arg1 : tensor<i64>
      stablehlo.return %0 : tensor<i64>
  }) {
    dimensions = array<i64: 0, 1>
  } : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi64>
  check.expect_eq_const %result, dense<[[0, 5], [12, 21]]> : tensor<2x2xi64>
  func.return
}

// -----

// A result of another element type, and a value from above.
func.func @main() {
  %input = stablehlo.constant dense<[1.5, -2.5, 0.0]> : tensor<3xf32>
  %limit = stablehlo.constant dense<1.0> : tensor<f32>
  %result = "stablehlo.map"(%input) ({
    ^bb0(%arg0: tensor<f32>):
      %0 = stablehlo.compare GT, %arg0, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
  }) {
    dimensions = array<i64: 0>
  } : (tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, false]> : tensor<3xi1>
  func.return
}

// -----

// A computation with a loop, one element at a time.
func.func @main() {
  %input = stablehlo.constant dense<[0, 3, 5]> : tensor<3xi32>
  %result = "stablehlo.map"(%input) ({
    ^bb0(%arg0: tensor<i32>):
      %one = stablehlo.constant dense<1> : tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %n, %factorial = stablehlo.while(%i = %arg0, %product = %one) : tensor<i32>, tensor<i32>
      cond {
        %goes_on = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %goes_on : tensor<i1>
      } do {
        %next = stablehlo.multiply %product, %i : tensor<i32>
        %less = stablehlo.subtract %i, %one : tensor<i32>
        stablehlo.return %less, %next : tensor<i32>, tensor<i32>
      }
      stablehlo.return %factorial : tensor<i32>
  }) {
    dimensions = array<i64: 0>
  } : (tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const %result, dense<[1, 6, 120]> : tensor<3xi32>
  func.return
}

// -----

// No elements.
func.func @main() {
  %input = stablehlo.constant dense<[]> : tensor<0xi32>
  %result = "stablehlo.map"(%input) ({
    ^bb0(%arg0: tensor<i32>):
      stablehlo.return %arg0 : tensor<i32>
  }) {
    dimensions = array<i64: 0>
  } : (tensor<0xi32>) -> tensor<0xi32>
  check.expect_eq_const %result, dense<[]> : tensor<0xi32>
  func.return
}
