func.func @C1(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C1): size(lhs_batching_dimensions) == size(rhs_batching_dimensions)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C2(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C2): size(lhs_contracting_dimensions) == size(rhs_contracting_dimensions)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C3(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C3): is_unique(lhs_batching_dimensions + lhs_contracting_dimensions)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [2], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C4(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C4): is_unique(rhs_batching_dimensions + rhs_contracting_dimensions)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C5(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C5): in_range(lhs_batching_dimensions, rank(lhs))}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [3], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C5_negative(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C5): in_range(lhs_batching_dimensions, rank(lhs))}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [-1], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C6(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C6): in_range(lhs_contracting_dimensions, rank(lhs))}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C6_negative(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C6): in_range(lhs_contracting_dimensions, rank(lhs))}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [-1], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C7(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C7): in_range(rhs_batching_dimensions, rank(rhs))}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [3], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C7_negative(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C7): in_range(rhs_batching_dimensions, rank(rhs))}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [-1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C8(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C8): in_range(rhs_contracting_dimensions, rank(rhs))}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C8_negative(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C8): in_range(rhs_contracting_dimensions, rank(rhs))}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [-1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C9(%lhs: tensor<2x3x4xf32>, %rhs: tensor<3x4x5xf32>) {
  // expected-error@+1 {{(C9): dims(lhs, lhs_batching_dimensions) == dims(rhs, rhs_batching_dimensions)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<3x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C10(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x3x5xf32>) {
  // expected-error@+1 {{(C10): dims(lhs, lhs_contracting_dimensions) == dims(rhs, rhs_contracting_dimensions)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C11(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C11): size(precision_config) <= 2}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C12(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C12): shape(result) == shape(infer())}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C13(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xcomplex<f32>>) {
  // expected-error@+1 {{(C13): element_type(lhs) == element_type(rhs) or is_mixed_precision(lhs, rhs, result)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xcomplex<f32>>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C14(%lhs: tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C14): is_quantized(lhs) == is_quantized(result) and is_quantized(rhs)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C14_rhs(%lhs: tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C14): is_quantized(lhs) == is_quantized(result) and is_quantized(rhs)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, tensor<2x4x5xf32>) -> tensor<2x3x5x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @C15(%lhs: tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<2x4x5x!quant.uniform<i8:f32, 1.0:1>>) {
  // expected-error@+1 {{(C15): all(zero_point == 0 for zero_point in zero_points(rhs))}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, tensor<2x4x5x!quant.uniform<i8:f32, 1.0:1>>) -> tensor<2x3x5x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @C16(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5x!quant.uniform<i8:f32:1, {1.0, 1.0, 1.0, 1.0}>>) {
  // expected-error@+1 {{(C16): quantization_dimension(rhs) not in rhs_contracting_dimensions}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5x!quant.uniform<i8:f32:1, {1.0, 1.0, 1.0, 1.0}>>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C17(%lhs: tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<2x4x5x!quant.uniform<i16:f32, 1.0>>) {
  // expected-error@+1 {{(C17): storage_type(lhs) == storage_type(rhs)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, tensor<2x4x5x!quant.uniform<i16:f32, 1.0>>) -> tensor<2x3x5x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @C18(%lhs: tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C18): expressed_type(lhs) == expressed_type(rhs) == expressed_type(result)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x3x5x!quant.uniform<i8:f16, 1.0>>
  return
}

// -----

func.func @C18_rhs(%lhs: tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<2x4x5x!quant.uniform<i8:f16, 1.0>>) {
  // expected-error@+1 {{(C18): expressed_type(lhs) == expressed_type(rhs) == expressed_type(result)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, tensor<2x4x5x!quant.uniform<i8:f16, 1.0>>) -> tensor<2x3x5x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @C19(%lhs: tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C19): is_per_tensor_quantized(result) or is_per_axis_quantized(rhs)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4x!quant.uniform<i8:f32, 1.0>>, tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x3x5x!quant.uniform<i8:f32:0, {1.0, 1.0}>>
  return
}

// -----

func.func @C20(%lhs: tensor<2x3x4xf64>, %rhs: tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C20): element_type(lhs) == expressed_type(rhs) == element_type(result)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf64>, tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C20_result(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C20): element_type(lhs) == expressed_type(rhs) == element_type(result)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x3x5xf64>
  return
}

// -----

func.func @C21(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C21): all(precision == Precision.DEFAULT for precision in precision_config)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @algorithm(%lhs: tensor<2xf32>, %rhs: tensor<2xf32>) {
  // expected-error@+1 {{(Algorithm): None not in (lhs_precision_type, rhs_precision_type, accumulation_type)}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  return
}

// -----

func.func @C22(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C22): lhs_component_count is not None and 0 < lhs_component_count}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 0, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C23(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C23): rhs_component_count is not None and 0 < rhs_component_count}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 0, num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @C24(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // expected-error@+1 {{(C24): num_primitive_operations is not None and 0 < num_primitive_operations}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 0, allow_imprecise_accumulation = false>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @types(%lhs: tensor<2x3x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %rhs: tensor<2x4x5xf32>, %lhs_1: tensor<2x3x4xf32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or per-tensor quantized tensor, but is tensor<2x3x4x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.dot_general"(%lhs, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "stablehlo.dot_general"(%lhs_1, %rhs_1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, !stablehlo.token) -> tensor<2x3x5xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "stablehlo.dot_general"(%lhs_1, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> !stablehlo.token
  // expected-error@+1 {{attribute 'precision_config' must be a list of precision: one of DEFAULT, HIGH, HIGHEST}}
  %3 = "stablehlo.dot_general"(%lhs_1, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = 1 : i64}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // expected-error@+1 {{attribute 'dot_dimension_numbers' must be a #stablehlo.dot<...>}}
  %4 = "stablehlo.dot_general"(%lhs_1, %rhs) <{dot_dimension_numbers = 1 : i64}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // expected-error@+1 {{attribute 'algorithm' must be a #stablehlo.dot_algorithm<...>}}
  %5 = "stablehlo.dot_general"(%lhs_1, %rhs) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, algorithm = 1 : i64}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @without_dot_dimension_numbers(%lhs: tensor<f32>) {
  // expected-error@+1 {{requires attribute 'dot_dimension_numbers'}}
  %0 = "stablehlo.dot_general"(%lhs, %lhs) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}
