sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @manual_computation_C1(%tensors0: tensor<4xf32>, %tensors1: tensor<4xf32>) {
  // expected-error@+1 {{(C1): size(devices.inputs) == size(tensors) and size(devices.outputs) == size(results)}}
  %0 = "sdy.manual_computation"(%tensors0, %tensors1) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x", "y"}>}> ({
    ^bb0(%p: tensor<2xf32>):
      sdy.return %p : tensor<2xf32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @manual_computation_C1_results(%tensors: tensor<4xf32>) {
  // expected-error@+1 {{(C1): size(devices.inputs) == size(tensors) and size(devices.outputs) == size(results)}}
  %0:2 = "sdy.manual_computation"(%tensors) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x", "y"}>}> ({
    ^bb0(%p: tensor<2xf32>):
      sdy.return %p : tensor<2xf32>
  }) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @manual_computation_C2(%tensors: tensor<6xf32>) {
  // expected-error@+1 {{(C2): all_compatible(body.inputs, list(map(devices.local, tensors, devices.inputs)))}}
  %0 = "sdy.manual_computation"(%tensors) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x", "y"}>}> ({
    ^bb0(%p: tensor<2xf32>):
      sdy.return %p : tensor<2xf32>
  }) : (tensor<6xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @manual_computation_C3(%tensors: tensor<4xf32>) {
  // expected-error@+1 {{(C3): all_compatible(body.outputs, list(map(devices.local, results, devices.outputs)))}}
  %0 = "sdy.manual_computation"(%tensors) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x", "y"}>}> ({
    ^bb0(%p: tensor<2xf32>):
      sdy.return %p : tensor<2xf32>
  }) : (tensor<4xf32>) -> tensor<6xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @manual_computation_C4(%tensors: tensor<5xf32>) {
  // expected-error@+1 {{(C4): all(map(devices.can_split, (*tensors, *results), devices.inputs + devices.outputs))}}
  %0 = "sdy.manual_computation"(%tensors) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x", "y"}>}> ({
    ^bb0(%p: tensor<2xf32>):
      sdy.return %p : tensor<2xf32>
  }) : (tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @manual_computation_C4_results(%tensors: tensor<4xf32>) {
  // expected-error@+1 {{(C4): all(map(devices.can_split, (*tensors, *results), devices.inputs + devices.outputs))}}
  %0 = "sdy.manual_computation"(%tensors) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x", "y"}>}> ({
    ^bb0(%p: tensor<2xf32>):
      sdy.return %p : tensor<2xf32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @sharding_constraint_C1(%input: tensor<4xf32>) {
  // expected-error@+1 {{(C1): compatible(input, result)}}
  %0 = "sdy.sharding_constraint"(%input) <{sharding = #sdy.sharding<@mesh, [{"x"}]>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @reshard_C1(%input: tensor<4xf32>) {
  // expected-error@+1 {{(C1): compatible(input, result)}}
  %0 = "sdy.reshard"(%input) <{sharding = #sdy.sharding<@mesh, [{"x"}]>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @propagation_barrier_C1(%input: tensor<4xf32>) {
  // expected-error@+1 {{(C1): compatible(input, result)}}
  %0 = "sdy.propagation_barrier"(%input) <{allowed_direction = #sdy<propagation_direction NONE>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}
