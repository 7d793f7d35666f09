// RUN: stablehlo-interp --split-input-file %s

// Updates of the same element accumulate.
func.func @add() {
  %input = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %scatter_indices = stablehlo.constant dense<[[1], [3], [1]]> : tensor<3x1xi32>
  %update = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>
  %result = "stablehlo.scatter"(%input, %scatter_indices, %update) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %0 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %0 : tensor<i32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  } : (tensor<4xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<4xi32>
  check.expect_eq_const %result, dense<[1, 42, 3, 24]> : tensor<4xi32>
  func.return
}

// -----

// Updates are applied in order: the last one that overwrites an element wins.
func.func @overwrite() {
  %input = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %scatter_indices = stablehlo.constant dense<[1, 3, 1]> : tensor<3xi32>
  %update = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>
  %result = "stablehlo.scatter"(%input, %scatter_indices, %update) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      stablehlo.return %b : tensor<i32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  } : (tensor<4xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<4xi32>
  check.expect_eq_const %result, dense<[1, 30, 3, 20]> : tensor<4xi32>
  func.return
}

// -----

// A body for which the order matters, 2 a + b: ((1 * 2 + 5) * 2 + 6) = 20.
func.func @any_body() {
  %input = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %scatter_indices = stablehlo.constant dense<[1, 0, 1]> : tensor<3xi64>
  %update = stablehlo.constant dense<[5.0, 7.0, 6.0]> : tensor<3xf32>
  %result = "stablehlo.scatter"(%input, %scatter_indices, %update) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.add %a, %a : tensor<f32>
      %1 = stablehlo.add %0, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  } : (tensor<2xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<[7.0, 20.0]> : tensor<2xf32>
  func.return
}

// -----

// A window that is partly out of bounds updates the elements in bounds.
func.func @out_of_bounds() {
  %input = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %scatter_indices = stablehlo.constant dense<[[1, 1], [-1, 0], [0, 9]]> : tensor<3x2xi32>
  %update = stablehlo.constant dense<[[[10, 20], [30, 40]], [[50, 60], [70, 80]], [[90, 90], [90, 90]]]> : tensor<3x2x2xi32>
  %result = "stablehlo.scatter"(%input, %scatter_indices, %update) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %0 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %0 : tensor<i32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>
  } : (tensor<2x3xi32>, tensor<3x2xi32>, tensor<3x2x2xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %result, dense<[[71, 82, 3], [4, 15, 26]]> : tensor<2x3xi32>
  func.return
}

// -----

// One window, at a scalar index.
func.func @one_window() {
  %input = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %scatter_index = stablehlo.constant dense<3> : tensor<i32>
  %update = stablehlo.constant dense<[7, 8]> : tensor<2xi32>
  %result = "stablehlo.scatter"(%input, %scatter_index, %update) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      stablehlo.return %b : tensor<i32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>,
    unique_indices = true, indices_are_sorted = true
  } : (tensor<4xi32>, tensor<i32>, tensor<2xi32>) -> tensor<4xi32>
  check.expect_eq_const %result, dense<[1, 2, 3, 7]> : tensor<4xi32>
  check.expect_eq_const %input, dense<[1, 2, 3, 4]> : tensor<4xi32>
  func.return
}

// -----

// Each row of the input has its own indices.
func.func @batching_dims() {
  %input = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf64>
  %scatter_indices = stablehlo.constant dense<[[2, 0], [1, 1]]> : tensor<2x2xi32>
  %update = stablehlo.constant dense<[[10.0, -10.0], [0.0, 7.0]]> : tensor<2x2xf64>
  %result = "stablehlo.scatter"(%input, %scatter_indices, %update) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %0 = stablehlo.maximum %a, %b : tensor<f64>
      stablehlo.return %0 : tensor<f64>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0],
      scatter_dims_to_operand_dims = [1], index_vector_dim = 2>
  } : (tensor<2x3xf64>, tensor<2x2xi32>, tensor<2x2xf64>) -> tensor<2x3xf64>
  check.expect_eq_const %result, dense<[[1.0, 2.0, 10.0], [4.0, 7.0, 6.0]]> : tensor<2x3xf64>
  func.return
}

// -----

// Two inputs whose new values depend on each other: the larger update and its index.
func.func @several_inputs() {
  %values = stablehlo.constant dense<[0.0, 0.0]> : tensor<2xf32>
  %places = stablehlo.constant dense<-1> : tensor<2xi32>
  %scatter_indices = stablehlo.constant dense<[0, 1, 0, 0]> : tensor<4xi32>
  %new_values = stablehlo.constant dense<[1.0, 2.0, 5.0, 3.0]> : tensor<4xf32>
  %new_places = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %result:2 = "stablehlo.scatter"(%values, %places, %scatter_indices, %new_values, %new_places) ({
    ^bb0(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>):
      %greater = stablehlo.compare GT, %b, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %0 = stablehlo.select %greater, %b, %a : tensor<i1>, tensor<f32>
      %1 = stablehlo.select %greater, %j, %i : tensor<i1>, tensor<i32>
      stablehlo.return %0, %1 : tensor<f32>, tensor<i32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  } : (tensor<2xf32>, tensor<2xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xi32>) -> (tensor<2xf32>, tensor<2xi32>)
  check.expect_eq_const %result#0, dense<[5.0, 2.0]> : tensor<2xf32>
  check.expect_eq_const %result#1, dense<[2, 1]> : tensor<2xi32>
  func.return
}

// -----

// Updates are added in the element type of the body: 100 + 100 does not fit in i8.
func.func @promotion() {
  %input = stablehlo.constant dense<[100, 1]> : tensor<2xi8>
  %scatter_indices = stablehlo.constant dense<[[0]]> : tensor<1x1xi32>
  %update = stablehlo.constant dense<[100]> : tensor<1xi8>
  %result = "stablehlo.scatter"(%input, %scatter_indices, %update) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %0 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %0 : tensor<i32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  } : (tensor<2xi8>, tensor<1x1xi32>, tensor<1xi8>) -> tensor<2xi32>
  check.expect_eq_const %result, dense<[200, 1]> : tensor<2xi32>
  func.return
}

// -----

// NaN wins and +0 is greater than -0, in any order.
func.func @maximum_of_special_values() {
  %input = stablehlo.constant dense<[-0.0, 0.0, 1.0]> : tensor<3xf32>
  %scatter_indices = stablehlo.constant dense<[0, 1, 2]> : tensor<3xi32>
  %update = stablehlo.constant dense<[0.0, -0.0, 0x7FC00000]> : tensor<3xf32>
  %result = "stablehlo.scatter"(%input, %scatter_indices, %update) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %0 : tensor<f32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  } : (tensor<3xf32>, tensor<3xi32>, tensor<3xf32>) -> tensor<3xf32>
  %bits = stablehlo.bitcast_convert %result : (tensor<3xf32>) -> tensor<3xui32>
  check.expect_eq_const %bits, dense<[0, 0, 0x7FC00000]> : tensor<3xui32>
  func.return
}

// -----

func.func @no_updates() {
  %input = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %scatter_indices = stablehlo.constant dense<> : tensor<0x1xi32>
  %update = stablehlo.constant dense<> : tensor<0xi32>
  %result = "stablehlo.scatter"(%input, %scatter_indices, %update) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      stablehlo.return %b : tensor<i32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  } : (tensor<2xi32>, tensor<0x1xi32>, tensor<0xi32>) -> tensor<2xi32>
  check.expect_eq_const %result, dense<[1, 2]> : tensor<2xi32>
  func.return
}
