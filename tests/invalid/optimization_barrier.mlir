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
