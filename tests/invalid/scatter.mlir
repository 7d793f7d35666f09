func.func @C1(%inputs0: tensor<2x3x4xf32>, %inputs1: tensor<2x3x5xi32>, %scatter_indices: tensor<2x5x2xi64>, %updates0: tensor<2x5x3xf32>, %updates1: tensor<2x5x3xi32>) {
  // expected-error@+1 {{(C1): same(map(shape, inputs))}}
  %0:2 = "stablehlo.scatter"(%inputs0, %inputs1, %scatter_indices, %updates0, %updates1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %a1: tensor<i32>, %b0: tensor<f32>, %b1: tensor<i32>):
      stablehlo.return %a0, %a1 : tensor<f32>, tensor<i32>
  }) : (tensor<2x3x4xf32>, tensor<2x3x5xi32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>, tensor<2x5x3xi32>) -> (tensor<2x3x4xf32>, tensor<2x3x5xi32>)
  return
}

// -----

func.func @C2(%inputs: tensor<2x3x4x1xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C2): rank(inputs[0]) == size(update_window_dims) + size(inserted_window_dims) + size(input_batching_dims)}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4x1xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4x1xf32>
  return
}

// -----

func.func @C3(%inputs0: tensor<2x3x4xf32>, %inputs1: tensor<2x3x4xi32>, %scatter_indices: tensor<2x5x2xi64>, %updates0: tensor<2x5x3xf32>, %updates1: tensor<2x5x2xi32>) {
  // expected-error@+1 {{(C3): same(map(shape, updates))}}
  %0:2 = "stablehlo.scatter"(%inputs0, %inputs1, %scatter_indices, %updates0, %updates1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %a1: tensor<i32>, %b0: tensor<f32>, %b1: tensor<i32>):
      stablehlo.return %a0, %a1 : tensor<f32>, tensor<i32>
  }) : (tensor<2x3x4xf32>, tensor<2x3x4xi32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>, tensor<2x5x2xi32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xi32>)
  return
}

// -----

func.func @C4(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x6x3xf32>) {
  // expected-error@+1 {{(C4): shape(updates[0]) == combine(update_scatter_dim_sizes, update_window_dim_sizes, update_window_dims)}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x6x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C4_window(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x5xf32>) {
  // expected-error@+1 {{(C4): all(n <= whole for n, whole in zip(update_window_dim_sizes, without(shape(inputs[0]), inserted_window_dims + input_batching_dims)))}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x5xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C5(%scatter_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C5): 0 < size(inputs) == size(updates)}}
  "stablehlo.scatter"(%scatter_indices) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    stablehlo.return
  }) : (tensor<2x5x2xi64>) -> ()
  return
}

// -----

func.func @C6(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf64>) {
  // expected-error@+1 {{(C6): all(element_type(u) == element_type(x) for u, x in zip(updates, inputs))}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf64>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C7(%inputs: tensor<2x4x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3x3xf32>) {
  // expected-error@+1 {{(C7): is_unique(update_window_dims) and is_sorted(update_window_dims)}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3, 2], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x4x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3x3xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @C7_unique(%inputs: tensor<2x4x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3x3xf32>) {
  // expected-error@+1 {{(C7): is_unique(update_window_dims) and is_sorted(update_window_dims)}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 2], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x4x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3x3xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @C8(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C8): in_range(update_window_dims, rank(updates[0]))}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C8_negative(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C8): in_range(update_window_dims, rank(updates[0]))}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [-1], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C9(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C9): is_unique(inserted_window_dims + input_batching_dims)}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C10(%inputs: tensor<2x3x4x1xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C10): is_sorted(inserted_window_dims)}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [3, 1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4x1xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4x1xf32>
  return
}

// -----

func.func @C11(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C11): in_range(inserted_window_dims, rank(inputs[0]))}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [3], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C11_negative(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C11): in_range(inserted_window_dims, rank(inputs[0]))}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [-1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C12(%inputs: tensor<2x3x4x5xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C12): is_sorted(input_batching_dims)}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [3, 0], scatter_indices_batching_dims = [1, 0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4x5xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4x5xf32>
  return
}

// -----

func.func @C13(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C13): in_range(input_batching_dims, rank(inputs[0]))}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [3], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C13_negative(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C13): in_range(input_batching_dims, rank(inputs[0]))}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [-1], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C14(%inputs: tensor<2x2x4xf32>, %scatter_indices: tensor<2x5x1xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C14): is_unique(scatter_indices_batching_dims)}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 0], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x2x4xf32>, tensor<2x5x1xi64>, tensor<2x5x3xf32>) -> tensor<2x2x4xf32>
  return
}

// -----

func.func @C15(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C15): in_range(scatter_indices_batching_dims, rank(scatter_indices))}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [3], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C15_negative(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C15): in_range(scatter_indices_batching_dims, rank(scatter_indices))}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [-1], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C16(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C16): index_vector_dim not in scatter_indices_batching_dims}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [2], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C17(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C17): size(input_batching_dims) == size(scatter_indices_batching_dims)}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C18(%inputs: tensor<3x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C18): dims(inputs[0], input_batching_dims) == dims(scatter_indices, scatter_indices_batching_dims)}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<3x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<3x3x4xf32>
  return
}

// -----

func.func @C19(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C19): size(scatter_dims_to_operand_dims) == index_size(scatter_indices, index_vector_dim)}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C20(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C20): is_unique(scatter_dims_to_operand_dims + input_batching_dims)}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C21(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C21): in_range(scatter_dims_to_operand_dims, rank(inputs[0]))}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 3], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C21_negative(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C21): in_range(scatter_dims_to_operand_dims, rank(inputs[0]))}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, -1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C22(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3x2xf32>) {
  // expected-error@+1 {{(C22): 0 <= index_vector_dim <= rank(scatter_indices)}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2], index_vector_dim = 4>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3x2xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C22_negative(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C22): 0 <= index_vector_dim <= rank(scatter_indices)}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = -1>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C23(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C23): update_computation.inputs == scalars(E + E) and update_computation.outputs == scalars(E) and size(E) == size(inputs) and all(map(is_promotable, inputs, E))}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<i32>, %b0: tensor<i32>):
      stablehlo.return %a0 : tensor<i32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xi32>
  return
}

// -----

func.func @C23_size(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C23): update_computation.inputs == scalars(E + E) and update_computation.outputs == scalars(E) and size(E) == size(inputs) and all(map(is_promotable, inputs, E))}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %a1: tensor<f32>, %b0: tensor<f32>, %b1: tensor<f32>):
      stablehlo.return %a0, %a1 : tensor<f32>, tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C24(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C24): tuple(map(shape, results)) == tuple(map(shape, inputs))}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C25(%inputs: tensor<2x3x4xf32>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>) {
  // expected-error@+1 {{(C25): tuple(map(element_type, results)) == E}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf64>
  return
}

// -----

func.func @types(%inputs: tensor<2x3x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %scatter_indices: tensor<2x5x2xi64>, %updates: tensor<2x5x3xf32>, %inputs_1: tensor<2x3x4xf32>, %scatter_indices_1: tensor<2x5x2xf32>, %updates_1: tensor<2x5x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{operand #0 (inputs) must be tensor or per-tensor quantized tensor, but is tensor<2x3x4x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{operand #1 (scatter_indices) must be tensor of integer type, but is tensor<2x5x2xf32>}}
  %1 = "stablehlo.scatter"(%inputs_1, %scatter_indices_1, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xf32>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{operand #2 (updates) must be tensor or per-tensor quantized tensor, but is tensor<2x5x3x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %2 = "stablehlo.scatter"(%inputs_1, %scatter_indices, %updates_1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{result #0 (results) must be tensor or per-tensor quantized tensor, but is tensor<2x3x4x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %3 = "stablehlo.scatter"(%inputs_1, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // expected-error@+1 {{attribute 'indices_are_sorted' must be a boolean}}
  %4 = "stablehlo.scatter"(%inputs_1, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>, indices_are_sorted = "wrong"}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{attribute 'unique_indices' must be a boolean}}
  %5 = "stablehlo.scatter"(%inputs_1, %scatter_indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>, unique_indices = "wrong"}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{attribute 'scatter_dimension_numbers' must be a #stablehlo.scatter<...>}}
  %6 = "stablehlo.scatter"(%inputs_1, %scatter_indices, %updates) <{scatter_dimension_numbers = 1 : i64}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<2x3x4xf32>, tensor<2x5x2xi64>, tensor<2x5x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @without_dimension_numbers(%input: tensor<f32>, %scatter_indices: tensor<0xi64>) {
  // expected-error@+1 {{requires attribute 'scatter_dimension_numbers'}}
  %0 = "stablehlo.scatter"(%input, %scatter_indices, %input) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<f32>, tensor<0xi64>, tensor<f32>) -> tensor<f32>
  return
}
