func.func @C1(%token: !stablehlo.token) {
  // expected-error@+1 {{(C1): all(size(pair) == 2 for pair in source_target_pairs)}}
  %0:2 = "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// -----

func.func @C2(%token: !stablehlo.token) {
  // expected-error@+1 {{(C2): is_unique([source for source, _ in source_target_pairs])}}
  %0:2 = "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// -----

func.func @C3(%token: !stablehlo.token) {
  // expected-error@+1 {{(C3): is_unique([target for _, target in source_target_pairs])}}
  %0:2 = "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// -----

func.func @C4(%token: !stablehlo.token) {
  // expected-error@+1 {{(C4): all(0 <= i for pair in source_target_pairs for i in pair)}}
  %0:2 = "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// -----

func.func @C2_results(%token: !stablehlo.token) {
  // expected-error@+1 {{(C2): 0 < size(results)}}
  "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> ()
  return
}

// -----

func.func @C3_results(%token: !stablehlo.token) {
  // expected-error@+1 {{(C3): all(map(is_tensor, results[:-1]))}}
  %0:2 = "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

func.func @C4_results(%token: !stablehlo.token) {
  // expected-error@+1 {{(C4): is_token(results[-1])}}
  %0:2 = "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C5(%token: !stablehlo.token) {
  // expected-error@+1 {{(C5): channel_type in (FROM_HOST if is_host_transfer else (ChannelType.DEVICE_TO_DEVICE,))}}
  %0:2 = "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// -----

func.func @C5_host(%token: !stablehlo.token) {
  // expected-error@+1 {{(C5): channel_type in (FROM_HOST if is_host_transfer else (ChannelType.DEVICE_TO_DEVICE,))}}
  %0:2 = "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// -----

func.func @types(%token: tensor<f32>, %token_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (token) must be token, but is tensor<f32>}}
  %0:2 = "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<f32>) -> (tensor<2xf32>, !stablehlo.token)
  // expected-error@+1 {{attribute 'is_host_transfer' must be a boolean}}
  %1:2 = "stablehlo.recv"(%token_1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, is_host_transfer = "wrong"}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  // expected-error@+1 {{attribute 'source_target_pairs' must be a 2-dimensional tensor of 64-bit integers}}
  %2:2 = "stablehlo.recv"(%token_1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = "wrong"}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  // expected-error@+1 {{attribute 'channel_handle' must be a #stablehlo.channel_handle<...>}}
  %3:2 = "stablehlo.recv"(%token_1) <{channel_handle = 1 : i64, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// -----

func.func @result_type(%token: !stablehlo.token) {
  // expected-error@+1 {{result #0 (results) must be tensor or token, but is i32}}
  %0:2 = "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (!stablehlo.token) -> (i32, !stablehlo.token)
  return
}
