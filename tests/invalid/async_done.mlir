func.func @C1(%operand: !stablehlo.future<tensor<2xf32>>) {
  // expected-error@+1 {{(C1): result == operand.elements}}
  %0 = "stablehlo.async_done"(%operand) : (!stablehlo.future<tensor<2xf32>>) -> tensor<3xf32>
  return
}

// -----

func.func @C1_size(%operand: !stablehlo.future<tensor<2xf32>>) {
  // expected-error@+1 {{(C1): result == operand.elements}}
  %0:2 = "stablehlo.async_done"(%operand) : (!stablehlo.future<tensor<2xf32>>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @types(%operand: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be future, but is tensor<2xf32>}}
  %0 = "stablehlo.async_done"(%operand) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @types(%operand: !stablehlo.future<tensor<f32>>) {
  // expected-error@+1 {{result #0 (result) must be tensor or token, but is i32}}
  %0 = "stablehlo.async_done"(%operand) : (!stablehlo.future<tensor<f32>>) -> i32
  return
}
