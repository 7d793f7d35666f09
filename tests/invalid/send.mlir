func.func @C1(%inputs: tensor<2xf32>, %token: !stablehlo.token) {
  // expected-error@+1 {{(C1): all(size(pair) == 2 for pair in source_target_pairs)}}
  %0 = "stablehlo.send"(%inputs, %token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @C2(%inputs: tensor<2xf32>, %token: !stablehlo.token) {
  // expected-error@+1 {{(C2): is_unique([source for source, _ in source_target_pairs])}}
  %0 = "stablehlo.send"(%inputs, %token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @C3(%inputs: tensor<2xf32>, %token: !stablehlo.token) {
  // expected-error@+1 {{(C3): is_unique([target for _, target in source_target_pairs])}}
  %0 = "stablehlo.send"(%inputs, %token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @C4(%inputs: tensor<2xf32>, %token: !stablehlo.token) {
  // expected-error@+1 {{(C4): all(0 <= i for pair in source_target_pairs for i in pair)}}
  %0 = "stablehlo.send"(%inputs, %token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @C5(%inputs: tensor<2xf32>, %token: !stablehlo.token) {
  // expected-error@+1 {{(C5): channel_type == (ChannelType.DEVICE_TO_HOST if is_host_transfer else ChannelType.DEVICE_TO_DEVICE)}}
  %0 = "stablehlo.send"(%inputs, %token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @C5_host(%inputs: tensor<2xf32>, %token: !stablehlo.token) {
  // expected-error@+1 {{(C5): channel_type == (ChannelType.DEVICE_TO_HOST if is_host_transfer else ChannelType.DEVICE_TO_DEVICE)}}
  %0 = "stablehlo.send"(%inputs, %token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, is_host_transfer = true}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @types(%inputs: !stablehlo.token, %token: !stablehlo.token, %inputs_1: tensor<2xf32>, %token_1: tensor<f32>) {
  // expected-error@+1 {{operand #0 (inputs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "stablehlo.send"(%inputs, %token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  // expected-error@+1 {{operand #1 (token) must be token, but is tensor<f32>}}
  %1 = "stablehlo.send"(%inputs_1, %token_1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xf32>, tensor<f32>) -> !stablehlo.token
  // expected-error@+1 {{result #0 (result) must be token, but is tensor<f32>}}
  %2 = "stablehlo.send"(%inputs_1, %token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xf32>, !stablehlo.token) -> tensor<f32>
  // expected-error@+1 {{attribute 'is_host_transfer' must be a boolean}}
  %3 = "stablehlo.send"(%inputs_1, %token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, is_host_transfer = "wrong"}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  // expected-error@+1 {{attribute 'source_target_pairs' must be a 2-dimensional tensor of 64-bit integers}}
  %4 = "stablehlo.send"(%inputs_1, %token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = "wrong"}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  // expected-error@+1 {{attribute 'channel_handle' must be a #stablehlo.channel_handle<...>}}
  %5 = "stablehlo.send"(%inputs_1, %token) <{channel_handle = 1 : i64, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
