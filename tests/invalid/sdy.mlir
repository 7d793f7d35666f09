sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @manual_computation_C1(%tensors0: tensor<4xf32>, %tensors1: tensor<4xf32>) {
  // expected-error@+1 {{'sdy.manual_computation' op in_shardings: expected 2 shardings, one for each value, got 1}}
  %0 = "sdy.manual_computation"(%tensors0, %tensors1) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x", "y"}>}> ({
    ^bb0(%p: tensor<2xf32>):
      sdy.return %p : tensor<2xf32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @manual_computation_C1_results(%tensors: tensor<4xf32>) {
  // expected-error@+1 {{'sdy.manual_computation' op out_shardings: expected 2 shardings, one for each value, got 1}}
  %0:2 = "sdy.manual_computation"(%tensors) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x", "y"}>}> ({
    ^bb0(%p: tensor<2xf32>):
      sdy.return %p : tensor<2xf32>
  }) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @manual_computation_C2(%tensors: tensor<6xf32>) {
  // expected-error@+1 {{(C2): body.inputs == tuple(map(shards.local, tensors, inputs))}}
  %0 = "sdy.manual_computation"(%tensors) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x", "y"}>}> ({
    ^bb0(%p: tensor<2xf32>):
      sdy.return %p : tensor<2xf32>
  }) : (tensor<6xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @manual_computation_C3(%tensors: tensor<4xf32>) {
  // expected-error@+1 {{(C3): body.outputs == tuple(map(shards.local, results, outputs))}}
  %0 = "sdy.manual_computation"(%tensors) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x", "y"}>}> ({
    ^bb0(%p: tensor<2xf32>):
      sdy.return %p : tensor<2xf32>
  }) : (tensor<4xf32>) -> tensor<6xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @manual_computation_C4(%tensors: tensor<5xf32>) {
  // expected-error@+1 {{(C4): all(map(shards.are_equal, (*tensors, *results), inputs + outputs))}}
  %0 = "sdy.manual_computation"(%tensors) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x", "y"}>}> ({
    ^bb0(%p: tensor<2xf32>):
      sdy.return %p : tensor<2xf32>
  }) : (tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @manual_computation_C4_results(%tensors: tensor<4xf32>) {
  // expected-error@+1 {{(C4): all(map(shards.are_equal, (*tensors, *results), inputs + outputs))}}
  %0 = "sdy.manual_computation"(%tensors) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x", "y"}>}> ({
    ^bb0(%p: tensor<2xf32>):
      sdy.return %p : tensor<2xf32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @sharding_constraint_C1(%input: tensor<4xf32>) {
  // expected-error@+1 {{(C1): input == result}}
  %0 = "sdy.sharding_constraint"(%input) <{sharding = #sdy.sharding<@mesh, [{"x"}]>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @reshard_C1(%input: tensor<4xf32>) {
  // expected-error@+1 {{(C1): input == result}}
  %0 = "sdy.reshard"(%input) <{sharding = #sdy.sharding<@mesh, [{"x"}]>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @propagation_barrier_C1(%input: tensor<4xf32>) {
  // expected-error@+1 {{(C1): input == result}}
  %0 = "sdy.propagation_barrier"(%input) <{allowed_direction = #sdy<propagation_direction NONE>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @manual_computation_C5(%a: tensor<8xf32>) {
  // expected-error@+1 {{(C5): all(map(shards.come_first, inputs + outputs))}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y", "x"}]>] out_shardings=[<@mesh, [{"y", "x"}]>] manual_axes={"x"} (%p: tensor<2xf32>) {
    sdy.return %p : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @manual_axis_of_no_mesh(%a: tensor<8xf32>) {
  // expected-error@+1 {{op unknown manual axis "z"}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x", "z"} (%p: tensor<2xf32>) {
    sdy.return %p : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @manual_computation_on_two_meshes(%a: tensor<8xf32>) {
  // expected-error@+1 {{op shardings are on different meshes, @mesh and mesh<["x"=4]>}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<mesh<["x"=4]>, [{"x"}]>] manual_axes={"x"} (%p: tensor<2xf32>) {
    sdy.return %p : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @manual_axis_twice(%a: tensor<8xf32>) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%p: tensor<2xf32>) {
    // expected-error@+1 {{op manual axis "x" is already bound by a surrounding sdy.manual_computation}}
    %1 = sdy.manual_computation(%p) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%q: tensor<2xf32>) {
      sdy.return %q : tensor<2xf32>
    } : (tensor<2xf32>) -> tensor<2xf32>
    // expected-error@+1 {{op axis "x" is already bound by a surrounding sdy.manual_computation}}
    %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<2xf32>
    sdy.return %2 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @mesh_parent() {
  // expected-error@+1 {{(parent): is_directly_in_module(op)}}
  sdy.mesh @inner = <["x"=2]>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @propagation_barrier_C2(%a: tensor<8xf32>) {
  // expected-error@+1 {{(C2): allowed_direction != PropagationDirection.BOTH}}
  %0 = sdy.propagation_barrier %a allowed_direction=BOTH : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @data_flow_edge_C1(%a: tensor<8xf32>) {
  // expected-error@+1 {{(C1): input == result}}
  %0 = "sdy.data_flow_edge"(%a) : (tensor<8xf32>) -> tensor<9xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @data_flow_edge_C2(%a: tensor<?xf32>) {
  // expected-error@+1 {{(C2): result.is_static}}
  %0 = sdy.data_flow_edge %a : tensor<?xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @data_flow_edge_C3(%a: tensor<8xf32>) {
  %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>
  // expected-error@+1 {{(C3): all(may_own_edge(producer) for producer in producers())}}
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @data_flow_edge_sharding(%a: tensor<8xf32>) {
  // expected-error@+1 {{op expected 1 dimensions in the sharding of tensor<8xf32>, got 2}}
  %0 = sdy.data_flow_edge %a sharding=<@mesh, [{}, {}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @func_data_flow_edge_C1(%a: tensor<8xf32>) {
  // expected-error@+1 {{(C1): input == result}}
  %0 = "sdy.func_data_flow_edge"(%a) : (tensor<8xf32>) -> tensor<9xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @func_data_flow_edge_C2(%a: tensor<?xf32>) {
  // expected-error@+1 {{(C2): result.is_static}}
  %0 = sdy.func_data_flow_edge %a : tensor<?xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @func_data_flow_edge_C3(%a: tensor<8xf32>) {
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  // expected-error@+1 {{(C3): all(map(is_at_call, op.operands))}}
  %1 = sdy.func_data_flow_edge %0 : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @func_data_flow_edge_C3_argument(%a: tensor<8xf32>) {
  %0 = sdy.named_computation<"f">(%a) (%p: tensor<8xf32>) {
    // expected-error@+1 {{(C3): all(map(is_at_call, op.operands))}}
    %1 = sdy.func_data_flow_edge %p : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @constant_C1() {
  // expected-error@+1 {{(C1): output == value.type}}
  %0 = "sdy.constant"() <{value = dense<1> : tensor<2xi32>}> : () -> tensor<3xi32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @named_computation_C1(%a: tensor<8xf32>) {
  // expected-error@+1 {{(C1): tuple(body.inputs) == tuple(operands)}}
  sdy.named_computation<"f">(%a) (%p: tensor<9xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @named_computation_C2(%a: tensor<8xf32>) {
  // expected-error@+1 {{(C2): tuple(body.outputs) == tuple(results)}}
  %0 = sdy.named_computation<"f">(%a) (%p: tensor<8xf32>) {
    sdy.return %p : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<9xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @named_computation_shardings(%a: tensor<8xf32>) {
  // expected-error@+1 {{op in_shardings: unknown axis "z"}}
  %0 = sdy.named_computation<"f">(%a) in_shardings=[<@mesh, [{"z"}]>] (%p: tensor<8xf32>) {
    sdy.return %p : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @named_computation_terminator(%a: tensor<8xf32>) {
  // expected-error@+1 {{expects a region that ends with a terminator of its dialect, got 'stablehlo.return'}}
  %0 = sdy.named_computation<"f">(%a) (%p: tensor<8xf32>) {
    stablehlo.return %p : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @manual_computation_terminator(%a: tensor<8xf32>) {
  // expected-error@+1 {{expects a region that ends with a terminator of its dialect, got 'func.return'}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={} (%p: tensor<8xf32>) {
    func.return %p : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @sharding_constraint_C1_dynamic(%a: tensor<?xf32>) {
  // expected-error@+1 {{(C1): input == result}}
  %0 = "sdy.sharding_constraint"(%a) <{sharding = #sdy.sharding<@mesh, [{}]>}> : (tensor<?xf32>) -> tensor<8xf32>
  return
}
