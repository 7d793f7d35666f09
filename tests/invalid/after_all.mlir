func.func @types(%inputs: tensor<f32>, %inputs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (inputs) must be token, but is tensor<f32>}}
  %0 = "stablehlo.after_all"(%inputs) : (tensor<f32>) -> !stablehlo.token
  // expected-error@+1 {{result #0 (result) must be token, but is tensor<f32>}}
  %1 = "stablehlo.after_all"(%inputs_1) : (!stablehlo.token) -> tensor<f32>
  return
}
