func.func @C1(%operand: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{(C1): shape(result) == shape(operand)}}
  %0 = "stablehlo.imag"(%operand) : (tensor<2xcomplex<f32>>) -> tensor<3xf32>
  return
}

// -----

func.func @C2_complex(%operand: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{(C2): element_type(result) == (complex_element_type(operand) if is_complex(operand) else element_type(operand))}}
  %0 = "stablehlo.imag"(%operand) : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}

// -----

func.func @C2_real(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C2): element_type(result) == (complex_element_type(operand) if is_complex(operand) else element_type(operand))}}
  %0 = "stablehlo.imag"(%operand) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @types(%operand: tensor<2xi32>, %operand_1: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %0 = "stablehlo.imag"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point type, but is tensor<2xi32>}}
  %1 = "stablehlo.imag"(%operand_1) : (tensor<2xcomplex<f32>>) -> tensor<2xi32>
  return
}
