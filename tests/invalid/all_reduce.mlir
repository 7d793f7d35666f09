func.func @C1(%operands: tensor<4xf32>) {
  // expected-error@+1 {{(C1): is_unique(ids)}}
  %0 = "stablehlo.all_reduce"(%operands) <{replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @C3(%operands: tensor<4xf32>) {
  // expected-error@+1 {{(C3): in_range(ids, size(ids))}}
  %0 = "stablehlo.all_reduce"(%operands) <{replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @C3_negative(%operands: tensor<4xf32>) {
  // expected-error@+1 {{(C3): in_range(ids, size(ids))}}
  %0 = "stablehlo.all_reduce"(%operands) <{replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @C3_no_groups(%operands: tensor<4xf32>) {
  // expected-error@+1 {{(C3): not (use_global_device_ids and replica_groups == ())}}
  %0 = "stablehlo.all_reduce"(%operands) <{replica_groups = dense<> : tensor<0x0xi64>, use_global_device_ids, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @C4(%operands: tensor<4xf32>) {
  // expected-error@+1 {{(C4): not use_global_device_ids or channel_id > 0}}
  %0 = "stablehlo.all_reduce"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @C5(%operands: tensor<4xf32>) {
  // expected-error@+1 {{(C5): all(is_reducer(computation, [operand]) for operand in operands)}}
  %0 = "stablehlo.all_reduce"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<4xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @C5_promotable(%operands: tensor<4xf64>) {
  // expected-error@+1 {{(C5): all(is_reducer(computation, [operand]) for operand in operands)}}
  %0 = "stablehlo.all_reduce"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @C6(%operands: tensor<4xf32>) {
  // expected-error@+1 {{(C6): size(results) == size(operands) and list(map(shape, results)) == list(map(shape, operands))}}
  %0 = "stablehlo.all_reduce"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @C6_size(%operands: tensor<4xf32>) {
  // expected-error@+1 {{(C6): size(results) == size(operands) and list(map(shape, results)) == list(map(shape, operands))}}
  %0:2 = "stablehlo.all_reduce"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @C7(%operands: tensor<4xf32>) {
  // expected-error@+1 {{(C7): all(element_type(r) == element_type(computation.outputs[0]) for r in results)}}
  %0 = "stablehlo.all_reduce"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @each(%operands: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{(C2): size(ids) == num_replicas}}
  %0 = "stablehlo.all_reduce"(%operands) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @main() {
  %x = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0:2 = "interpreter.run_parallel"(%x, %x) {programs = [[@each], [@each]]} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @types(%operands: tensor<4x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0}>>, %operands_1: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 (operands) must be tensor or per-tensor quantized tensor, but is tensor<4x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00,4.000000e+00}>>}}
  %0 = "stablehlo.all_reduce"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0}>>) -> tensor<4xf32>
  // expected-error@+1 {{result #0 (results) must be tensor or per-tensor quantized tensor, but is tensor<4x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00,4.000000e+00}>>}}
  %1 = "stablehlo.all_reduce"(%operands_1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0}>>
  // expected-error@+1 {{requires attribute 'replica_groups'}}
  %2 = "stablehlo.all_reduce"(%operands_1) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{attribute 'replica_groups' must be a rank 2 tensor of 64-bit integers, or mesh axes}}
  %3 = "stablehlo.all_reduce"(%operands_1) <{replica_groups = "wrong"}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{attribute 'use_global_device_ids' must be a unit or boolean}}
  %4 = "stablehlo.all_reduce"(%operands_1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids = "wrong"}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{attribute 'channel_handle' must be a #stablehlo.channel_handle<...>}}
  %5 = "stablehlo.all_reduce"(%operands_1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
