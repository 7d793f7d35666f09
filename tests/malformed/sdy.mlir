// The text of Shardy's attributes.

// expected-error@+1 {{expected '<', got '['}}
func.func private @f(tensor<2xf32> {sdy.sharding = #sdy<sharding[]>})

// -----

// expected-error@+1 {{expected a mesh: '@name' or 'mesh<...>', got '['}}
func.func private @f(tensor<2xf32> {sdy.sharding = #sdy.sharding<[{}]>})

// -----

// expected-error@+1 {{expected ',', got '"y"'}}
func.func private @f(tensor<2xf32> {sdy.sharding = #sdy.sharding<@m, [{"x" "y"}]>})

// -----

// expected-error@+1 {{expected '}', got ','}}
func.func private @f(tensor<2xf32> {sdy.sharding = #sdy.sharding<@m, [{?, "y"}]>})

// -----

// expected-error@+1 {{expected a priority such as 'p1', without leading zeros, got 'p01'}}
func.func private @f(tensor<2xf32> {sdy.sharding = #sdy.sharding<@m, [{?}p01]>})

// -----

// expected-error@+1 {{expected 'replicated' or 'unreduced', each at most once, got 'replicated'}}
func.func private @f(tensor<2xf32> {sdy.sharding = #sdy.sharding<@m, [{}], replicated={"x"}, replicated={"y"}>})

// -----

// expected-error@+1 {{expected the name of an axis such as "x", got '}'}}
func.func private @f(tensor<2xf32> {sdy.sharding = #sdy.sharding<@m, [{}], unreduced={}>})

// -----

// expected-error@+1 {{expected '>', got '"y"'}}
func.func private @f(tensor<2xf32> {sdy.sharding = #sdy<manual_axes{"x"} "y">})

// -----

// expected-error@+1 {{integer value too large}}
func.func private @f(tensor<2xf32> {sdy.sharding = #sdy.mesh<["x"=9223372036854775808]>})

// -----

// expected-error@+1 {{mesh is malformed: duplicate axis name}}
sdy.mesh @mesh = <["x"=2, "x"=2]>

// -----

// expected-error@+1 {{mesh is malformed: expected a positive size of axis 'x', got 0}}
sdy.mesh @mesh = <["x"=0]>

// -----

// expected-error@+1 {{mesh is malformed: expected 2 device_ids, got 3}}
sdy.mesh @mesh = <["x"=2], device_ids=[0, 1, 2]>

// -----

// expected-error@+1 {{mesh is malformed: expected device_ids to be a permutation of the numbers below 2}}
sdy.mesh @mesh = <["x"=2], device_ids=[1, 2]>

// -----

// expected-error@+1 {{mesh is malformed: expected device_ids that are not negative, got -1}}
sdy.mesh @mesh = <[], device_ids=[-1]>

// -----

// expected-error@+1 {{mesh is malformed: expected at most one device of a mesh without axes}}
sdy.mesh @mesh = <[], device_ids=[0, 1]>

// -----

// expected-error@+1 {{expected factors in order: 'j', got 'k'}}
func.func private @f(tensor<2xf32> {a = #sdy.op_sharding_rule<([i])->([i]) {i=2, k=2}>})

// -----

// expected-error@+1 {{expected factors 'i' to 'z', 'z_1', 'z_2', ..., got 'z_0'}}
func.func private @f(tensor<2xf32> {a = #sdy.op_sharding_rule<([iz_0])->([i]) {i=2}>})

// -----

// expected-error@+1 {{expected a single factor}}
func.func private @f(tensor<2xf32> {a = #sdy.op_sharding_rule<([i])->([i]) {i=2} permutation={ij}>})

// -----

// expected-error@+1 {{expected 'custom', got 'mine'}}
func.func private @f(tensor<2xf32> {a = #sdy.op_sharding_rule<([i])->([i]) {i=2}, mine>})

// -----

// expected-error@+1 {{negative step -1}}
func.func private @f(tensor<2xf32> {a = #sdy.propagation_edges<[{step--1 = [{"x" = operand-0 -> [result-0]}]}]>})

// -----

// expected-error@+1 {{duplicate step 1}}
func.func private @f(tensor<2xf32> {a = #sdy.propagation_edges<[{step-1 = [{"x" = operand-0 -> [result-0]}]}, {step-1 = [{"x" = operand-0 -> [result-0]}]}]>})

// -----

// expected-error@+1 {{the source operand-0 is also a target}}
func.func private @f(tensor<2xf32> {a = #sdy.propagation_edges<[{step-1 = [{"x" = operand-0 -> [operand-0]}]}]>})

// -----

// expected-error@+1 {{duplicate target in step 1}}
func.func private @f(tensor<2xf32> {a = #sdy.propagation_edges<[{step-1 = [{"x" = operand-0 -> [result-0, result-0]}]}]>})

// -----

// expected-error@+1 {{expected 'operand' or 'result', got 'argument'}}
func.func private @f(tensor<2xf32> {a = #sdy.propagation_edges<[{step-1 = [{"x" = argument-0 -> [result-0]}]}]>})

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error@+1 {{expected NONE, FORWARD, BACKWARD, BOTH, got 'ALL'}}
  %0 = sdy.propagation_barrier %a allowed_direction=ALL : tensor<2xf32>
  return
}
