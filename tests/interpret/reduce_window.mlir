// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %input = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %init_value = stablehlo.constant dense<0> : tensor<i64>
  %result = "stablehlo.reduce_window"(%input, %init_value) ({
    ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
      %0 = "stablehlo.add"(%arg0, %arg1) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%0) : (tensor<i64>) -> ()
  }) {
    window_dimensions = array<i64: 2, 1>,
    window_strides = array<i64: 4, 1>,
    base_dilations = array<i64: 2, 1>,
    window_dilations = array<i64: 3, 1>,
    padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>
  } : (tensor<3x2xi64>, tensor<i64>) -> tensor<2x2xi64>
  check.expect_eq_const %result, dense<[[0, 0], [3, 4]]> : tensor<2x2xi64>
  func.return
}

// -----

// Windows of 3 at every second element; omitted attributes have their defaults.
func.func @main() {
  %input = stablehlo.constant dense<[5.0, 1.0, 2.0, 0x7FC00000, 3.0, 4.0, 1.0]> : tensor<7xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %result = "stablehlo.reduce_window"(%input, %low) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %0 : tensor<f32>
  }) {window_dimensions = array<i64: 3>, window_strides = array<i64: 2>} : (tensor<7xf32>, tensor<f32>) -> tensor<3xf32>
  check.expect_eq_const %result, dense<[5.0, 0x7FC00000, 4.0]> : tensor<3xf32>
  func.return
}

// -----

// Negative padding removes elements: 2 + 3, 3 + 4.
func.func @main() {
  %input = stablehlo.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %result = "stablehlo.reduce_window"(%input, %zero) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %0 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %0 : tensor<i32>
  }) {window_dimensions = array<i64: 2>, padding = dense<-1> : tensor<1x2xi64>} : (tensor<5xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %result, dense<[5, 7]> : tensor<2xi32>
  func.return
}

// -----

// Cumulative sums, forward and in reverse.
func.func @main() {
  %input = stablehlo.constant dense<[[1, 2, 3, 4], [10, 20, 30, 40]]> : tensor<2x4xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %upto = "stablehlo.reduce_window"(%input, %zero) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %0 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %0 : tensor<i32>
  }) {window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>}
    : (tensor<2x4xi32>, tensor<i32>) -> tensor<2x4xi32>
  %from = "stablehlo.reduce_window"(%input, %zero) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %0 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %0 : tensor<i32>
  }) {window_dimensions = array<i64: 1, 4>, padding = dense<[[0, 0], [0, 3]]> : tensor<2x2xi64>}
    : (tensor<2x4xi32>, tensor<i32>) -> tensor<2x4xi32>
  check.expect_eq_const %upto, dense<[[1, 3, 6, 10], [10, 30, 60, 100]]> : tensor<2x4xi32>
  check.expect_eq_const %from, dense<[[10, 9, 7, 4], [100, 90, 70, 40]]> : tensor<2x4xi32>
  func.return
}

// -----

// Several inputs at once, promoted to the types of the body.
func.func @main() {
  %input0 = stablehlo.constant dense<[100, 100, 50]> : tensor<3xi8>
  %input1 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %zero0 = stablehlo.constant dense<0> : tensor<i8>
  %zero1 = stablehlo.constant dense<0.0> : tensor<f32>
  %result:2 = "stablehlo.reduce_window"(%input0, %input1, %zero0, %zero1) ({
    ^bb0(%a: tensor<i16>, %b: tensor<f32>, %c: tensor<i16>, %d: tensor<f32>):
      %0 = stablehlo.add %a, %c : tensor<i16>
      %1 = stablehlo.maximum %b, %d : tensor<f32>
      stablehlo.return %0, %1 : tensor<i16>, tensor<f32>
  }) {window_dimensions = array<i64: 2>} : (tensor<3xi8>, tensor<3xf32>, tensor<i8>, tensor<f32>) -> (tensor<2xi16>, tensor<2xf32>)
  check.expect_eq_const %result#0, dense<[200, 150]> : tensor<2xi16>
  check.expect_eq_const %result#1, dense<[2.0, 3.0]> : tensor<2xf32>
  func.return
}

// -----

// No window fits.
func.func @main() {
  %input = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %result = "stablehlo.reduce_window"(%input, %zero) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %0 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %0 : tensor<i32>
  }) {window_dimensions = array<i64: 3>} : (tensor<2xi32>, tensor<i32>) -> tensor<0xi32>
  check.expect_eq_const %result, dense<> : tensor<0xi32>
  func.return
}

// -----

// A body that is not associative is folded from the left, beginning with the init value; padding is the init value.
func.func @main() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %init = stablehlo.constant dense<10> : tensor<i32>
  %result = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 3>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %0 = stablehlo.subtract %a, %b : tensor<i32>
    stablehlo.return %0 : tensor<i32>
  }) : (tensor<4xi32>, tensor<i32>) -> tensor<3xi32>
  check.expect_eq_const %result, dense<[-3, 4, 1]> : tensor<3xi32>
  func.return
}

// -----

// The body returns its right-hand side, which is padding in all windows but the first.
func.func @element_and_all_after_it_of_last_elements() {
  %x = stablehlo.iota dim = 0 : tensor<129xi32>
  %init = stablehlo.constant dense<-5> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{
    window_dimensions = array<i64: 129>,
    padding = dense<[[0, 128]]> : tensor<1x2xi64>
  }> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      stablehlo.return %b : tensor<i32>
  }) : (tensor<129xi32>, tensor<i32>) -> tensor<129xi32>
  %padded = stablehlo.slice %0 [1:129] : (tensor<129xi32>) -> tensor<128xi32>
  check.expect_eq_const %padded, dense<-5> : tensor<128xi32>
  func.return
}
