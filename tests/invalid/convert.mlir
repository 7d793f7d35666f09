func.func @C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): shape(operand) == shape(result)}}
  %0 = "stablehlo.convert"(%operand) : (tensor<2xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @types(%operand: tensor<2x!quant.uniform<i8:f32, 1.0>>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor, but is tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %0 = "stablehlo.convert"(%operand) : (tensor<2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2xi32>
  // expected-error@+1 {{result #0 (result) must be tensor, but is tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %1 = "stablehlo.convert"(%operand_1) : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return
}
