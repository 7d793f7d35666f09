func.func @C1(%operands: tensor<2xf32>) {
  // expected-error@+1 {{(C1): is_unique(ids)}}
  %0 = "stablehlo.collective_broadcast"(%operands) <{replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C2(%operands: tensor<2xf32>) {
  // expected-error@+1 {{(C2): all(0 <= i for i in ids)}}
  %0 = "stablehlo.collective_broadcast"(%operands) <{replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C3(%operands: tensor<2xf32>) {
  // expected-error@+1 {{(C3): size(operands) >= 1 and all(map(compatible, results, infer()))}}
  %0 = "stablehlo.collective_broadcast"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @C3_size() {
  // expected-error@+1 {{(C3): size(operands) >= 1 and all(map(compatible, results, infer()))}}
  "stablehlo.collective_broadcast"() <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : () -> ()
  return
}

// -----

func.func @C4(%operands0: tensor<2xf32>, %operands1: tensor<1xi64>) {
  // expected-error@+1 {{(C4): size(operands) >= 2 and is_root(operands) and all(map(compatible, results, infer()))}}
  %0 = "stablehlo.collective_broadcast"(%operands0, %operands1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<2xf32>, tensor<1xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @C4_results(%operands0: tensor<2xf32>, %operands1: tensor<1xi32>) {
  // expected-error@+1 {{(C4): size(operands) >= 2 and is_root(operands) and all(map(compatible, results, infer()))}}
  %0 = "stablehlo.collective_broadcast"(%operands0, %operands1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<2xf32>, tensor<1xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @C4_size(%operands: tensor<0xi32>) {
  // expected-error@+1 {{(C4): size(operands) >= 2 and is_root(operands) and all(map(compatible, results, infer()))}}
  "stablehlo.collective_broadcast"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<0xi32>) -> ()
  return
}

// -----

func.func @C5(%operands: tensor<2xf32>) {
  // expected-error@+1 {{(C5): size(results) == size(operands) - (1 if has_dynamic_root else 0)}}
  %0:2 = "stablehlo.collective_broadcast"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C5_dynamic_root(%operands0: tensor<2xf32>, %operands1: tensor<1xi32>) {
  // expected-error@+1 {{(C5): size(results) == size(operands) - (1 if has_dynamic_root else 0)}}
  %0:2 = "stablehlo.collective_broadcast"(%operands0, %operands1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<2xf32>, tensor<1xi32>) -> (tensor<2xf32>, tensor<1xi32>)
  return
}

// -----

func.func @main() {
  %operands = stablehlo.constant dense<0.0> : tensor<2xf32>
  // expected-error@+1 {{(C2): 0 <= ids < num_replicas}}
  %0 = "stablehlo.collective_broadcast"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @main() {
  %operands0 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %operands1 = stablehlo.constant dense<[1]> : tensor<1xi32>
  // expected-error@+1 {{(C6): 0 <= root < 1}}
  %0 = "stablehlo.collective_broadcast"(%operands0, %operands1) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>, has_dynamic_root}> : (tensor<2xf32>, tensor<1xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @types(%operands: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %operands_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operands) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.collective_broadcast"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (results) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %1 = "stablehlo.collective_broadcast"(%operands_1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // expected-error@+1 {{requires attribute 'replica_groups'}}
  %2 = "stablehlo.collective_broadcast"(%operands_1) : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'replica_groups' must be a rank 2 tensor of 64-bit integers, or mesh axes}}
  %3 = "stablehlo.collective_broadcast"(%operands_1) <{replica_groups = "wrong"}> : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'has_dynamic_root' must be a unit or boolean}}
  %4 = "stablehlo.collective_broadcast"(%operands_1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root = "wrong"}> : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'channel_handle' must be a #stablehlo.channel_handle<...>}}
  %5 = "stablehlo.collective_broadcast"(%operands_1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = 1 : i64}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C2_padding(%operand: tensor<f32>) {
  // expected-error@+1 {{(C2): all(0 <= i for i in ids)}}
  %0 = "stablehlo.collective_broadcast"(%operand) <{replica_groups = dense<[[0, -1]]> : tensor<1x2xi64>}> : (tensor<f32>) -> tensor<f32>
  return
}
