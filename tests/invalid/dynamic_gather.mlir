func.func @C1(%operand: tensor<3x4x1xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<3xi64>) {
  // expected-error@+1 {{(C1): rank(operand) == size(offset_dims) + size(collapsed_slice_dims) + size(operand_batching_dims)}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4x1xf32>, tensor<2x1xi64>, tensor<3xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C2(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C2): 0 <= index_vector_dim <= rank(start_indices)}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C2_negative(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C2): 0 <= index_vector_dim <= rank(start_indices)}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = -1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C3(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C3): size(start_index_map) == index_size(start_indices, index_vector_dim)}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C4(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C4): is_unique(offset_dims) and is_sorted(offset_dims)}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 1], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C4_unique(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C4): is_unique(offset_dims) and is_sorted(offset_dims)}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 1], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C5(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C5): in_range(offset_dims, rank(result))}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C5_negative(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C5): in_range(offset_dims, rank(result))}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [-1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C6(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C6): is_unique(collapsed_slice_dims) and is_sorted(collapsed_slice_dims)}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @C6_sorted(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C6): is_unique(collapsed_slice_dims) and is_sorted(collapsed_slice_dims)}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1, 0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @C7(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C7): in_range(collapsed_slice_dims, rank(operand))}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C7_negative(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C7): in_range(collapsed_slice_dims, rank(operand))}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [-1], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C9(%operand: tensor<3x4xf32>, %start_indices: tensor<2x2xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C9): is_unique(start_index_map)}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x2xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C10(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C10): in_range(start_index_map, rank(operand))}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [2], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C10_negative(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C10): in_range(start_index_map, rank(operand))}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [-1], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C11(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<3xi64>) {
  // expected-error@+1 {{(C11): size(slice_sizes) == rank(operand)}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<3xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C13(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C13): shape(result) == shape(infer())}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<3x4xf32>
  return
}

// -----

func.func @C14(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>) {
  // expected-error@+1 {{(C14): element_type(operand) == element_type(result)}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf64>
  return
}

// -----

func.func @C8(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>) {
  %slice_sizes = stablehlo.constant dense<[2, 4]> : tensor<2xi64>
  // expected-error@+1 {{(C8): all(slice_sizes[d] <= 1 for d in collapsed_slice_dims)}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  %start_indices = stablehlo.constant dense<0> : tensor<2x1xi64>
  %slice_sizes_0 = stablehlo.constant dense<[2, 4]> : tensor<2xi64>
  %slice_sizes = stablehlo.optimization_barrier %slice_sizes_0 : tensor<2xi64>
  // expected-error@+1 {{(C8): all(slice_sizes[d] <= 1 for d in collapsed_slice_dims)}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C12_beyond(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>) {
  %slice_sizes = stablehlo.constant dense<[1, 5]> : tensor<2xi64>
  // expected-error@+1 {{(C12): all(0 <= s <= n for s, n in zip(slice_sizes, shape(operand)))}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x?xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  %start_indices = stablehlo.constant dense<0> : tensor<2x1xi64>
  %slice_sizes_0 = stablehlo.constant dense<[1, 5]> : tensor<2xi64>
  %slice_sizes = stablehlo.optimization_barrier %slice_sizes_0 : tensor<2xi64>
  // expected-error@+1 {{(C12): all(0 <= s <= n for s, n in zip(slice_sizes, shape(operand)))}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x?xf32>
  return
}

// -----

func.func @C12_negative(%operand: tensor<3x4xf32>, %start_indices: tensor<2x1xi64>) {
  %slice_sizes = stablehlo.constant dense<[1, -1]> : tensor<2xi64>
  // expected-error@+1 {{(C12): all(0 <= s <= n for s, n in zip(slice_sizes, shape(operand)))}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x?xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  %start_indices = stablehlo.constant dense<0> : tensor<2x1xi64>
  %slice_sizes_0 = stablehlo.constant dense<[1, -1]> : tensor<2xi64>
  %slice_sizes = stablehlo.optimization_barrier %slice_sizes_0 : tensor<2xi64>
  // expected-error@+1 {{(C12): all(0 <= s <= n for s, n in zip(slice_sizes, shape(operand)))}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x?xf32>
  return
}

// -----

func.func @types(%operand: tensor<3x4x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>, %start_indices: tensor<2x1xi64>, %slice_sizes: tensor<2xi64>, %operand_1: tensor<3x4xf32>, %start_indices_1: tensor<2x1xf32>, %slice_sizes_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or per-tensor quantized tensor, but is tensor<3x4x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00}>>}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  // expected-error@+1 {{operand #1 (start_indices) must be tensor of integer type, but is tensor<2x1xf32>}}
  %1 = "stablehlo.dynamic_gather"(%operand_1, %start_indices_1, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  // expected-error@+1 {{operand #2 (slice_sizes) must be statically shaped 1-dimensional tensor of integer type, but is tensor<2xf32>}}
  %2 = "stablehlo.dynamic_gather"(%operand_1, %start_indices, %slice_sizes_1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<2x4xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<2x4x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %3 = "stablehlo.dynamic_gather"(%operand_1, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // expected-error@+1 {{attribute 'indices_are_sorted' must be a boolean}}
  %4 = "stablehlo.dynamic_gather"(%operand_1, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = "wrong"}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  // expected-error@+1 {{attribute 'dimension_numbers' must be a #stablehlo.gather<...>}}
  %5 = "stablehlo.dynamic_gather"(%operand_1, %start_indices, %slice_sizes) <{dimension_numbers = 1 : i64}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @batching(%operand: tensor<?x?x?xi32>, %start_indices: tensor<?x?xi32>) {
  %slice_sizes = stablehlo.constant dense<[2, 1, 8]> : tensor<3xi32>
  // expected-error@+1 {{(batching): all(slice_sizes[d] <= 1 for d in operand_batching_dims)}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, indices_are_sorted = false}> : (tensor<?x?x?xi32>, tensor<?x?xi32>, tensor<3xi32>) -> tensor<?x?x?xi32>
  return
}

// -----

func.func @batching_dimensions(%operand: tensor<2x2x8xi32>, %start_indices: tensor<2x2x1xi32>, %other: tensor<3x2x1xi32>) {
  %slice_sizes = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  // expected-error@+1 {{(batching): is_sorted(operand_batching_dims) and in_range(operand_batching_dims, rank(operand))}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [1, 0], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>}> : (tensor<2x2x8xi32>, tensor<2x2x1xi32>, tensor<3xi32>) -> tensor<2x2x8xi32>
  // expected-error@+1 {{(batching): is_unique(collapsed_slice_dims + operand_batching_dims)}}
  %1 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2], index_vector_dim = 2>}> : (tensor<2x2x8xi32>, tensor<2x2x1xi32>, tensor<3xi32>) -> tensor<2x2x8xi32>
  // expected-error@+1 {{(batching): is_unique(start_indices_batching_dims)}}
  %2 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 0], start_index_map = [2], index_vector_dim = 2>}> : (tensor<2x2x8xi32>, tensor<2x2x1xi32>, tensor<3xi32>) -> tensor<2x2x8xi32>
  // expected-error@+1 {{(batching): in_range(start_indices_batching_dims, rank(start_indices))}}
  %3 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 3], start_index_map = [2], index_vector_dim = 2>}> : (tensor<2x2x8xi32>, tensor<2x2x1xi32>, tensor<3xi32>) -> tensor<2x2x8xi32>
  // expected-error@+1 {{(batching): index_vector_dim not in start_indices_batching_dims}}
  %4 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 2], start_index_map = [2], index_vector_dim = 2>}> : (tensor<2x2x8xi32>, tensor<2x2x1xi32>, tensor<3xi32>) -> tensor<2x2x8xi32>
  // expected-error@+1 {{(batching): size(operand_batching_dims) == size(start_indices_batching_dims)}}
  %5 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0], start_index_map = [2], index_vector_dim = 2>}> : (tensor<2x2x8xi32>, tensor<2x2x1xi32>, tensor<3xi32>) -> tensor<2x2x8xi32>
  // expected-error@+1 {{(batching): is_unique(start_index_map + operand_batching_dims)}}
  %6 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [1], index_vector_dim = 2>}> : (tensor<2x2x8xi32>, tensor<2x2x1xi32>, tensor<3xi32>) -> tensor<2x2x8xi32>
  // expected-error@+1 {{(batching): dims(operand, operand_batching_dims) == dims(start_indices, start_indices_batching_dims)}}
  %7 = "stablehlo.dynamic_gather"(%operand, %other, %slice_sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>}> : (tensor<2x2x8xi32>, tensor<3x2x1xi32>, tensor<3xi32>) -> tensor<3x2x8xi32>
  return
}

// -----

func.func @without_dimension_numbers(%operand: tensor<f32>, %start_indices: tensor<0xi64>, %slice_sizes: tensor<0xi64>) {
  // expected-error@+1 {{requires attribute 'dimension_numbers'}}
  %0 = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) : (tensor<f32>, tensor<0xi64>, tensor<0xi64>) -> tensor<f32>
  return
}
