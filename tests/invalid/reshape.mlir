func.func @C1(%operand: tensor<2x3xf32>) {
  // expected-error@+1 {{(C1): except_quantization_dimension(operand) == except_quantization_dimension(result)}}
  %0 = "stablehlo.reshape"(%operand) : (tensor<2x3xf32>) -> tensor<3x2xf64>
  return
}

// -----

func.func @C2(%operand: tensor<2x3xf32>) {
  // expected-error@+1 {{(C2): size(operand) == size(result)}}
  %0 = "stablehlo.reshape"(%operand) : (tensor<2x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @C1_per_axis(%operand: tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{(C1): except_quantization_dimension(operand) == except_quantization_dimension(result)}}
  %0 = "stablehlo.reshape"(%operand) : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<1x2x3x!quant.uniform<i8:f32:1, {1.0, 3.0}>>
  return
}

// -----

func.func @C3_before(%operand: tensor<4x2x3x!quant.uniform<i8:f32:1, {1.0, 2.0}>>) {
  // expected-error@+1 {{(C3): prod(shape(operand)[:before]) == prod(shape(result)[:after]) and dim(operand, before) == dim(result, after) and prod(shape(operand)[before + 1 :]) == prod(shape(result)[after + 1 :])}}
  %0 = "stablehlo.reshape"(%operand) : (tensor<4x2x3x!quant.uniform<i8:f32:1, {1.0, 2.0}>>) -> tensor<2x2x6x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

// -----

func.func @types(%operand: !stablehlo.token, %operand_1: tensor<2x3xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "stablehlo.reshape"(%operand) : (!stablehlo.token) -> tensor<3x2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor, statically shaped or with one bounded dimension, but is tensor<?x2xf32>}}
  %1 = "stablehlo.reshape"(%operand_1) : (tensor<2x3xf32>) -> tensor<?x2xf32>
  return
}
