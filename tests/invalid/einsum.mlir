func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  // expected-error@+1 {{(C1): re.fullmatch(r"\w*(\.{3})?\w*,\w*(\.{3})?\w*->\w*(\.{3})?\w*", einsum_config)}}
  %0 = "stablehlo.einsum"(%lhs, %rhs) <{einsum_config = "ij,jk"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  // expected-error@+1 {{(C2): size(lhs_names) == rank(lhs) and size(rhs_names) == rank(rhs)}}
  %0 = "stablehlo.einsum"(%lhs, %rhs) <{einsum_config = "ij,j->i"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  // expected-error@+1 {{(C1): re.fullmatch(r"\w*(\.{3})?\w*,\w*(\.{3})?\w*->\w*(\.{3})?\w*", einsum_config)}}
  %0 = "stablehlo.einsum"(%lhs, %rhs) <{einsum_config = "...j...,jk->...k"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  // expected-error@+1 {{(C2): size(lhs_names) == rank(lhs) and size(rhs_names) == rank(rhs)}}
  %0 = "stablehlo.einsum"(%lhs, %rhs) <{einsum_config = "...hij,jk->...k"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  // expected-error@+1 {{(C3): is_unique([*kept]) and set(kept) <= {*lhs_names, *rhs_names}}}
  %0 = "stablehlo.einsum"(%lhs, %rhs) <{einsum_config = "ij,jk->il"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  // expected-error@+1 {{(C3): is_unique([*kept]) and set(kept) <= {*lhs_names, *rhs_names}}}
  %0 = "stablehlo.einsum"(%lhs, %rhs) <{einsum_config = "ij,jk->ii"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<5x4xf32>
  // expected-error@+1 {{(C4): same_sizes(lhs_names + rhs_names, shape(lhs) + shape(rhs))}}
  %0 = "stablehlo.einsum"(%lhs, %rhs) <{einsum_config = "ij,jk->ik"}> : (tensor<2x3xf32>, tensor<5x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<1x3xf32>
  // expected-error@+1 {{(C4): same_sizes(lhs_names + rhs_names, shape(lhs) + shape(rhs))}}
  %0 = "stablehlo.einsum"(%lhs, %rhs) <{einsum_config = "...j,...j->..."}> : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  // expected-error@+1 {{(C5): shape(result) == shape(Einsum.infer(lhs, rhs, einsum_config))}}
  %0 = "stablehlo.einsum"(%lhs, %rhs) <{einsum_config = "ij,jk->ik"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  // expected-error@+1 {{(C6): is_complex(lhs) == is_complex(rhs) == is_complex(result)}}
  %0 = "stablehlo.einsum"(%lhs, %rhs) <{einsum_config = "ij,jk->ik"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xcomplex<f32>>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<(0.0, 0.0)> : tensor<3x4xcomplex<f32>>
  // expected-error@+1 {{(C6): is_complex(lhs) == is_complex(rhs) == is_complex(result)}}
  %0 = "stablehlo.einsum"(%lhs, %rhs) <{einsum_config = "ij,jk->ik"}> : (tensor<2x3xf32>, tensor<3x4xcomplex<f32>>) -> tensor<2x4xf32>
  return
}

// -----

func.func @types(%lhs: tensor<2x3x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<3x4xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: tensor<3x4x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor, but is tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %0 = "stablehlo.einsum"(%lhs, %rhs) <{einsum_config = "ij,jk->ik"}> : (tensor<2x3x!quant.uniform<i8:f32, 1.0>>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor, but is tensor<3x4x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %1 = "stablehlo.einsum"(%lhs_1, %rhs_1) <{einsum_config = "ij,jk->ik"}> : (tensor<2x3xf32>, tensor<3x4x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x4xf32>
  // expected-error@+1 {{result #0 (result) must be tensor, but is tensor<2x4x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %2 = "stablehlo.einsum"(%lhs_1, %rhs) <{einsum_config = "ij,jk->ik"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4x!quant.uniform<i8:f32, 1.0>>
  // expected-error@+1 {{requires attribute 'einsum_config'}}
  %3 = "stablehlo.einsum"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // expected-error@+1 {{attribute 'einsum_config' must be a string}}
  %4 = "stablehlo.einsum"(%lhs_1, %rhs) <{einsum_config = 1 : i64}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}
