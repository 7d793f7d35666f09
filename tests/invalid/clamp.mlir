func.func @C1(%min: tensor<3xf32>, %operand: tensor<2xf32>, %max: tensor<f32>) {
  // expected-error@+1 {{(C1): rank(min) == 0 or shape(min) == shape(operand)}}
  %0 = "stablehlo.clamp"(%min, %operand, %max) : (tensor<3xf32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @C2(%min: tensor<f32>, %operand: tensor<2xf32>, %max: tensor<1x2xf32>) {
  // expected-error@+1 {{(C2): rank(max) == 0 or shape(max) == shape(operand)}}
  %0 = "stablehlo.clamp"(%min, %operand, %max) : (tensor<f32>, tensor<2xf32>, tensor<1x2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C3(%min: tensor<f64>, %operand: tensor<2xf32>, %max: tensor<f32>) {
  // expected-error@+1 {{(C3): baseline_element_type(min) == baseline_element_type(operand) == baseline_element_type(max)}}
  %0 = "stablehlo.clamp"(%min, %operand, %max) : (tensor<f64>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @C4(%min: tensor<f32>, %operand: tensor<2xf32>, %max: tensor<f32>) {
  // expected-error@+1 {{(C4): compatible(baseline_type(operand), baseline_type(result))}}
  %0 = "stablehlo.clamp"(%min, %operand, %max) : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @types(%min: !stablehlo.token, %operand: tensor<2xf32>, %max: tensor<f32>, %min_1: tensor<f32>, %operand_1: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %max_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (min) must be tensor or per-tensor quantized tensor, but is !stablehlo.token}}
  %0 = "stablehlo.clamp"(%min, %operand, %max) : (!stablehlo.token, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // expected-error@+1 {{operand #1 (operand) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %1 = "stablehlo.clamp"(%min_1, %operand_1, %max) : (tensor<f32>, tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<f32>) -> tensor<2xf32>
  // expected-error@+1 {{operand #2 (max) must be tensor or per-tensor quantized tensor, but is !stablehlo.token}}
  %2 = "stablehlo.clamp"(%min_1, %operand, %max_1) : (tensor<f32>, tensor<2xf32>, !stablehlo.token) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %3 = "stablehlo.clamp"(%min_1, %operand, %max) : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}
