func.func @C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(operand), baseline_type(result))}}
  %0 = "stablehlo.negate"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @C1_element_type(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(operand), baseline_type(result))}}
  %0 = "stablehlo.negate"(%operand) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @types(%operand: tensor<2xi1>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of integer or floating-point or complex type or per-tensor quantized tensor, but is tensor<2xi1>}}
  %0 = "stablehlo.negate"(%operand) : (tensor<2xi1>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of integer or floating-point or complex type or per-tensor quantized tensor, but is tensor<2xi1>}}
  %1 = "stablehlo.negate"(%operand_1) : (tensor<2xf32>) -> tensor<2xi1>
  return
}
