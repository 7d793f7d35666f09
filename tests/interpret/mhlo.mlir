// RUN: stablehlo-interp --split-input-file %s

// Ops of mhlo are those of StableHLO, in the forms in which mhlo is printed.
#dot = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>
func.func @main() {
  %a = mhlo.constant dense<[[1.0, -2.0, 3.0], [0.5, 0.25, 4.0]]> : tensor<2x3xf32>
  %two = mhlo.constant dense<2.0> : tensor<f32>
  %b = "mhlo.broadcast_in_dim"(%two) <{broadcast_dimensions = dense<> : tensor<0xi64>}> : (tensor<f32>) -> tensor<2x3xf32>
  %zero = mhlo.constant dense<0.0> : tensor<f32>
  %0 = mhlo.compare LT, %a, %b, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  check.expect_eq_const %0, dense<[[true, true, false], [true, true, false]]> : tensor<2x3xi1>
  %1 = "mhlo.compare"(%a, %b) <{comparison_direction = #mhlo<comparison_direction GT>, compare_type = #mhlo<comparison_type TOTALORDER>}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  check.expect_eq_const %1, dense<[[false, false, true], [false, false, true]]> : tensor<2x3xi1>
  %2 = mhlo.reduce(%a init: %zero) applies mhlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %2, dense<[2.0, 4.75]> : tensor<2xf32>
  %3 = mhlo.reduce(%a init: %zero) across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %m = mhlo.maximum %x, %y : tensor<f32>
    %n = mhlo.add %m, %zero : tensor<f32>
    mhlo.return %n : tensor<f32>
  }
  check.expect_eq_const %3, dense<[1.0, 0.25, 4.0]> : tensor<3xf32>
  %4 = "mhlo.transpose"(%a) <{permutation = dense<[1, 0]> : tensor<2xi64>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %5 = "mhlo.dot_general"(%a, %4) <{dot_dimension_numbers = #dot, precision_config = [#mhlo<precision DEFAULT>, #mhlo<precision HIGHEST>]}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %5, dense<[[14.0, 12.0], [12.0, 16.3125]]> : tensor<2x2xf32>
  %6 = "mhlo.slice"(%a) <{limit_indices = dense<[2, 3]> : tensor<2xi64>, start_indices = dense<[0, 1]> : tensor<2xi64>, strides = dense<[1, 2]> : tensor<2xi64>}> : (tensor<2x3xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %6, dense<[[-2.0], [0.25]]> : tensor<2x1xf32>
  %7 = mhlo.custom_call @mhlo.erf(%zero) {custom_call_schedule = #mhlo<custom_call_schedule LATEST>} : (tensor<f32>) -> tensor<f32>
  check.expect_eq_const %7, dense<0.0> : tensor<f32>
  %8 = mhlo.select %0, %a, %b : tensor<2x3xi1>, tensor<2x3xf32>
  check.expect_eq_const %8, dense<[[1.0, -2.0, 2.0], [0.5, 0.25, 2.0]]> : tensor<2x3xf32>
  func.return
}

// -----

// Control flow, tokens, tuples.
func.func @main() {
  %zero = mhlo.constant dense<0> : tensor<i32>
  %five = mhlo.constant dense<5> : tensor<i32>
  %0:2 = mhlo.while(%i = %zero, %sum = %zero) : tensor<i32>, tensor<i32>
   cond {
    %1 = mhlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    mhlo.return %1 : tensor<i1>
  } do {
    %one = mhlo.constant dense<1> : tensor<i32>
    %1 = mhlo.add %i, %one : tensor<i32>
    %2 = mhlo.add %sum, %1 : tensor<i32>
    mhlo.return %1, %2 : tensor<i32>, tensor<i32>
  }
  check.expect_eq_const %0#1, dense<15> : tensor<i32>
  %3 = mhlo.create_token : !mhlo.token
  %4 = mhlo.after_all %3, %3 : !mhlo.token
  %5 = mhlo.tuple %0#0, %0#1 {xla_shape = "(s32[], s32[])"} : tuple<tensor<i32>, tensor<i32>>
  %6 = mhlo.get_tuple_element %5[0] : (tuple<tensor<i32>, tensor<i32>>) -> tensor<i32>
  check.expect_eq_const %6, dense<5> : tensor<i32>
  func.return
}

// -----

// Ops that CHLO has instead.
func.func @main() {
  %a = mhlo.constant dense<[[1.0, -2.0, 3.0], [0.5, 0.25, 4.0]]> : tensor<2x3xf32>
  %v, %i = mhlo.topk(%a, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
  check.expect_eq_const %i, dense<[[2, 0], [2, 0]]> : tensor<2x2xi32>
  %w:2 = "mhlo.topk"(%a) <{k = 1 : i64, largest = true}> : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi32>)
  check.expect_eq_const %w#0, dense<[[3.0], [4.0]]> : tensor<2x1xf32>
  %zero = mhlo.constant dense<0.0> : tensor<f64>
  %0 = mhlo.erf %zero : tensor<f64>
  %1 = mhlo.asinh %0 {note = "x"} : tensor<f64>
  %2 = mhlo.sinh %1 : tensor<f64>
  %3 = "mhlo.atanh"(%2) : (tensor<f64>) -> tensor<f64>
  %4 = mhlo.tan %3 : tensor<f64>
  check.expect_eq_const %4, dense<0.0> : tensor<f64>
  %5 = mhlo.cosh %4 : tensor<f64>
  %6 = mhlo.acosh %5 : tensor<f64>
  check.expect_eq_const %6, dense<0.0> : tensor<f64>
  func.return
}
