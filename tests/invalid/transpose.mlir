func.func @C1(%operand: tensor<2x3xf32>) {
  // expected-error@+1 {{(C1): except_quantization_dimension(operand) == except_quantization_dimension(result)}}
  %0 = "stablehlo.transpose"(%operand) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf64>
  return
}

// -----

func.func @C1_per_axis(%operand: tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{(C1): except_quantization_dimension(operand) == except_quantization_dimension(result)}}
  %0 = "stablehlo.transpose"(%operand) <{permutation = array<i64: 1, 0>}> : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {1.0, 3.0}>>
  return
}

// -----

func.func @C2(%operand: tensor<2x3xf32>) {
  // expected-error@+1 {{(C2): sorted(permutation) == list(axes(operand))}}
  %0 = "stablehlo.transpose"(%operand) <{permutation = array<i64: 1, 1>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @C2_size(%operand: tensor<2x3xf32>) {
  // expected-error@+1 {{(C2): sorted(permutation) == list(axes(operand))}}
  %0 = "stablehlo.transpose"(%operand) <{permutation = array<i64: 0>}> : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C3(%operand: tensor<2x3xf32>) {
  // expected-error@+1 {{(C3): shape(result) == dims(operand, permutation)}}
  %0 = "stablehlo.transpose"(%operand) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @C4(%operand: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{(C4): quantization_dimension(operand) == permutation[quantization_dimension(result)]}}
  %0 = "stablehlo.transpose"(%operand) <{permutation = array<i64: 1, 0>}> : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

func.func @types(%operand: !stablehlo.token, %operand_1: tensor<2x3xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "stablehlo.transpose"(%operand) <{permutation = array<i64: 1, 0>}> : (!stablehlo.token) -> tensor<3x2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "stablehlo.transpose"(%operand_1) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> !stablehlo.token
  // expected-error@+1 {{requires attribute 'permutation'}}
  %2 = "stablehlo.transpose"(%operand_1) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // expected-error@+1 {{attribute 'permutation' must be a list of 64-bit integers}}
  %3 = "stablehlo.transpose"(%operand_1) <{permutation = "wrong"}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
