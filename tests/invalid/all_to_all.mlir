func.func @C1(%operands: tensor<2x4xf32>) {
  // expected-error@+1 {{(C1): all(0 <= split_dimension < rank(operand) for operand in operands)}}
  %0 = "stablehlo.all_to_all"(%operands) <{split_dimension = 2 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C1_negative(%operands: tensor<2x4xf32>) {
  // expected-error@+1 {{(C1): all(0 <= split_dimension < rank(operand) for operand in operands)}}
  %0 = "stablehlo.all_to_all"(%operands) <{split_dimension = -1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C2(%operands: tensor<2x5xf32>) {
  // expected-error@+1 {{(C2): all(is_multiple(dim(operand, split_dimension), split_count) for operand in operands)}}
  %0 = "stablehlo.all_to_all"(%operands) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x5xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C3(%operands: tensor<2x4xf32>) {
  // expected-error@+1 {{(C3): all(0 <= concat_dimension < rank(operand) for operand in operands)}}
  %0 = "stablehlo.all_to_all"(%operands) <{split_dimension = 1 : i64, concat_dimension = 2 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C3_negative(%operands: tensor<2x4xf32>) {
  // expected-error@+1 {{(C3): all(0 <= concat_dimension < rank(operand) for operand in operands)}}
  %0 = "stablehlo.all_to_all"(%operands) <{split_dimension = 1 : i64, concat_dimension = -1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C4(%operands: tensor<2x4xf32>) {
  // expected-error@+1 {{(C4): 0 < split_count}}
  %0 = "stablehlo.all_to_all"(%operands) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C5(%operands: tensor<2x4xf32>) {
  // expected-error@+1 {{(C5): is_unique(ids)}}
  %0 = "stablehlo.all_to_all"(%operands) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C7(%operands: tensor<2x4xf32>) {
  // expected-error@+1 {{(C7): in_range(ids, size(ids))}}
  %0 = "stablehlo.all_to_all"(%operands) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C8(%operands: tensor<2x4xf32>) {
  // expected-error@+1 {{(C8): group_size(replica_groups, op) == split_count}}
  %0 = "stablehlo.all_to_all"(%operands) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C9(%operands: tensor<2x4xf32>) {
  // expected-error@+1 {{(C9): size(results) == size(operands) and all(map(compatible, results, infer()))}}
  %0 = "stablehlo.all_to_all"(%operands) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @C9_element_type(%operands: tensor<2x4xf32>) {
  // expected-error@+1 {{(C9): size(results) == size(operands) and all(map(compatible, results, infer()))}}
  %0 = "stablehlo.all_to_all"(%operands) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf64>
  return
}

// -----

func.func @C9_size(%operands: tensor<2x4xf32>) {
  // expected-error@+1 {{(C9): size(results) == size(operands) and all(map(compatible, results, infer()))}}
  %0:2 = "stablehlo.all_to_all"(%operands) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @each(%operands: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{(C6): size(ids) == num_replicas}}
  %0 = "stablehlo.all_to_all"(%operands) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

func.func @main() {
  %x = stablehlo.constant dense<0.0> : tensor<2x4xf32>
  %0:2 = "interpreter.run_parallel"(%x, %x) {programs = [[@each], [@each]]} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @types(%operands: tensor<2x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %operands_1: tensor<2x4xf32>) {
  // expected-error@+1 {{operand #0 (operands) must be tensor or per-tensor quantized tensor, but is tensor<2x4x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.all_to_all"(%operands) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<4x2xf32>
  // expected-error@+1 {{result #0 (results) must be tensor or per-tensor quantized tensor, but is tensor<4x2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00,4.000000e+00}>>}}
  %1 = "stablehlo.all_to_all"(%operands_1) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0}>>
  // expected-error@+1 {{requires attribute 'split_dimension'}}
  %2 = "stablehlo.all_to_all"(%operands_1) <{concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  // expected-error@+1 {{attribute 'split_dimension' must be a 64-bit integer}}
  %3 = "stablehlo.all_to_all"(%operands_1) <{split_dimension = "wrong", concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  // expected-error@+1 {{requires attribute 'concat_dimension'}}
  %4 = "stablehlo.all_to_all"(%operands_1) <{split_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  // expected-error@+1 {{attribute 'concat_dimension' must be a 64-bit integer}}
  %5 = "stablehlo.all_to_all"(%operands_1) <{split_dimension = 1 : i64, concat_dimension = "wrong", split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  // expected-error@+1 {{requires attribute 'split_count'}}
  %6 = "stablehlo.all_to_all"(%operands_1) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  // expected-error@+1 {{attribute 'split_count' must be a 64-bit integer}}
  %7 = "stablehlo.all_to_all"(%operands_1) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = "wrong", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  // expected-error@+1 {{requires attribute 'replica_groups'}}
  %8 = "stablehlo.all_to_all"(%operands_1) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  // expected-error@+1 {{attribute 'replica_groups' must be a rank 2 tensor of 64-bit integers, or mesh axes}}
  %9 = "stablehlo.all_to_all"(%operands_1) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = "wrong"}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  // expected-error@+1 {{attribute 'channel_handle' must be a #stablehlo.channel_handle<...>}}
  %10 = "stablehlo.all_to_all"(%operands_1) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = 1 : i64}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
