func.func @C1(%operand: tensor<2x3xf32>, %output_shape: tensor<2xi64>) {
  // expected-error@+1 {{(C1): except_quantization_dimension(operand) == except_quantization_dimension(result)}}
  %0 = "stablehlo.dynamic_reshape"(%operand, %output_shape) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf64>
  return
}

// -----

func.func @C2(%operand: tensor<2x3xf32>, %output_shape: tensor<2xi64>) {
  // expected-error@+1 {{(C2): size(operand) == size(result)}}
  %0 = "stablehlo.dynamic_reshape"(%operand, %output_shape) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x3xf32>
  return
}

// -----

func.func @C3(%operand: tensor<4x2x3x!quant.uniform<i8:f32:1, {1.0, 2.0}>>, %output_shape: tensor<3xi64>) {
  // expected-error@+1 {{(C3): prod(shape(operand)[:before]) == prod(shape(result)[:after]) and dim(operand, before) == dim(result, after) and prod(shape(operand)[before + 1 :]) == prod(shape(result)[after + 1 :])}}
  %0 = "stablehlo.dynamic_reshape"(%operand, %output_shape) : (tensor<4x2x3x!quant.uniform<i8:f32:1, {1.0, 2.0}>>, tensor<3xi64>) -> tensor<2x2x6x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

// -----

func.func @C4(%operand: tensor<2x3xf32>, %output_shape: tensor<3xi64>) {
  // expected-error@+1 {{(C4): size(output_shape) == rank(result)}}
  %0 = "stablehlo.dynamic_reshape"(%operand, %output_shape) : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  return
}

// -----

func.func @types(%operand: !stablehlo.token, %output_shape: tensor<2xi64>, %operand_1: tensor<2x3xf32>, %output_shape_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "stablehlo.dynamic_reshape"(%operand, %output_shape) : (!stablehlo.token, tensor<2xi64>) -> tensor<3x2xf32>
  // expected-error@+1 {{operand #1 (output_shape) must be statically shaped 1-dimensional tensor of integer or index type, but is tensor<2xf32>}}
  %1 = "stablehlo.dynamic_reshape"(%operand_1, %output_shape_1) : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "stablehlo.dynamic_reshape"(%operand_1, %output_shape) : (tensor<2x3xf32>, tensor<2xi64>) -> !stablehlo.token
  return
}

// -----

func.func @shape(%operand: tensor<6xf32>) {
  %s = stablehlo.constant dense<[2, 4]> : tensor<2xi64>
  // expected-error@+1 {{(shape): shape(result) == output_shape and size(operand) == prod(output_shape)}}
  %0 = "stablehlo.dynamic_reshape"(%operand, %s) : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  // expected-error@+1 {{(shape): shape(result) == output_shape and size(operand) == prod(output_shape)}}
  %1 = "stablehlo.dynamic_reshape"(%operand, %s) : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @size_of_shape(%operand: tensor<6xf32>, %shape: tensor<?xi64>) {
  // expected-error@+1 {{operand #1 (output_shape) must be statically shaped 1-dimensional tensor of integer or index type, but is tensor<?xi64>}}
  %0 = "stablehlo.dynamic_reshape"(%operand, %shape) : (tensor<6xf32>, tensor<?xi64>) -> tensor<2x3xf32>
  return
}
