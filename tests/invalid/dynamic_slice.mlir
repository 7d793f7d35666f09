func.func @C1(%operand: tensor<4x4xi32>, %start_indices0: tensor<i64>, %start_indices1: tensor<i64>) {
  // expected-error@+1 {{(C1): element_type(operand) == element_type(result)}}
  %0 = "stablehlo.dynamic_slice"(%operand, %start_indices0, %start_indices1) <{slice_sizes = array<i64: 2, 3>}> : (tensor<4x4xi32>, tensor<i64>, tensor<i64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @C2(%operand: tensor<4x4xi32>, %start_indices: tensor<i64>) {
  // expected-error@+1 {{(C2): size(start_indices) == size(slice_sizes) == rank(operand)}}
  %0 = "stablehlo.dynamic_slice"(%operand, %start_indices) <{slice_sizes = array<i64: 2, 3>}> : (tensor<4x4xi32>, tensor<i64>) -> tensor<2x3xi32>
  return
}

// -----

func.func @C2_slice_sizes(%operand: tensor<4x4xi32>, %start_indices0: tensor<i64>, %start_indices1: tensor<i64>) {
  // expected-error@+1 {{(C2): size(start_indices) == size(slice_sizes) == rank(operand)}}
  %0 = "stablehlo.dynamic_slice"(%operand, %start_indices0, %start_indices1) <{slice_sizes = array<i64: 2>}> : (tensor<4x4xi32>, tensor<i64>, tensor<i64>) -> tensor<2xi32>
  return
}

// -----

func.func @C3(%operand: tensor<4x4xi32>, %start_indices0: tensor<i64>, %start_indices1: tensor<ui64>) {
  // expected-error@+1 {{(C3): same(start_indices)}}
  %0 = "stablehlo.dynamic_slice"(%operand, %start_indices0, %start_indices1) <{slice_sizes = array<i64: 2, 3>}> : (tensor<4x4xi32>, tensor<i64>, tensor<ui64>) -> tensor<2x3xi32>
  return
}

// -----

func.func @C4(%operand: tensor<4x4xi32>, %start_indices0: tensor<i64>, %start_indices1: tensor<i64>) {
  // expected-error@+1 {{(C4): all(0 <= n <= whole for n, whole in zip(slice_sizes, shape(operand)))}}
  %0 = "stablehlo.dynamic_slice"(%operand, %start_indices0, %start_indices1) <{slice_sizes = array<i64: 2, 5>}> : (tensor<4x4xi32>, tensor<i64>, tensor<i64>) -> tensor<2x5xi32>
  return
}

// -----

func.func @C5(%operand: tensor<4x4xi32>, %start_indices0: tensor<i64>, %start_indices1: tensor<i64>) {
  // expected-error@+1 {{(C5): shape(result) == slice_sizes}}
  %0 = "stablehlo.dynamic_slice"(%operand, %start_indices0, %start_indices1) <{slice_sizes = array<i64: 2, 3>}> : (tensor<4x4xi32>, tensor<i64>, tensor<i64>) -> tensor<2x2xi32>
  return
}

// -----

func.func @types(%operand: tensor<4x4x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0}>>, %start_indices0: tensor<i64>, %start_indices1: tensor<i64>, %operand_1: tensor<4x4xi32>, %start_indices0_1: tensor<f32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or per-tensor quantized tensor, but is tensor<4x4x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00,4.000000e+00}>>}}
  %0 = "stablehlo.dynamic_slice"(%operand, %start_indices0, %start_indices1) <{slice_sizes = array<i64: 2, 3>}> : (tensor<4x4x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0}>>, tensor<i64>, tensor<i64>) -> tensor<2x3xi32>
  // expected-error@+1 {{operand #1 (start_indices) must be 0-dimensional tensor of integer type, but is tensor<f32>}}
  %1 = "stablehlo.dynamic_slice"(%operand_1, %start_indices0_1, %start_indices1) <{slice_sizes = array<i64: 2, 3>}> : (tensor<4x4xi32>, tensor<f32>, tensor<i64>) -> tensor<2x3xi32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<2x3x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %2 = "stablehlo.dynamic_slice"(%operand_1, %start_indices0, %start_indices1) <{slice_sizes = array<i64: 2, 3>}> : (tensor<4x4xi32>, tensor<i64>, tensor<i64>) -> tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // expected-error@+1 {{requires attribute 'slice_sizes'}}
  %3 = "stablehlo.dynamic_slice"(%operand_1, %start_indices0, %start_indices1) : (tensor<4x4xi32>, tensor<i64>, tensor<i64>) -> tensor<2x3xi32>
  // expected-error@+1 {{attribute 'slice_sizes' must be a list of 64-bit integers}}
  %4 = "stablehlo.dynamic_slice"(%operand_1, %start_indices0, %start_indices1) <{slice_sizes = "wrong"}> : (tensor<4x4xi32>, tensor<i64>, tensor<i64>) -> tensor<2x3xi32>
  return
}
