!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @assign_C1(%x: tensor<4xf32>) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{(C1): is_replicated(result)}}
  %0 = mpmd.assign %x : (tensor<4xf32>) -> !sharded
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @assign_C2(%x: tensor<2xf32>) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{(C2): tensor == result.tensor}}
  %0 = mpmd.assign %x : (tensor<2xf32>) -> !m
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @unassign_C1(%x: !sharded) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{(C1): is_replicated(tensor)}}
  %0 = mpmd.unassign %x : (!sharded) -> tensor<4xf32>
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @unassign_C2(%x: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{(C2): tensor.tensor == result}}
  %0 = mpmd.unassign %x : (!m) -> tensor<2xf32>
  return
}

// -----

func.func @broadcast_C1(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C1): tensor == result}}
  %0 = "mpmd.broadcast"(%x) : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @named_tensor_C1(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C1): tensor == result}}
  %0 = "mpmd.named_tensor"(%x) <{name = "a"}> : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @transfer_C1(%x: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{(C1): tensor.tensor == result.tensor}}
  %0 = mpmd.transfer %x : (!m) -> !mpmd.mesh_tensor<"n", tensor<2xf32>>
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @transfer_C2(%x: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{(C2): {tensor.memory_kind, result.memory_kind} <= {"", "device", "pinned_host"}}}
  %0 = mpmd.transfer %x : (!m) -> !mpmd.mesh_tensor<"n", tensor<4xf32>, memory_kind="disk">
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @unknown_mesh(%x: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{'mpmd.transfer' op no mesh of the topology has the name "k"}}
  %0 = mpmd.transfer %x : (!m) -> !mpmd.mesh_tensor<"k", tensor<4xf32>>
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @no_topology(%x: !m) {
  // expected-error@+1 {{'mpmd.transfer' op is not in a function with a topology}}
  %0 = mpmd.transfer %x : (!m) -> !n
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @not_divisible(%x: !mpmd.mesh_tensor<"m", tensor<3xf32>, sharding=<@mesh, [{"x"}]>>) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{'mpmd.transfer' op dim 0 with size 3 is not divisible by its sharded size 2}}
  %0 = mpmd.transfer %x : (!mpmd.mesh_tensor<"m", tensor<3xf32>, sharding=<@mesh, [{"x"}]>>) -> !mpmd.mesh_tensor<"n", tensor<3xf32>>
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @unknown_axis(%x: !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"y"}]>>) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{'mpmd.transfer' op unknown axis}}
  %0 = mpmd.transfer %x : (!mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"y"}]>>) -> !n
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @assign_parent(%p: tensor<i1>, %x: tensor<4xf32>) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  "stablehlo.if"(%p) ({
    // expected-error@+1 {{(parent): is_in(op, "func.func", "mpmd.for")}}
    %0 = mpmd.assign %x : (tensor<4xf32>) -> !m
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @unassign_parent(%p: tensor<i1>, %x: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  "stablehlo.if"(%p) ({
    // expected-error@+1 {{(parent): is_in(op, "func.func", "mpmd.for")}}
    %0 = mpmd.unassign %x : (!m) -> tensor<4xf32>
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @transfer_parent(%p: tensor<i1>, %x: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  "stablehlo.if"(%p) ({
    // expected-error@+1 {{(parent): is_in(op, "func.func")}}
    %0 = mpmd.transfer %x : (!m) -> !n
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @fragment_parent(%p: tensor<i1>, %x: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  "stablehlo.if"(%p) ({
    // expected-error@+1 {{(parent): is_in(op, "func.func", "mpmd.for")}}
    %0 = mpmd.fragment<mesh="m", origin=[]> (%x) (%a: tensor<4xf32>) {
      mpmd.return %a : tensor<4xf32>
    } : (!m) -> !m
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @call_parent(%p: tensor<i1>, %x: tensor<4xf32>) {
  "stablehlo.if"(%p) ({
    // expected-error@+1 {{(parent): is_in(op, "func.func", "mpmd.for")}}
    %0 = mpmd.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32>

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @fragment_call_parent(%p: tensor<i1>, %x: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  "stablehlo.if"(%p) ({
    // expected-error@+1 {{(parent): is_in(op, "func.func")}}
    %0 = "mpmd.fragment_call"(%x) <{callee = @f, mesh_name = "m", origin = []}> : (!m) -> !m
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @call_C1(%x: tensor<4xi32>) {
  // expected-error@+1 {{(C1): function_type(site, callee) == FunctionType(tuple(tensors), tuple(results))}}
  %0 = "mpmd.call"(%x) <{callee = @f}> : (tensor<4xi32>) -> tensor<4xf32>
  return
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @call_C2(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C2): is_counter(attributes.get("call_counter"))}}
  %0 = mpmd.call @f(%x) {call_counter = 1} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32>

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @fragment_call_C1(%x: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{(C1): type is not None}}
  %0 = mpmd.fragment_call<mesh="m", origin=[]> @g(%x) : (!m) -> !m
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @fragment_call_C2(%x: !n) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{(C2): are_on_mesh(tensors, type.inputs, mesh_name)}}
  %0 = "mpmd.fragment_call"(%x) <{callee = @f, mesh_name = "m", origin = []}> : (!n) -> !m
  return
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32>

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @fragment_call_C3(%x: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{(C3): are_on_mesh(results, type.outputs, mesh_name)}}
  %0 = "mpmd.fragment_call"(%x) <{callee = @f, mesh_name = "m", origin = []}> : (!m) -> !n
  return
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32>

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @fragment_C1(%x: !n) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{(C1): are_on_mesh(inputs, region.inputs, mesh_name)}}
  %0 = "mpmd.fragment"(%x) <{mesh_name = "m", origin = []}> ({
    ^bb0(%a: tensor<4xf32>):
      mpmd.return %a : tensor<4xf32>
  }) : (!n) -> !m
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @fragment_C2(%x: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{(C2): are_on_mesh(results, region.outputs, mesh_name)}}
  %0 = "mpmd.fragment"(%x) <{mesh_name = "m", origin = []}> ({
    ^bb0(%a: tensor<4xf32>):
      mpmd.return %a : tensor<4xf32>
  }) : (!m) -> !mpmd.mesh_tensor<"m", tensor<2xf32>>
  return
}

// -----

func.func @named_computation_C1(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C1): region.inputs == tuple(tensors)}}
  %0 = mpmd.named_computation<"f"> (%x) (%a: tensor<2xf32>) {
    mpmd.return %a : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @named_computation_C2(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C2): region.outputs == tuple(results)}}
  %0 = mpmd.named_computation<"f"> (%x) (%a: tensor<4xf32>) {
    mpmd.return %a : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @for_C1(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C1): tuple(results) == tuple(tensors) == region.inputs[:-1] == region.outputs}}
  %0:1 = mpmd.for (%x) {iterations = 2 : ui32} (%a: tensor<2xf32>, %i: tensor<ui32>) {
    mpmd.return %a : tensor<2xf32>
  } : tensor<4xf32>
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @for_C2(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C2): is_index(region.inputs)}}
  %0:1 = mpmd.for (%x) {iterations = 2 : ui32} (%a: tensor<4xf32>, %i: tensor<ui64>) {
    mpmd.return %a : tensor<4xf32>
  } : tensor<4xf32>
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @for_C3(%x: tensor<4xf32>, %y: !m) {
  // expected-error@+1 {{(C3): are_of_one_kind(tensors)}}
  %0:2 = mpmd.for (%x, %y) {iterations = 2 : ui32} (%a: tensor<4xf32>, %b: !m, %i: tensor<ui32>) {
    mpmd.return %a, %b : tensor<4xf32>, !m
  } : tensor<4xf32>, !m
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @for_C4(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C4): 0 < iterations}}
  %0:1 = mpmd.for (%x) {iterations = 0 : ui32} (%a: tensor<4xf32>, %i: tensor<ui32>) {
    mpmd.return %a : tensor<4xf32>
  } : tensor<4xf32>
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @for_C5(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C5): unroll_factor is None or (unroll_factor != 0 and iterations % unroll_factor == 0)}}
  %0:1 = mpmd.for (%x) {iterations = 4 : ui32, unroll_factor = 3 : ui32} (%a: tensor<4xf32>, %i: tensor<ui32>) {
    mpmd.return %a : tensor<4xf32>
  } : tensor<4xf32>
  return
}

// -----

func.func @reduce_C1(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C1): len(tensors) == 1 if reduction is ReductionType.NONE else len(tensors) >= 1}}
  %0 = "mpmd.reduce"(%x, %x) <{reduction = #mpmd.reduction<none>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_C2(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C2): all(tensor == result for tensor in tensors)}}
  %0 = mpmd.reduce<add> %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @transfer_operand(%x: tensor<4xf32>) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{'mpmd.transfer' op operand #0 (tensor) must be mesh tensor, but is}}
  %0 = "mpmd.transfer"(%x) : (tensor<4xf32>) -> !m
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @transfer_result(%x: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{'mpmd.transfer' op result #0 (result) must be mesh tensor, but is}}
  %0 = "mpmd.transfer"(%x) : (!m) -> tensor<4xf32>
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>
!sharded = !mpmd.mesh_tensor<"m", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>
func.func @add_of_mesh_tensors(%x: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{'stablehlo.add' op operand #0 (lhs) must be tensor or quantized tensor, but is}}
  %0 = stablehlo.add %x, %x : !m
  return
}
