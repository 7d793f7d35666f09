func.func @C1(%operand: tensor<3xf32>, %padding_value: tensor<f64>) {
  // expected-error@+1 {{(C1): element_type(operand) == element_type(padding_value) == element_type(result)}}
  %0 = "stablehlo.pad"(%operand, %padding_value) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 2>, interior_padding = array<i64: 1>}> : (tensor<3xf32>, tensor<f64>) -> tensor<8xf32>
  return
}

// -----

func.func @C1_result(%operand: tensor<3xf32>, %padding_value: tensor<f32>) {
  // expected-error@+1 {{(C1): element_type(operand) == element_type(padding_value) == element_type(result)}}
  %0 = "stablehlo.pad"(%operand, %padding_value) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 2>, interior_padding = array<i64: 1>}> : (tensor<3xf32>, tensor<f32>) -> tensor<8xf64>
  return
}

// -----

func.func @C2(%operand: tensor<3xf32>, %padding_value: tensor<f32>) {
  // expected-error@+1 {{(C2): size(edge_padding_low) == size(edge_padding_high) == size(interior_padding) == rank(operand)}}
  %0 = "stablehlo.pad"(%operand, %padding_value) <{edge_padding_low = array<i64: 1, 1>, edge_padding_high = array<i64: 2>, interior_padding = array<i64: 1>}> : (tensor<3xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @C2_high(%operand: tensor<3xf32>, %padding_value: tensor<f32>) {
  // expected-error@+1 {{(C2): size(edge_padding_low) == size(edge_padding_high) == size(interior_padding) == rank(operand)}}
  %0 = "stablehlo.pad"(%operand, %padding_value) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64>, interior_padding = array<i64: 1>}> : (tensor<3xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @C2_interior(%operand: tensor<3xf32>, %padding_value: tensor<f32>) {
  // expected-error@+1 {{(C2): size(edge_padding_low) == size(edge_padding_high) == size(interior_padding) == rank(operand)}}
  %0 = "stablehlo.pad"(%operand, %padding_value) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 2>, interior_padding = array<i64: 1, 1>}> : (tensor<3xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @C3(%operand: tensor<3xf32>, %padding_value: tensor<f32>) {
  // expected-error@+1 {{(C3): all(0 <= n for n in interior_padding)}}
  %0 = "stablehlo.pad"(%operand, %padding_value) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 2>, interior_padding = array<i64: -1>}> : (tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @C4(%operand: tensor<3xf32>, %padding_value: tensor<f32>) {
  // expected-error@+1 {{(C4): shape(result) == shape(infer())}}
  %0 = "stablehlo.pad"(%operand, %padding_value) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 2>, interior_padding = array<i64: 1>}> : (tensor<3xf32>, tensor<f32>) -> tensor<9xf32>
  return
}

// -----

func.func @C4_negative_size(%operand: tensor<3xf32>, %padding_value: tensor<f32>) {
  // expected-error@+1 {{(C4): shape(result) == shape(infer())}}
  %0 = "stablehlo.pad"(%operand, %padding_value) <{edge_padding_low = array<i64: -9>, edge_padding_high = array<i64: 2>, interior_padding = array<i64: 1>}> : (tensor<3xf32>, tensor<f32>) -> tensor<0xf32>
  return
}

// -----

func.func @types(%operand: tensor<3x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>, %padding_value: tensor<f32>, %operand_1: tensor<3xf32>, %padding_value_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or per-tensor quantized tensor, but is tensor<3x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00}>>}}
  %0 = "stablehlo.pad"(%operand, %padding_value) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 2>, interior_padding = array<i64: 1>}> : (tensor<3x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>, tensor<f32>) -> tensor<8xf32>
  // expected-error@+1 {{operand #1 (padding_value) must be 0-dimensional tensor, but is tensor<2xf32>}}
  %1 = "stablehlo.pad"(%operand_1, %padding_value_1) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 2>, interior_padding = array<i64: 1>}> : (tensor<3xf32>, tensor<2xf32>) -> tensor<8xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<8x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00,4.000000e+00,5.000000e+00,6.000000e+00,7.000000e+00,8.000000e+00}>>}}
  %2 = "stablehlo.pad"(%operand_1, %padding_value) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 2>, interior_padding = array<i64: 1>}> : (tensor<3xf32>, tensor<f32>) -> tensor<8x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}>>
  // expected-error@+1 {{requires attribute 'edge_padding_low'}}
  %3 = "stablehlo.pad"(%operand_1, %padding_value) <{edge_padding_high = array<i64: 2>, interior_padding = array<i64: 1>}> : (tensor<3xf32>, tensor<f32>) -> tensor<8xf32>
  // expected-error@+1 {{attribute 'edge_padding_low' must be a list of 64-bit integers}}
  %4 = "stablehlo.pad"(%operand_1, %padding_value) <{edge_padding_low = "wrong", edge_padding_high = array<i64: 2>, interior_padding = array<i64: 1>}> : (tensor<3xf32>, tensor<f32>) -> tensor<8xf32>
  // expected-error@+1 {{requires attribute 'edge_padding_high'}}
  %5 = "stablehlo.pad"(%operand_1, %padding_value) <{edge_padding_low = array<i64: 1>, interior_padding = array<i64: 1>}> : (tensor<3xf32>, tensor<f32>) -> tensor<8xf32>
  // expected-error@+1 {{attribute 'edge_padding_high' must be a list of 64-bit integers}}
  %6 = "stablehlo.pad"(%operand_1, %padding_value) <{edge_padding_low = array<i64: 1>, edge_padding_high = "wrong", interior_padding = array<i64: 1>}> : (tensor<3xf32>, tensor<f32>) -> tensor<8xf32>
  // expected-error@+1 {{requires attribute 'interior_padding'}}
  %7 = "stablehlo.pad"(%operand_1, %padding_value) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 2>}> : (tensor<3xf32>, tensor<f32>) -> tensor<8xf32>
  // expected-error@+1 {{attribute 'interior_padding' must be a list of 64-bit integers}}
  %8 = "stablehlo.pad"(%operand_1, %padding_value) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 2>, interior_padding = "wrong"}> : (tensor<3xf32>, tensor<f32>) -> tensor<8xf32>
  return
}
