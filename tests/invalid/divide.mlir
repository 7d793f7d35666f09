func.func @C1(%lhs: tensor<2xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(lhs), baseline_type(rhs), baseline_type(result))}}
  %0 = "stablehlo.divide"(%lhs, %rhs) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C1_element_type(%lhs: tensor<2xf32>, %rhs: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(lhs), baseline_type(rhs), baseline_type(result))}}
  %0 = "stablehlo.divide"(%lhs, %rhs) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @types(%lhs: tensor<2xi1>, %rhs: tensor<2xf32>, %lhs_1: tensor<2xf32>, %rhs_1: tensor<2xi1>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of integer or floating-point or complex type or per-tensor quantized tensor, but is tensor<2xi1>}}
  %0 = "stablehlo.divide"(%lhs, %rhs) : (tensor<2xi1>, tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor of integer or floating-point or complex type or per-tensor quantized tensor, but is tensor<2xi1>}}
  %1 = "stablehlo.divide"(%lhs_1, %rhs_1) : (tensor<2xf32>, tensor<2xi1>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of integer or floating-point or complex type or per-tensor quantized tensor, but is tensor<2xi1>}}
  %2 = "stablehlo.divide"(%lhs_1, %rhs) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}
