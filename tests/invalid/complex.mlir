func.func @C1(%lhs: tensor<2xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C1): compatible(lhs, rhs)}}
  %0 = "stablehlo.complex"(%lhs, %rhs) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @C2(%lhs: tensor<2xf32>, %rhs: tensor<2xf32>) {
  // expected-error@+1 {{(C2): shape(result) == shape(lhs)}}
  %0 = "stablehlo.complex"(%lhs, %rhs) : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xcomplex<f32>>
  return
}

// -----

func.func @C3(%lhs: tensor<2xf32>, %rhs: tensor<2xf32>) {
  // expected-error@+1 {{(C3): element_type(result) == ComplexType(element_type(lhs))}}
  %0 = "stablehlo.complex"(%lhs, %rhs) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f64>>
  return
}

// -----

func.func @types(%lhs: tensor<2xi32>, %rhs: tensor<2xf32>, %lhs_1: tensor<2xf32>, %rhs_1: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of type f32 or f64, but is tensor<2xi32>}}
  %0 = "stablehlo.complex"(%lhs, %rhs) : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  // expected-error@+1 {{operand #1 (rhs) must be tensor of type f32 or f64, but is tensor<2xi32>}}
  %1 = "stablehlo.complex"(%lhs_1, %rhs_1) : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xcomplex<f32>>
  // expected-error@+1 {{result #0 (result) must be tensor of complex type, but is tensor<2xi32>}}
  %2 = "stablehlo.complex"(%lhs_1, %rhs) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi32>
  return
}
