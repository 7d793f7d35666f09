func.func @C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "stablehlo.cross-replica-sum"(%operand) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2xf32>
  // expected-error@+1 {{(C1): 0 <= ids < num_replicas}}
  %0 = "stablehlo.cross-replica-sum"(%operand) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @types(%operand: tensor<2x!quant.uniform<i8:f32, 1.0>>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor, but is tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %0 = "stablehlo.cross-replica-sum"(%operand) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor, but is tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %1 = "stablehlo.cross-replica-sum"(%operand_1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  // expected-error@+1 {{requires attribute 'replica_groups'}}
  %2 = "stablehlo.cross-replica-sum"(%operand_1) : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'replica_groups' must be a rank 2 tensor of 64-bit integers, or mesh axes}}
  %3 = "stablehlo.cross-replica-sum"(%operand_1) <{replica_groups = "wrong"}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
