func.func @C1(%lhs: tensor<1x2x3xf32>, %rhs: tensor<3x4xf32>) {
  // expected-error@+1 {{(C1): 1 <= rank(lhs) <= 2 and 1 <= rank(rhs) <= 2}}
  %0 = "stablehlo.dot"(%lhs, %rhs) : (tensor<1x2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C1_scalar(%lhs: tensor<2x3xf32>, %rhs: tensor<f32>) {
  // expected-error@+1 {{(C1): 1 <= rank(lhs) <= 2 and 1 <= rank(rhs) <= 2}}
  %0 = "stablehlo.dot"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C2(%lhs: tensor<2x3xf32>, %rhs: tensor<4x4xf32>) {
  // expected-error@+1 {{(C2): dim(lhs, rank(lhs) - 1) == dim(rhs, 0)}}
  %0 = "stablehlo.dot"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C3(%lhs: tensor<2x3xf32>, %rhs: tensor<3x4xf32>) {
  // expected-error@+1 {{(C3): shape(result) == shape(infer())}}
  %0 = "stablehlo.dot"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C4(%lhs: tensor<2x3xf32>, %rhs: tensor<3x4xf32>) {
  // expected-error@+1 {{(C4): is_complex(lhs) == is_complex(rhs) == is_complex(result)}}
  %0 = "stablehlo.dot"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xcomplex<f32>>
  return
}

// -----

func.func @C4_rhs(%lhs: tensor<2x3xf32>, %rhs: tensor<3x4xcomplex<f32>>) {
  // expected-error@+1 {{(C4): is_complex(lhs) == is_complex(rhs) == is_complex(result)}}
  %0 = "stablehlo.dot"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3x4xcomplex<f32>>) -> tensor<2x4xf32>
  return
}

// -----

func.func @types(%lhs: !stablehlo.token, %rhs: tensor<3x4xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "stablehlo.dot"(%lhs, %rhs) : (!stablehlo.token, tensor<3x4xf32>) -> tensor<2x4xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "stablehlo.dot"(%lhs_1, %rhs_1) : (tensor<2x3xf32>, !stablehlo.token) -> tensor<2x4xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "stablehlo.dot"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3x4xf32>) -> !stablehlo.token
  // expected-error@+1 {{attribute 'precision_config' must be a list of precision: one of DEFAULT, HIGH, HIGHEST}}
  %3 = "stablehlo.dot"(%lhs_1, %rhs) <{precision_config = 1 : i64}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C5(%lhs: tensor<2x3xf32>, %rhs: tensor<3x4xf32>) {
  // expected-error@+1 {{(C5): size(precision_config) <= 2}}
  %0 = "stablehlo.dot"(%lhs, %rhs) <{precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}
