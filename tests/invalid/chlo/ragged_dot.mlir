func.func @C1(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C1): size(lhs_batching_dimensions) == size(rhs_batching_dimensions)}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C2(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C2): size(lhs_contracting_dimensions) == size(rhs_contracting_dimensions)}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C3(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C3): are_different(lhs_batching_dimensions + lhs_contracting_dimensions, rank(lhs))}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [2], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C3_beyond(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C3): are_different(lhs_batching_dimensions + lhs_contracting_dimensions, rank(lhs))}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C3_negative(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C3): are_different(lhs_batching_dimensions + lhs_contracting_dimensions, rank(lhs))}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [-1], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C4(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C4): are_different(rhs_batching_dimensions + rhs_contracting_dimensions + rhs_group_dimensions, rank(rhs))}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C4_beyond(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C4): are_different(rhs_batching_dimensions + rhs_contracting_dimensions + rhs_group_dimensions, rank(rhs))}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [4], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C5(%lhs: tensor<2x5x4xf32>, %rhs: tensor<3x3x4x6xf32>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C5): dims(lhs, lhs_batching_dimensions) == dims(rhs, rhs_batching_dimensions)}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<3x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C6(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x5x6xf32>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C6): dims(lhs, lhs_contracting_dimensions) == dims(rhs, rhs_contracting_dimensions)}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x5x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C7(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C7): size(lhs_ragged_dimensions) == 1 and in_range(lhs_ragged_dimensions, rank(lhs))}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C7_beyond(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C7): size(lhs_ragged_dimensions) == 1 and in_range(lhs_ragged_dimensions, rank(lhs))}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [3], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C8(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x1x3xi64>) {
  // expected-error@+1 {{(C8): rank(group_sizes) in (1, 1 + size(before))}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x1x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C9(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<3x3xi64>) {
  // expected-error@+1 {{(C9): rank(group_sizes) == 1 or shape(group_sizes)[:-1] == dims(lhs, before)}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<3x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C10(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C10): size(rhs_group_dimensions) == is_result_dimension}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C11(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x4xi64>) {
  // expected-error@+1 {{(C11): all(dim(rhs, d) == dim(group_sizes, rank(group_sizes) - 1) for d in rhs_group_dimensions)}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x4xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C12(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C12): size(precision_config) in (0, 2)}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>, precision_config = [#chlo<precision DEFAULT>]}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C13(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf64>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C13): element_type(lhs) == element_type(rhs)}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf64>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @C13_result(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C13): is_complex(lhs) == is_complex(result)}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xcomplex<f32>>
  return
}

// -----

func.func @C14(%lhs: tensor<2x5x4xf32>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x3xi64>) {
  // expected-error@+1 {{(C14): shape(result) == shape(infer())}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x5xf32>
  return
}

// -----

func.func @types(%lhs: tensor<2x5x4x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<2x3x4x6xf32>, %group_sizes: tensor<2x3xi64>, %lhs_1: tensor<2x5x4xf32>, %rhs_1: tensor<2x3x4x6x!quant.uniform<i8:f32, 1.0>>, %group_sizes_1: tensor<2x3xf32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor, but is tensor<2x5x4x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4x!quant.uniform<i8:f32, 1.0>>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor, but is tensor<2x3x4x6x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %1 = "chlo.ragged_dot"(%lhs_1, %rhs_1, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6x!quant.uniform<i8:f32, 1.0>>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  // expected-error@+1 {{operand #2 (group_sizes) must be tensor of integer type, but is tensor<2x3xf32>}}
  %2 = "chlo.ragged_dot"(%lhs_1, %rhs, %group_sizes_1) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xf32>) -> tensor<2x5x6xf32>
  // expected-error@+1 {{result #0 (result) must be tensor, but is tensor<2x5x6x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %3 = "chlo.ragged_dot"(%lhs_1, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6x!quant.uniform<i8:f32, 1.0>>
  // expected-error@+1 {{attribute 'precision_config' must be a list of precision: one of DEFAULT, HIGH, HIGHEST}}
  %4 = "chlo.ragged_dot"(%lhs_1, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>, precision_config = 1 : i64}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  // expected-error@+1 {{attribute 'ragged_dot_dimension_numbers' must be a #chlo.ragged_dot<...>}}
  %5 = "chlo.ragged_dot"(%lhs_1, %rhs, %group_sizes) <{ragged_dot_dimension_numbers = 1 : i64}> : (tensor<2x5x4xf32>, tensor<2x3x4x6xf32>, tensor<2x3xi64>) -> tensor<2x5x6xf32>
  return
}
