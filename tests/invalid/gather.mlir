func.func @C1(%operand: tensor<2x3x4x1xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C1): rank(operand) == size(offset_dims) + size(collapsed_slice_dims) + size(operand_batching_dims)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3, 1>}> : (tensor<2x3x4x1xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C2(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C2): 0 <= index_vector_dim <= rank(start_indices)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2], index_vector_dim = 4>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3x2xf32>
  return
}

// -----

func.func @C2_negative(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C2): 0 <= index_vector_dim <= rank(start_indices)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = -1>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C3(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C3): size(start_index_map) == index_size(start_indices, index_vector_dim)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C4(%operand: tensor<2x4x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C4): is_unique(offset_dims) and is_sorted(offset_dims)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [3, 2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 3, 3>}> : (tensor<2x4x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3x3xf32>
  return
}

// -----

func.func @C4_unique(%operand: tensor<2x4x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C4): is_unique(offset_dims) and is_sorted(offset_dims)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 3, 3>}> : (tensor<2x4x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3x3xf32>
  return
}

// -----

func.func @C5(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C5): in_range(offset_dims, rank(result))}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [3], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C5_negative(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C5): in_range(offset_dims, rank(result))}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [-1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C6(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C6): is_unique(collapsed_slice_dims + operand_batching_dims)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C7(%operand: tensor<2x3x4x1xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C7): is_sorted(collapsed_slice_dims)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [3, 1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3, 1>}> : (tensor<2x3x4x1xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C8(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C8): in_range(collapsed_slice_dims, rank(operand))}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [3], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C8_negative(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C8): in_range(collapsed_slice_dims, rank(operand))}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [-1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C9(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C9): all(slice_sizes[d] <= 1 for d in collapsed_slice_dims)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C10(%operand: tensor<2x3x4x5xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C10): is_sorted(operand_batching_dims)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [3, 0], start_indices_batching_dims = [1, 0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3, 1>}> : (tensor<2x3x4x5xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C11(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C11): in_range(operand_batching_dims, rank(operand))}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [3], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C11_negative(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C11): in_range(operand_batching_dims, rank(operand))}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [-1], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C12(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C12): all(slice_sizes[d] <= 1 for d in operand_batching_dims)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 2, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C13(%operand: tensor<2x2x4xf32>, %start_indices: tensor<2x5x1xi64>) {
  // expected-error@+1 {{(C13): is_unique(start_indices_batching_dims)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 0], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x2x4xf32>, tensor<2x5x1xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C14(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C14): in_range(start_indices_batching_dims, rank(start_indices))}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [3], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C14_negative(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C14): in_range(start_indices_batching_dims, rank(start_indices))}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [-1], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C15(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C15): index_vector_dim not in start_indices_batching_dims}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C16(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C16): size(operand_batching_dims) == size(start_indices_batching_dims)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C17(%operand: tensor<3x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C17): dims(operand, operand_batching_dims) == dims(start_indices, start_indices_batching_dims)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<3x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C18(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C18): is_unique(start_index_map + operand_batching_dims)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C19(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C19): in_range(start_index_map, rank(operand))}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 3], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C19_negative(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C19): in_range(start_index_map, rank(operand))}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, -1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C20(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C20): size(slice_sizes) == rank(operand)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3, 1>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C20_few(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C20): size(slice_sizes) == rank(operand)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C21(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C21): all(0 <= n <= whole for n, whole in zip(slice_sizes, shape(operand)))}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x5xf32>
  return
}

// -----

func.func @C21_negative(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C21): all(0 <= n <= whole for n, whole in zip(slice_sizes, shape(operand)))}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, -1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @C22(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C22): shape(result) == shape(infer())}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x4xf32>
  return
}

// -----

func.func @C23(%operand: tensor<2x3x4xf32>, %start_indices: tensor<2x5x2xi64>) {
  // expected-error@+1 {{(C23): element_type(operand) == element_type(result)}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf64>
  return
}

// -----

func.func @types(%operand: tensor<2x3x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %start_indices: tensor<2x5x2xi64>, %operand_1: tensor<2x3x4xf32>, %start_indices_1: tensor<2x5x2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or per-tensor quantized tensor, but is tensor<2x3x4x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  // expected-error@+1 {{operand #1 (start_indices) must be tensor of integer type, but is tensor<2x5x2xf32>}}
  %1 = "stablehlo.gather"(%operand_1, %start_indices_1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xf32>) -> tensor<2x5x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<2x5x3x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %2 = "stablehlo.gather"(%operand_1, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // expected-error@+1 {{requires attribute 'slice_sizes'}}
  %3 = "stablehlo.gather"(%operand_1, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  // expected-error@+1 {{attribute 'slice_sizes' must be a list of 64-bit integers}}
  %4 = "stablehlo.gather"(%operand_1, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = "wrong"}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  // expected-error@+1 {{attribute 'indices_are_sorted' must be a boolean}}
  %5 = "stablehlo.gather"(%operand_1, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>, indices_are_sorted = "wrong"}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  // expected-error@+1 {{attribute 'dimension_numbers' must be a #stablehlo.gather<...>}}
  %6 = "stablehlo.gather"(%operand_1, %start_indices) <{dimension_numbers = 1 : i64, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x3x4xf32>, tensor<2x5x2xi64>) -> tensor<2x5x3xf32>
  return
}

// -----

func.func @without_dimension_numbers(%operand: tensor<f32>, %start_indices: tensor<0xi64>) {
  // expected-error@+1 {{requires attribute 'dimension_numbers'}}
  %0 = "stablehlo.gather"(%operand, %start_indices) <{slice_sizes = array<i64>}> : (tensor<f32>, tensor<0xi64>) -> tensor<f32>
  return
}
