func.func @C1(%operands: tensor<2xf32>) {
  // expected-error@+1 {{(C1): is_unique(ids)}}
  %0 = "stablehlo.collective_reduce"(%operands) <{replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C2(%operands: tensor<2xf32>) {
  // expected-error@+1 {{(C2): all(0 <= i for i in ids)}}
  %0 = "stablehlo.collective_reduce"(%operands) <{replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C2_channel_id(%operands: tensor<2xf32>) {
  // expected-error@+1 {{(C2): not use_global_device_ids or channel_id > 0}}
  %0 = "stablehlo.collective_reduce"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C3(%operands: tensor<2xf32>) {
  // expected-error@+1 {{(C3): size(results) == size(infer()) and all(map(compatible, results, infer()))}}
  %0 = "stablehlo.collective_reduce"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @C3_size(%operands: tensor<2xf32>) {
  // expected-error@+1 {{(C3): size(results) == size(infer()) and all(map(compatible, results, infer()))}}
  %0:2 = "stablehlo.collective_reduce"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C3_root(%operands0: tensor<2xf32>, %operands1: tensor<1xi64>) {
  // expected-error@+1 {{(C3): size(operands) > has_dynamic_root and (not has_dynamic_root or is_root(operands))}}
  %0 = "stablehlo.collective_reduce"(%operands0, %operands1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>, tensor<1xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @C3_no_root() {
  // expected-error@+1 {{(C3): size(operands) > has_dynamic_root and (not has_dynamic_root or is_root(operands))}}
  "stablehlo.collective_reduce"() <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : () -> ()
  return
}

// -----

func.func @C3_no_operands() {
  // expected-error@+1 {{(C3): size(operands) > has_dynamic_root and (not has_dynamic_root or is_root(operands))}}
  "stablehlo.collective_reduce"() <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : () -> ()
  return
}

// -----

func.func @main() {
  %operands = stablehlo.constant dense<0.0> : tensor<2xf32>
  // expected-error@+1 {{(C2): 0 <= ids < num_replicas}}
  %0 = "stablehlo.collective_reduce"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @main() {
  %operands0 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %operands1 = stablehlo.constant dense<[1]> : tensor<1xi32>
  // expected-error@+1 {{(C3): 0 <= root < 1}}
  %0 = "stablehlo.collective_reduce"(%operands0, %operands1) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>, has_dynamic_root}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>, tensor<1xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @C4(%operands: tensor<2xf32>) {
  // expected-error@+1 {{(C4): all(is_reducer(computation, [o]) for o in (operands[:-1] if has_dynamic_root else operands))}}
  %0 = "stablehlo.collective_reduce"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @types(%operands: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %operands_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operands) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.collective_reduce"(%operands) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (results) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %1 = "stablehlo.collective_reduce"(%operands_1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // expected-error@+1 {{requires attribute 'replica_groups'}}
  %2 = "stablehlo.collective_reduce"(%operands_1) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'replica_groups' must be a rank 2 tensor of 64-bit integers, or mesh axes}}
  %3 = "stablehlo.collective_reduce"(%operands_1) <{replica_groups = "wrong"}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'use_global_device_ids' must be a unit or boolean}}
  %4 = "stablehlo.collective_reduce"(%operands_1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids = "wrong"}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'has_dynamic_root' must be a unit or boolean}}
  %5 = "stablehlo.collective_reduce"(%operands_1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root = "wrong"}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'channel_handle' must be a #stablehlo.channel_handle<...>}}
  %6 = "stablehlo.collective_reduce"(%operands_1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
