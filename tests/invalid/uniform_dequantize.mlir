func.func @C1(%operand: tensor<2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C1): shape(operand) == shape(result)}}
  %0 = "stablehlo.uniform_dequantize"(%operand) : (tensor<2x!quant.uniform<i8:f32, 1.0>>) -> tensor<3xf32>
  return
}

// -----

func.func @C2(%operand: tensor<2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C2): element_type(result) == expressed_type(operand)}}
  %0 = "stablehlo.uniform_dequantize"(%operand) : (tensor<2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2xf64>
  return
}

// -----

func.func @types(%operand: tensor<2xi32>, %operand_1: tensor<2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{operand #0 (operand) must be quantized tensor, but is tensor<2xi32>}}
  %0 = "stablehlo.uniform_dequantize"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point type, but is tensor<2xi32>}}
  %1 = "stablehlo.uniform_dequantize"(%operand_1) : (tensor<2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2xi32>
  return
}
