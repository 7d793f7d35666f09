func.func @C1(%token: !stablehlo.token) {
  // expected-error@+1 {{(C1): 0 < size(results)}}
  "stablehlo.infeed"(%token) : (!stablehlo.token) -> ()
  return
}

// -----

func.func @C2(%token: !stablehlo.token) {
  // expected-error@+1 {{(C2): all(map(is_tensor, results[:-1])) and (layout is None or is_layout(layout, results[:-1]))}}
  %0:2 = "stablehlo.infeed"(%token) : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

func.func @C2_layout(%token: !stablehlo.token) {
  // expected-error@+1 {{(C2): all(map(is_tensor, results[:-1])) and (layout is None or is_layout(layout, results[:-1]))}}
  %0:2 = "stablehlo.infeed"(%token) <{layout = [[0], [1]]}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// -----

func.func @C3(%token: !stablehlo.token) {
  // expected-error@+1 {{(C3): is_token(results[-1])}}
  %0:2 = "stablehlo.infeed"(%token) : (!stablehlo.token) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @types(%token: tensor<f32>, %token_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (token) must be token, but is tensor<f32>}}
  %0:2 = "stablehlo.infeed"(%token) : (tensor<f32>) -> (tensor<2xf32>, !stablehlo.token)
  // expected-error@+1 {{attribute 'infeed_config' must be a string}}
  %1:2 = "stablehlo.infeed"(%token_1) <{infeed_config = 1 : i64}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// -----

func.func @result_type(%token: !stablehlo.token) {
  // expected-error@+1 {{result #0 (results) must be tensor or token, but is i32}}
  %0:2 = "stablehlo.infeed"(%token) : (!stablehlo.token) -> (i32, !stablehlo.token)
  return
}
