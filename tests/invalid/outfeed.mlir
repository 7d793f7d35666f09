func.func @types(%inputs: !stablehlo.token, %token: !stablehlo.token, %inputs_1: tensor<2xf32>, %token_1: tensor<f32>) {
  // expected-error@+1 {{operand #0 (inputs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "stablehlo.outfeed"(%inputs, %token) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  // expected-error@+1 {{operand #1 (token) must be token, but is tensor<f32>}}
  %1 = "stablehlo.outfeed"(%inputs_1, %token_1) : (tensor<2xf32>, tensor<f32>) -> !stablehlo.token
  // expected-error@+1 {{result #0 (result) must be token, but is tensor<f32>}}
  %2 = "stablehlo.outfeed"(%inputs_1, %token) : (tensor<2xf32>, !stablehlo.token) -> tensor<f32>
  // expected-error@+1 {{attribute 'outfeed_config' must be a string}}
  %3 = "stablehlo.outfeed"(%inputs_1, %token) <{outfeed_config = 1 : i64}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
