func.func @C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): shape(operand) == shape(result)}}
  %0 = "stablehlo.uniform_quantize"(%operand) : (tensor<2xf32>) -> tensor<3x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @C2(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C2): expressed_type(result) == (expressed_type(operand) if is_quantized(operand) else element_type(operand))}}
  %0 = "stablehlo.uniform_quantize"(%operand) : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f16, 1.0>>
  return
}

// -----

func.func @types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point type or quantized tensor, but is tensor<2xi32>}}
  %0 = "stablehlo.uniform_quantize"(%operand) : (tensor<2xi32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  // expected-error@+1 {{result #0 (result) must be quantized tensor, but is tensor<2xi32>}}
  %1 = "stablehlo.uniform_quantize"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}
