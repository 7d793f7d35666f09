func.func @C1(%operand0: tensor<f32>, %operand1: !stablehlo.token) {
  // expected-error@+1 {{(C1): all_compatible(operand, result)}}
  %0:2 = "stablehlo.optimization_barrier"(%operand0, %operand1) : (tensor<f32>, !stablehlo.token) -> (tensor<f64>, !stablehlo.token)
  return
}

// -----

func.func @C1_size(%operand0: tensor<f32>, %operand1: !stablehlo.token) {
  // expected-error@+1 {{(C1): all_compatible(operand, result)}}
  %0 = "stablehlo.optimization_barrier"(%operand0, %operand1) : (tensor<f32>, !stablehlo.token) -> tensor<f32>
  return
}

// -----

func.func @types(%operand0: tuple<tensor<f32>>, %operand1: !stablehlo.token, %operand0_1: tensor<f32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or per-tensor quantized tensor or token, but is tuple<tensor<f32>>}}
  %0:2 = "stablehlo.optimization_barrier"(%operand0, %operand1) : (tuple<tensor<f32>>, !stablehlo.token) -> (tensor<f32>, !stablehlo.token)
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor or token, but is tuple<tensor<f32>>}}
  %1:2 = "stablehlo.optimization_barrier"(%operand0_1, %operand1) : (tensor<f32>, !stablehlo.token) -> (tuple<tensor<f32>>, !stablehlo.token)
  return
}
