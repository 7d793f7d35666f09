func.func @C1(%operand: tensor<f32>) {
  // expected-error@+1 {{(C1): rank(operand) >= 1}}
  %0:2 = "chlo.top_k"(%operand) <{k = 2 : i64}> : (tensor<f32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return
}

// -----

func.func @C2(%operand: tensor<3x5xf32>) {
  // expected-error@+1 {{(C2): 0 <= k <= dim(operand, rank(operand) - 1)}}
  %0:2 = "chlo.top_k"(%operand) <{k = 6 : i64}> : (tensor<3x5xf32>) -> (tensor<3x6xf32>, tensor<3x6xi32>)
  return
}

// -----

func.func @C2_negative(%operand: tensor<3x5xf32>) {
  // expected-error@+1 {{(C2): 0 <= k <= dim(operand, rank(operand) - 1)}}
  %0:2 = "chlo.top_k"(%operand) <{k = -1 : i64}> : (tensor<3x5xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return
}

// -----

func.func @C3(%operand: tensor<3x5xf32>) {
  // expected-error@+1 {{(C3): compatible(values, infer()[0])}}
  %0:2 = "chlo.top_k"(%operand) <{k = 2 : i64}> : (tensor<3x5xf32>) -> (tensor<3x3xf32>, tensor<3x2xi32>)
  return
}

// -----

func.func @C4(%operand: tensor<3x5xf32>) {
  // expected-error@+1 {{(C4): compatible(indices, infer()[1])}}
  %0:2 = "chlo.top_k"(%operand) <{k = 2 : i64}> : (tensor<3x5xf32>) -> (tensor<3x2xf32>, tensor<3x3xi32>)
  return
}

// -----

func.func @C4_element_type(%operand: tensor<3x5xf32>) {
  // expected-error@+1 {{(C4): compatible(indices, infer()[1])}}
  %0:2 = "chlo.top_k"(%operand) <{k = 2 : i64}> : (tensor<3x5xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  return
}

// -----

func.func @types(%operand: tensor<3x5x!quant.uniform<i8:f32, 1.0>>, %operand_1: tensor<3x5xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor, but is tensor<3x5x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %0:2 = "chlo.top_k"(%operand) <{k = 2 : i64}> : (tensor<3x5x!quant.uniform<i8:f32, 1.0>>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  // expected-error@+1 {{result #0 (values) must be tensor, but is tensor<3x2x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %1:2 = "chlo.top_k"(%operand_1) <{k = 2 : i64}> : (tensor<3x5xf32>) -> (tensor<3x2x!quant.uniform<i8:f32, 1.0>>, tensor<3x2xi32>)
  // expected-error@+1 {{result #1 (indices) must be tensor of integer type, but is tensor<3x2xf32>}}
  %2:2 = "chlo.top_k"(%operand_1) <{k = 2 : i64}> : (tensor<3x5xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>)
  // expected-error@+1 {{requires attribute 'k'}}
  %3:2 = "chlo.top_k"(%operand_1) : (tensor<3x5xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  // expected-error@+1 {{attribute 'k' must be a 64-bit integer}}
  %4:2 = "chlo.top_k"(%operand_1) <{k = "wrong"}> : (tensor<3x5xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  // expected-error@+1 {{attribute 'is_stable' must be a boolean}}
  %5:2 = "chlo.top_k"(%operand_1) <{k = 2 : i64, is_stable = "wrong"}> : (tensor<3x5xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return
}
