func.func @C1(%operand: tensor<4x4xi32>, %update: tensor<2x3xi32>, %start_indices0: tensor<i64>, %start_indices1: tensor<i64>) {
  // expected-error@+1 {{(C1): shape(operand) == shape(result) and element_type(operand) == element_type(result)}}
  %0 = "stablehlo.dynamic_update_slice"(%operand, %update, %start_indices0, %start_indices1) : (tensor<4x4xi32>, tensor<2x3xi32>, tensor<i64>, tensor<i64>) -> tensor<4x3xi32>
  return
}

// -----

func.func @C1_element_type(%operand: tensor<4x4xi32>, %update: tensor<2x3xi32>, %start_indices0: tensor<i64>, %start_indices1: tensor<i64>) {
  // expected-error@+1 {{(C1): shape(operand) == shape(result) and element_type(operand) == element_type(result)}}
  %0 = "stablehlo.dynamic_update_slice"(%operand, %update, %start_indices0, %start_indices1) : (tensor<4x4xi32>, tensor<2x3xi32>, tensor<i64>, tensor<i64>) -> tensor<4x4xf32>
  return
}

// -----

func.func @C2(%operand: tensor<4x4xi32>, %update: tensor<2x3xi64>, %start_indices0: tensor<i64>, %start_indices1: tensor<i64>) {
  // expected-error@+1 {{(C2): element_type(update) == element_type(operand)}}
  %0 = "stablehlo.dynamic_update_slice"(%operand, %update, %start_indices0, %start_indices1) : (tensor<4x4xi32>, tensor<2x3xi64>, tensor<i64>, tensor<i64>) -> tensor<4x4xi32>
  return
}

// -----

func.func @C3(%operand: tensor<4x4xi32>, %update: tensor<3xi32>, %start_indices0: tensor<i64>, %start_indices1: tensor<i64>) {
  // expected-error@+1 {{(C3): rank(update) == rank(operand)}}
  %0 = "stablehlo.dynamic_update_slice"(%operand, %update, %start_indices0, %start_indices1) : (tensor<4x4xi32>, tensor<3xi32>, tensor<i64>, tensor<i64>) -> tensor<4x4xi32>
  return
}

// -----

func.func @C4(%operand: tensor<4x4xi32>, %update: tensor<2x3xi32>, %start_indices: tensor<i64>) {
  // expected-error@+1 {{(C4): size(start_indices) == rank(operand)}}
  %0 = "stablehlo.dynamic_update_slice"(%operand, %update, %start_indices) : (tensor<4x4xi32>, tensor<2x3xi32>, tensor<i64>) -> tensor<4x4xi32>
  return
}

// -----

func.func @C5(%operand: tensor<4x4xi32>, %update: tensor<2x3xi32>, %start_indices0: tensor<i64>, %start_indices1: tensor<i32>) {
  // expected-error@+1 {{(C5): same(start_indices)}}
  %0 = "stablehlo.dynamic_update_slice"(%operand, %update, %start_indices0, %start_indices1) : (tensor<4x4xi32>, tensor<2x3xi32>, tensor<i64>, tensor<i32>) -> tensor<4x4xi32>
  return
}

// -----

func.func @C6(%operand: tensor<4x4xi32>, %update: tensor<2x5xi32>, %start_indices0: tensor<i64>, %start_indices1: tensor<i64>) {
  // expected-error@+1 {{(C6): all(0 <= n <= whole for n, whole in zip(shape(update), shape(operand)))}}
  %0 = "stablehlo.dynamic_update_slice"(%operand, %update, %start_indices0, %start_indices1) : (tensor<4x4xi32>, tensor<2x5xi32>, tensor<i64>, tensor<i64>) -> tensor<4x4xi32>
  return
}

// -----

func.func @types(%operand: tensor<4x4x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0}>>, %update: tensor<2x3xi32>, %start_indices0: tensor<i64>, %start_indices1: tensor<i64>, %operand_1: tensor<4x4xi32>, %update_1: tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %start_indices0_1: tensor<f32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or per-tensor quantized tensor, but is tensor<4x4x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00,4.000000e+00}>>}}
  %0 = "stablehlo.dynamic_update_slice"(%operand, %update, %start_indices0, %start_indices1) : (tensor<4x4x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0}>>, tensor<2x3xi32>, tensor<i64>, tensor<i64>) -> tensor<4x4xi32>
  // expected-error@+1 {{operand #1 (update) must be tensor or per-tensor quantized tensor, but is tensor<2x3x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %1 = "stablehlo.dynamic_update_slice"(%operand_1, %update_1, %start_indices0, %start_indices1) : (tensor<4x4xi32>, tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<i64>, tensor<i64>) -> tensor<4x4xi32>
  // expected-error@+1 {{operand #2 (start_indices) must be 0-dimensional tensor of integer type, but is tensor<f32>}}
  %2 = "stablehlo.dynamic_update_slice"(%operand_1, %update, %start_indices0_1, %start_indices1) : (tensor<4x4xi32>, tensor<2x3xi32>, tensor<f32>, tensor<i64>) -> tensor<4x4xi32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<4x4x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00,4.000000e+00}>>}}
  %3 = "stablehlo.dynamic_update_slice"(%operand_1, %update, %start_indices0, %start_indices1) : (tensor<4x4xi32>, tensor<2x3xi32>, tensor<i64>, tensor<i64>) -> tensor<4x4x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0}>>
  return
}
