func.func @C1(%operand: tensor<2x5xf32>) {
  // expected-error@+1 {{(C1): is_multiple(dim(operand, scatter_dimension), ids_in_group * partitions)}}
  %0 = "stablehlo.reduce_scatter"(%operand) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x5xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @C2(%operand: tensor<2x4xf32>) {
  // expected-error@+1 {{(C2): 0 <= scatter_dimension < rank(operand)}}
  %0 = "stablehlo.reduce_scatter"(%operand) <{scatter_dimension = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @C2_negative(%operand: tensor<2x4xf32>) {
  // expected-error@+1 {{(C2): 0 <= scatter_dimension < rank(operand)}}
  %0 = "stablehlo.reduce_scatter"(%operand) <{scatter_dimension = -1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @C3(%operand: tensor<2x4xf32>) {
  // expected-error@+1 {{(C3): is_unique(ids)}}
  %0 = "stablehlo.reduce_scatter"(%operand) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @C5(%operand: tensor<2x4xf32>) {
  // expected-error@+1 {{(C5): in_range(ids, size(ids))}}
  %0 = "stablehlo.reduce_scatter"(%operand) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @C6(%operand: tensor<2x4xf32>) {
  // expected-error@+1 {{(C6): not use_global_device_ids or channel_id > 0}}
  %0 = "stablehlo.reduce_scatter"(%operand) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @C7(%operand: tensor<2x4xf32>) {
  // expected-error@+1 {{(C7): is_reducer(computation, [operand])}}
  %0 = "stablehlo.reduce_scatter"(%operand) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<2x4xf32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @C8(%operand: tensor<2x4xf32>) {
  // expected-error@+1 {{(C8): shape(operand) == shape(times(result, {scatter_dimension: ids_in_group * partitions})) and is_multiple(dim(operand, scatter_dimension), dim(result, scatter_dimension) * ids_in_group)}}
  %0 = "stablehlo.reduce_scatter"(%operand) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @C8_other_sizes(%operand: tensor<2x4xf32>) {
  // expected-error@+1 {{(C8): shape(operand) == shape(times(result, {scatter_dimension: ids_in_group * partitions})) and is_multiple(dim(operand, scatter_dimension), dim(result, scatter_dimension) * ids_in_group)}}
  %0 = "stablehlo.reduce_scatter"(%operand) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @C9(%operand: tensor<2x4xf32>) {
  // expected-error@+1 {{(C9): element_type(result) == element_type(computation.outputs[0])}}
  %0 = "stablehlo.reduce_scatter"(%operand) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x2xf64>
  return
}

// -----

func.func @C8_partitions(%operand: tensor<2x4xf32>) {
  // expected-error@+1 {{(C8): shape(operand) == shape(times(result, {scatter_dimension: ids_in_group * partitions})) and is_multiple(dim(operand, scatter_dimension), dim(result, scatter_dimension) * ids_in_group)}}
  %0 = "stablehlo.reduce_scatter"(%operand) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @each(%operand: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{(C4): size(ids) == num_replicas}}
  %0 = "stablehlo.reduce_scatter"(%operand) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

func.func @main() {
  %x = stablehlo.constant dense<0.0> : tensor<2x4xf32>
  %0:2 = "interpreter.run_parallel"(%x, %x) {programs = [[@each], [@each]]} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x4xf32>
  // expected-error@+1 {{(C8): expected tensor<2x2xf32>, got shape (2, 4)}}
  %0 = "stablehlo.reduce_scatter"(%operand) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @types(%operand: tensor<2x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %operand_1: tensor<2x4xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or per-tensor quantized tensor, but is tensor<2x4x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.reduce_scatter"(%operand) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<2x2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %1 = "stablehlo.reduce_scatter"(%operand_1) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // expected-error@+1 {{requires attribute 'scatter_dimension'}}
  %2 = "stablehlo.reduce_scatter"(%operand_1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x2xf32>
  // expected-error@+1 {{attribute 'scatter_dimension' must be a 64-bit integer}}
  %3 = "stablehlo.reduce_scatter"(%operand_1) <{scatter_dimension = "wrong", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x2xf32>
  // expected-error@+1 {{requires attribute 'replica_groups'}}
  %4 = "stablehlo.reduce_scatter"(%operand_1) <{scatter_dimension = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x2xf32>
  // expected-error@+1 {{attribute 'replica_groups' must be a rank 2 tensor of 64-bit integers, or mesh axes}}
  %5 = "stablehlo.reduce_scatter"(%operand_1) <{scatter_dimension = 1 : i64, replica_groups = "wrong"}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x2xf32>
  // expected-error@+1 {{attribute 'use_global_device_ids' must be a unit or boolean}}
  %6 = "stablehlo.reduce_scatter"(%operand_1) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids = "wrong"}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x2xf32>
  // expected-error@+1 {{attribute 'channel_handle' must be a #stablehlo.channel_handle<...>}}
  %7 = "stablehlo.reduce_scatter"(%operand_1) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
