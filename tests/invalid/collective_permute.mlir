func.func @C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): all(size(pair) == 2 for pair in source_target_pairs)}}
  %0 = "stablehlo.collective_permute"(%operand) <{source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C2(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C2): is_unique([source for source, _ in source_target_pairs])}}
  %0 = "stablehlo.collective_permute"(%operand) <{source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C3(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C3): is_unique([target for _, target in source_target_pairs])}}
  %0 = "stablehlo.collective_permute"(%operand) <{source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C4(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C4): all(0 <= i for pair in source_target_pairs for i in pair)}}
  %0 = "stablehlo.collective_permute"(%operand) <{source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C5(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C5): compatible(result, operand)}}
  %0 = "stablehlo.collective_permute"(%operand) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2xf32>
  // expected-error@+1 {{(C4): 0 <= ids < num_replicas}}
  %0 = "stablehlo.collective_permute"(%operand) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C5_element_type(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C5): compatible(result, operand)}}
  %0 = "stablehlo.collective_permute"(%operand) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @types(%operand: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.collective_permute"(%operand) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %1 = "stablehlo.collective_permute"(%operand_1) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // expected-error@+1 {{requires attribute 'source_target_pairs'}}
  %2 = "stablehlo.collective_permute"(%operand_1) : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'source_target_pairs' must be a 2-dimensional tensor of 64-bit integers}}
  %3 = "stablehlo.collective_permute"(%operand_1) <{source_target_pairs = "wrong"}> : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'channel_handle' must be a #stablehlo.channel_handle<...>}}
  %4 = "stablehlo.collective_permute"(%operand_1) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, channel_handle = 1 : i64}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
