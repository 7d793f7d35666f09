func.func @C1(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(operand), baseline_type(result))}}
  %0 = "stablehlo.not"(%operand) : (tensor<2xi32>) -> tensor<3xi32>
  return
}

// -----

func.func @C1_element_type(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(operand), baseline_type(result))}}
  %0 = "stablehlo.not"(%operand) : (tensor<2xi32>) -> tensor<2xi64>
  return
}

// -----

func.func @types(%operand: tensor<2xf32>, %operand_1: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of boolean or integer type, but is tensor<2xf32>}}
  %0 = "stablehlo.not"(%operand) : (tensor<2xf32>) -> tensor<2xi32>
  // expected-error@+1 {{result #0 (result) must be tensor of boolean or integer type, but is tensor<2xf32>}}
  %1 = "stablehlo.not"(%operand_1) : (tensor<2xi32>) -> tensor<2xf32>
  return
}
