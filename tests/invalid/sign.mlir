func.func @C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(operand), baseline_type(result))}}
  %0 = "stablehlo.sign"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @C1_element_type(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(operand), baseline_type(result))}}
  %0 = "stablehlo.sign"(%operand) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @types(%operand: tensor<2xui32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of signed integer or floating-point or complex type or per-tensor quantized tensor, but is tensor<2xui32>}}
  %0 = "stablehlo.sign"(%operand) : (tensor<2xui32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of signed integer or floating-point or complex type or per-tensor quantized tensor, but is tensor<2xui32>}}
  %1 = "stablehlo.sign"(%operand_1) : (tensor<2xf32>) -> tensor<2xui32>
  return
}
