func.func @C1(%lhs: tensor<2xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(lhs), baseline_type(rhs), baseline_type(result))}}
  %0 = "stablehlo.multiply"(%lhs, %rhs) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C1_element_type(%lhs: tensor<2xf32>, %rhs: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(lhs), baseline_type(rhs), baseline_type(result))}}
  %0 = "stablehlo.multiply"(%lhs, %rhs) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @types(%lhs: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %rhs: tensor<2xf32>, %lhs_1: tensor<2xf32>, %rhs_1: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.multiply"(%lhs, %rhs) : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %1 = "stablehlo.multiply"(%lhs_1, %rhs_1) : (tensor<2xf32>, tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %2 = "stablehlo.multiply"(%lhs_1, %rhs) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}
