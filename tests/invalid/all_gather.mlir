func.func @C1(%operands: tensor<2x3xf32>) {
  // expected-error@+1 {{(C1): all(0 <= all_gather_dim < rank(operand) for operand in operands)}}
  %0 = "stablehlo.all_gather"(%operands) <{all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @C1_negative(%operands: tensor<2x3xf32>) {
  // expected-error@+1 {{(C1): all(0 <= all_gather_dim < rank(operand) for operand in operands)}}
  %0 = "stablehlo.all_gather"(%operands) <{all_gather_dim = -1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @C2(%operands: tensor<2x3xf32>) {
  // expected-error@+1 {{(C2): is_unique(ids)}}
  %0 = "stablehlo.all_gather"(%operands) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @C4(%operands: tensor<2x3xf32>) {
  // expected-error@+1 {{(C4): in_range(ids, size(ids))}}
  %0 = "stablehlo.all_gather"(%operands) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @C4_negative(%operands: tensor<2x3xf32>) {
  // expected-error@+1 {{(C4): in_range(ids, size(ids))}}
  %0 = "stablehlo.all_gather"(%operands) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, -1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @C5(%operands: tensor<2x3xf32>) {
  // expected-error@+1 {{(C5): not use_global_device_ids or channel_id > 0}}
  %0 = "stablehlo.all_gather"(%operands) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @C6(%operands: tensor<2x3xf32>) {
  // expected-error@+1 {{(C6): size(results) == size(operands) and all(is_multiple(dim(r, all_gather_dim), dim(o, all_gather_dim)) and compatible(r, resized(o, {all_gather_dim: dim(r, all_gather_dim)})) for o, r in zip(operands, results))}}
  %0 = "stablehlo.all_gather"(%operands) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @C6_not_a_multiple(%operands: tensor<2x3xf32>) {
  // expected-error@+1 {{(C6): size(results) == size(operands) and all(is_multiple(dim(r, all_gather_dim), dim(o, all_gather_dim)) and compatible(r, resized(o, {all_gather_dim: dim(r, all_gather_dim)})) for o, r in zip(operands, results))}}
  %0 = "stablehlo.all_gather"(%operands) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @C6_element_type(%operands: tensor<2x3xf32>) {
  // expected-error@+1 {{(C6): size(results) == size(operands) and all(is_multiple(dim(r, all_gather_dim), dim(o, all_gather_dim)) and compatible(r, resized(o, {all_gather_dim: dim(r, all_gather_dim)})) for o, r in zip(operands, results))}}
  %0 = "stablehlo.all_gather"(%operands) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x6xf64>
  return
}

// -----

func.func @C6_size(%operands: tensor<2x3xf32>) {
  // expected-error@+1 {{(C6): size(results) == size(operands) and all(is_multiple(dim(r, all_gather_dim), dim(o, all_gather_dim)) and compatible(r, resized(o, {all_gather_dim: dim(r, all_gather_dim)})) for o, r in zip(operands, results))}}
  %0:2 = "stablehlo.all_gather"(%operands) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> (tensor<2x6xf32>, tensor<2x6xf32>)
  return
}

// -----

func.func @each(%operands: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{(C3): size(ids) == num_replicas}}
  %0 = "stablehlo.all_gather"(%operands) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @main() {
  %x = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %0:2 = "interpreter.run_parallel"(%x, %x) {programs = [[@each], [@each]]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return
}

// -----

func.func @main() {
  %operands = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C6): expected tensor<2x6xf32>, got shape (2, 3)}}
  %0 = "stablehlo.all_gather"(%operands) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @types(%operands: tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %operands_1: tensor<2x3xf32>) {
  // expected-error@+1 {{operand #0 (operands) must be tensor or per-tensor quantized tensor, but is tensor<2x3x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.all_gather"(%operands) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x6xf32>
  // expected-error@+1 {{result #0 (results) must be tensor or per-tensor quantized tensor, but is tensor<2x6x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %1 = "stablehlo.all_gather"(%operands_1) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x6x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // expected-error@+1 {{requires attribute 'all_gather_dim'}}
  %2 = "stablehlo.all_gather"(%operands_1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  // expected-error@+1 {{attribute 'all_gather_dim' must be a 64-bit integer}}
  %3 = "stablehlo.all_gather"(%operands_1) <{all_gather_dim = "wrong", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  // expected-error@+1 {{requires attribute 'replica_groups'}}
  %4 = "stablehlo.all_gather"(%operands_1) <{all_gather_dim = 1 : i64}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  // expected-error@+1 {{attribute 'replica_groups' must be a rank 2 tensor of 64-bit integers, or mesh axes}}
  %5 = "stablehlo.all_gather"(%operands_1) <{all_gather_dim = 1 : i64, replica_groups = "wrong"}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  // expected-error@+1 {{attribute 'use_global_device_ids' must be a unit or boolean}}
  %6 = "stablehlo.all_gather"(%operands_1) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids = "wrong"}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  // expected-error@+1 {{attribute 'channel_handle' must be a #stablehlo.channel_handle<...>}}
  %7 = "stablehlo.all_gather"(%operands_1) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = 1 : i64}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}
