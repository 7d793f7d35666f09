func.func @C1(%operand: tensor<2x3xf32>) {
  // expected-error@+1 {{(C1): shape(operand) == shape(result) and element_type(operand) == element_type(result)}}
  %0 = "stablehlo.reverse"(%operand) <{dimensions = array<i64: 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @C1_element_type(%operand: tensor<2x3xf32>) {
  // expected-error@+1 {{(C1): shape(operand) == shape(result) and element_type(operand) == element_type(result)}}
  %0 = "stablehlo.reverse"(%operand) <{dimensions = array<i64: 0>}> : (tensor<2x3xf32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @C2(%operand: tensor<2x3xf32>) {
  // expected-error@+1 {{(C2): is_unique(dimensions)}}
  %0 = "stablehlo.reverse"(%operand) <{dimensions = array<i64: 1, 1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @C3(%operand: tensor<2x3xf32>) {
  // expected-error@+1 {{(C3): in_range(dimensions, rank(result))}}
  %0 = "stablehlo.reverse"(%operand) <{dimensions = array<i64: 2>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @C3_negative(%operand: tensor<2x3xf32>) {
  // expected-error@+1 {{(C3): in_range(dimensions, rank(result))}}
  %0 = "stablehlo.reverse"(%operand) <{dimensions = array<i64: -1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @types(%operand: tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %operand_1: tensor<2x3xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or per-tensor quantized tensor, but is tensor<2x3x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.reverse"(%operand) <{dimensions = array<i64: 0>}> : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<2x3x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %1 = "stablehlo.reverse"(%operand_1) <{dimensions = array<i64: 0>}> : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // expected-error@+1 {{requires attribute 'dimensions'}}
  %2 = "stablehlo.reverse"(%operand_1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{attribute 'dimensions' must be a list of 64-bit integers}}
  %3 = "stablehlo.reverse"(%operand_1) <{dimensions = "wrong"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
