// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %input0 = stablehlo.constant dense<[[1, 2, 3], [3, 2, 1]]> : tensor<2x3xi64>
  %input1 = stablehlo.constant dense<[[3, 2, 1], [1, 2, 3]]> : tensor<2x3xi64>
  %result0, %result1 = "stablehlo.sort"(%input0, %input1) ({
    ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>, %arg2: tensor<i64>, %arg3: tensor<i64>):
      %predicate = "stablehlo.compare"(%arg0, %arg1) {
        comparison_direction = #stablehlo<comparison_direction GT>
      } : (tensor<i64>, tensor<i64>) -> tensor<i1>
      "stablehlo.return"(%predicate) : (tensor<i1>) -> ()
  }) {
    dimension = 0 : i64,
    is_stable = true
  } : (tensor<2x3xi64>, tensor<2x3xi64>) -> (tensor<2x3xi64>, tensor<2x3xi64>)
  check.expect_eq_const %result0, dense<[[3, 2, 3], [1, 2, 1]]> : tensor<2x3xi64>
  check.expect_eq_const %result1, dense<[[1, 2, 1], [3, 2, 3]]> : tensor<2x3xi64>
  func.return
}

// -----

// Along the last dimension; stable, so that 1, 3 and 0, 2 keep their order.
func.func @main() {
  %keys = stablehlo.constant dense<[[2, 1, 2, 1], [0, 0, 0, -1]]> : tensor<2x4xi32>
  %index = stablehlo.iota dim = 1 : tensor<2x4xui8>
  %result:2 = "stablehlo.sort"(%keys, %index) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<ui8>, %d: tensor<ui8>):
      %0 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
  }) {dimension = -1 : i64, is_stable = true} : (tensor<2x4xi32>, tensor<2x4xui8>) -> (tensor<2x4xi32>, tensor<2x4xui8>)
  check.expect_eq_const %result#0, dense<[[1, 1, 2, 2], [-1, 0, 0, 0]]> : tensor<2x4xi32>
  check.expect_eq_const %result#1, dense<[[1, 3, 0, 2], [3, 0, 1, 2]]> : tensor<2x4xui8>
  func.return
}

// -----

// By TOTALORDER: -NaN, -inf, -0, 0, inf, NaN.
func.func @main() {
  %input = stablehlo.constant dense<[0x7FC00000, 0.0, 0x7F800000, -0.0, 0xFF800000, 0xFFC00000]> : tensor<6xf32>
  %result = "stablehlo.sort"(%input) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<6xf32>) -> tensor<6xf32>
  %bits = stablehlo.bitcast_convert %result : (tensor<6xf32>) -> tensor<6xui32>
  check.expect_eq_const %bits, dense<[0xFFC00000, 0xFF800000, 0x80000000, 0x00000000, 0x7F800000, 0x7FC00000]> : tensor<6xui32>
  func.return
}

// -----

// By one key, then by a second key in descending order.
func.func @main() {
  %first = stablehlo.constant dense<[2, 1, 2, 1, 2]> : tensor<5xi32>
  %second = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 2.0]> : tensor<5xf32>
  %result:2 = "stablehlo.sort"(%first, %second) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>):
      %0 = stablehlo.compare GT, %c, %d, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %2 = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %3 = stablehlo.and %2, %0 : tensor<i1>
      %4 = stablehlo.or %1, %3 : tensor<i1>
      stablehlo.return %4 : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<5xi32>, tensor<5xf32>) -> (tensor<5xi32>, tensor<5xf32>)
  check.expect_eq_const %result#0, dense<[1, 1, 2, 2, 2]> : tensor<5xi32>
  check.expect_eq_const %result#1, dense<[4.0, 2.0, 3.0, 2.0, 1.0]> : tensor<5xf32>
  func.return
}

// -----

// Any comparator: odd numbers first, then in descending order.
func.func @main() {
  %input = stablehlo.constant dense<[1, 2, 3, 4, 5, 6, 7]> : tensor<7xi32>
  %result = "stablehlo.sort"(%input) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0 = stablehlo.and %a, %one : tensor<i32>
      %1 = stablehlo.and %b, %one : tensor<i32>
      %2 = stablehlo.compare EQ, %0, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %3 = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %4 = stablehlo.compare GT, %0, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.select %2, %3, %4 : tensor<i1>, tensor<i1>
      stablehlo.return %5 : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<7xi32>) -> tensor<7xi32>
  check.expect_eq_const %result, dense<[7, 5, 3, 1, 6, 4, 2]> : tensor<7xi32>
  func.return
}

// -----

// Nothing to sort.
func.func @main() {
  %input = stablehlo.constant dense<> : tensor<2x0xi32>
  %result = "stablehlo.sort"(%input) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %0 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<2x0xi32>) -> tensor<2x0xi32>
  check.expect_eq_const %result, dense<> : tensor<2x0xi32>
  func.return
}

// -----

// Quantized: 1.0, -0.5, 2.5 with scale 0.5.
func.func @main() {
  %stored = stablehlo.constant dense<[2, -1, 5]> : tensor<3xi8>
  %input = stablehlo.bitcast_convert %stored : (tensor<3xi8>) -> tensor<3x!quant.uniform<i8:f32, 0.5>>
  %sorted = "stablehlo.sort"(%input) ({
    ^bb0(%a: tensor<!quant.uniform<i8:f32, 0.5>>, %b: tensor<!quant.uniform<i8:f32, 0.5>>):
      %0 = stablehlo.compare GT, %a, %b : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<3x!quant.uniform<i8:f32, 0.5>>) -> tensor<3x!quant.uniform<i8:f32, 0.5>>
  %result = stablehlo.uniform_dequantize %sorted : (tensor<3x!quant.uniform<i8:f32, 0.5>>) -> tensor<3xf32>
  check.expect_eq_const %result, dense<[2.5, 1.0, -0.5]> : tensor<3xf32>
  func.return
}
