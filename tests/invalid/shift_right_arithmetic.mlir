func.func @C1(%lhs: tensor<2xi32>, %rhs: tensor<3xi32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(lhs), baseline_type(rhs), baseline_type(result))}}
  %0 = "stablehlo.shift_right_arithmetic"(%lhs, %rhs) : (tensor<2xi32>, tensor<3xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @C1_element_type(%lhs: tensor<2xi32>, %rhs: tensor<2xi32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(lhs), baseline_type(rhs), baseline_type(result))}}
  %0 = "stablehlo.shift_right_arithmetic"(%lhs, %rhs) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi64>
  return
}

// -----

func.func @types(%lhs: tensor<2xf32>, %rhs: tensor<2xi32>, %lhs_1: tensor<2xi32>, %rhs_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of integer type, but is tensor<2xf32>}}
  %0 = "stablehlo.shift_right_arithmetic"(%lhs, %rhs) : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xi32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor of integer type, but is tensor<2xf32>}}
  %1 = "stablehlo.shift_right_arithmetic"(%lhs_1, %rhs_1) : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xi32>
  // expected-error@+1 {{result #0 (result) must be tensor of integer type, but is tensor<2xf32>}}
  %2 = "stablehlo.shift_right_arithmetic"(%lhs_1, %rhs) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xf32>
  return
}
