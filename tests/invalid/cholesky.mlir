func.func @C1(%a: tensor<3x3xf32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(a), baseline_type(result))}}
  %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<3x3xf32>) -> tensor<3x3xf64>
  return
}

// -----

func.func @C2(%a: tensor<3xf32>) {
  // expected-error@+1 {{(C2): 2 <= rank(a)}}
  %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @C2_scalar(%a: tensor<f32>) {
  // expected-error@+1 {{(C2): 2 <= rank(a)}}
  %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @C3(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{(C3): dim(a, rank(a) - 2) == dim(a, rank(a) - 1)}}
  %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @types(%a: tensor<3x3xi32>, %a_1: tensor<3x3xf32>) {
  // expected-error@+1 {{operand #0 (a) must be tensor of floating-point or complex type or per-tensor quantized tensor, but is tensor<3x3xi32>}}
  %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<3x3xi32>) -> tensor<3x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type or per-tensor quantized tensor, but is tensor<3x3xi32>}}
  %1 = "stablehlo.cholesky"(%a_1) <{lower = true}> : (tensor<3x3xf32>) -> tensor<3x3xi32>
  // expected-error@+1 {{attribute 'lower' must be a boolean}}
  %2 = "stablehlo.cholesky"(%a_1) <{lower = "wrong"}> : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return
}
