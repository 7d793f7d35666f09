func.func @C1(%operand: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{(C1): shape(result) == shape(operand)}}
  %0 = "stablehlo.abs"(%operand) : (tensor<2xcomplex<f32>>) -> tensor<3xf32>
  return
}

// -----

func.func @C2_complex(%operand: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{(C2): baseline_element_type(result) == (complex_element_type(operand) if is_complex(operand) else baseline_element_type(operand))}}
  %0 = "stablehlo.abs"(%operand) : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}

// -----

func.func @C2_real(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C2): baseline_element_type(result) == (complex_element_type(operand) if is_complex(operand) else baseline_element_type(operand))}}
  %0 = "stablehlo.abs"(%operand) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @types(%operand: tensor<2xui32>, %operand_1: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of signed integer or floating-point or complex type or per-tensor quantized tensor, but is tensor<2xui32>}}
  %0 = "stablehlo.abs"(%operand) : (tensor<2xui32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of signed integer or floating-point type or per-tensor quantized tensor, but is tensor<2xui32>}}
  %1 = "stablehlo.abs"(%operand_1) : (tensor<2xcomplex<f32>>) -> tensor<2xui32>
  return
}
