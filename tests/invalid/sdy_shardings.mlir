sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @unknown_mesh(%a: tensor<8xf32>) {
  // expected-error@+1 {{'sdy.sharding_constraint' op unknown mesh @none}}
  %0 = sdy.sharding_constraint %a <@none, [{}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @mesh_is_function(%a: tensor<8xf32>) {
  // expected-error@+1 {{op unknown mesh @mesh_is_function}}
  %0 = sdy.sharding_constraint %a <@mesh_is_function, [{}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @unknown_axis(%a: tensor<8xf32>) {
  // expected-error@+1 {{op unknown axis "a"}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"x", "a"}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @unknown_replicated_axis(%a: tensor<8xf32>) {
  // expected-error@+1 {{op unknown axis "a"}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}], replicated={"a"}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @rank(%a: tensor<8xf32>) {
  // expected-error@+1 {{op expected 1 dimensions in the sharding of tensor<8xf32>, got 2}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @rank_of_token(%a: !stablehlo.token) {
  // expected-error@+1 {{op a sharding of !stablehlo.token has no dimensions or axes}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}]> : !stablehlo.token
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @duplicate_axis(%a: tensor<8x8xf32>) {
  // expected-error@+1 {{op duplicate axis "x"}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {"y", "x"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @duplicate_replicated_axis(%a: tensor<8xf32>) {
  // expected-error@+1 {{op duplicate axis "x"}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}], replicated={"x"}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @duplicate_unreduced_axis(%a: tensor<8xf32>) {
  // expected-error@+1 {{op duplicate axis "x"}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}], replicated={"x"}, unreduced={"x"}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @order_of_replicated_axes(%a: tensor<8xf32>) {
  // expected-error@+1 {{op expected replicated axes in the order of the mesh}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}], replicated={"y", "x"}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @order_of_unreduced_axes(%a: tensor<8xf32>) {
  // expected-error@+1 {{op expected unreduced axes in the order of the mesh}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}], unreduced={"z":(2)2, "z":(1)2}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @mergeable_sub_axes(%a: tensor<8xf32>) {
  // expected-error@+1 {{op consecutive sub-axes "z":(1)2 and "z":(2)2 must be written as one}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"z":(1)2, "z":(2)2}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @sub_axis_and_axis(%a: tensor<8x8xf32>) {
  // expected-error@+1 {{op overlapping axes "z":(1)2 and "z"}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"z":(1)2}, {"z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @overlapping_sub_axes(%a: tensor<8x8xf32>) {
  // expected-error@+1 {{op overlapping axes "z":(1)4 and "z":(2)4}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"z":(1)4}, {"z":(2)4}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @pre_size_zero(%a: tensor<8xf32>) {
  // expected-error@+1 {{op expected a sub-axis with a pre-size of at least 1 and a size of at least 2, got "z":(0)2}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"z":(0)2}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @size_one(%a: tensor<8xf32>) {
  // expected-error@+1 {{a size of at least 2, got "z":(2)1}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"z":(2)1}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @no_factor(%a: tensor<8xf32>) {
  // expected-error@+1 {{op sub-axis "z":(1)3 is not a factor of the axis, whose size is 8}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"z":(1)3}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @beyond_axis(%a: tensor<8xf32>) {
  // expected-error@+1 {{op sub-axis "z":(4)4 is not a factor of the axis, whose size is 8}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"z":(4)4}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @whole_sub_axis(%a: tensor<8xf32>) {
  // expected-error@+1 {{op sub-axis "z":(1)8 is the whole axis}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"z":(1)8}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @priority_of_nothing(%a: tensor<8xf32>) {
  // expected-error@+1 {{op dimension 0 has a priority, but no axes and is closed}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}p1]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <[], device_ids=[2]>

func.func @one_device(%a: tensor<8xf32>) {
  // expected-error@+1 {{op a sharding on one device has no dimensions, replicated or unreduced axes}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @sharding_of_op(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.sharding': unknown axis "a"}}
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @count_of_shardings(%a: tensor<8xf32>) {
  // expected-error@+1 {{op attribute 'sdy.sharding': expected 1 shardings, one for each value, got 2}}
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @kind_of_sharding(%a: tensor<8xf32>) {
  // expected-error@+1 {{op attribute 'sdy.sharding': expected a #sdy.sharding_per_value}}
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding<@mesh, [{}]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @number_as_sharding(%a: tensor<8xf32>) {
  // expected-error@+1 {{op attribute 'sdy.sharding': expected a #sdy.sharding_per_value}}
  %0 = stablehlo.add %a, %a {sdy.sharding = 5 : i64} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

// expected-error@+1 {{'func.func' op attribute 'sdy.sharding' of argument 1: unknown axis "a"}}
func.func @argument(%a: tensor<8xf32>, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

// expected-error@+1 {{'func.func' op attribute 'sdy.sharding' of result 0: expected a #sdy.sharding}}
func.func @result(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = "x"}) {
  return %a : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @kind_of_rule(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.sharding_rule': expected a #sdy.op_sharding_rule}}
  %0 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.sharding<@mesh, [{}]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @operands_of_rule(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.sharding_rule': expected mappings for at least one and for all operands, got 1}}
  %0 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @results_of_rule(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.sharding_rule': expected mappings for at least one and for all results, got 2}}
  %0 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i], [i]) {i=8}>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @rank_of_mapping(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.sharding_rule': operand 1: expected 1 dimensions, got 2}}
  %0 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i, j])->([i]) {i=8, j=2}>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @unknown_factor(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.sharding_rule': result 0: expected factors below j}}
  %0 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([j]) {i=8}>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @repeated_factor(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.sharding_rule': operand 0: a factor is used twice}}
  %0 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([ii], [i])->([i]) {i=8}>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @no_factor_of_dimension(%a: tensor<8x1xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.sharding_rule': operand 0: expected one factor, or several of a size above 1}}
  %0 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i,], [i,])->([i,]) {i=8}>} : tensor<8x1xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @factor_of_size_one(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.sharding_rule': operand 0: expected one factor, or several of a size above 1}}
  %0 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([ij], [i])->([i]) {i=8, j=1}>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @unused_factor(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.sharding_rule': no dimension is mapped to factor j}}
  %0 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=8, j=2}>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @order_of_factors(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.sharding_rule': expected permutation factors that are known, sorted and unique}}
  %0 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([ij], [ij])->([ij]) {i=4, j=2} permutation={j, i}>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @kinds_of_factor(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.sharding_rule': expected each factor in at most one of reduction, need_replication and permutation}}
  %0 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([ij], [ij])->([i]) {i=4, j=2} reduction={j} permutation={j}>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @reduction_in_result(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.sharding_rule': reduction factor j is in a result}}
  %0 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([ij], [ij])->([ij]) {i=4, j=2} reduction={j}>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @rule_of_dynamic_shape(%a: tensor<?xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.sharding_rule': operand 0: expected a statically shaped tensor, got tensor<?xf32>}}
  %0 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=8}>} : tensor<?xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @kind_of_edges(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.propagation_edges': expected a #sdy.propagation_edges}}
  %0 = stablehlo.add %a, %a {sdy.propagation_edges = 5} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @edges_without_sharding(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.propagation_edges': expected references to values with a sharding}}
  %0 = stablehlo.add %a, %a {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @axis_of_edge(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.propagation_edges': unknown axis "a"}}
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = operand-0 -> [result-0]}]}]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @value_of_edge(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.propagation_edges': the op has no operand-2}}
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-2 -> [result-0]}]}]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @lists_of_edges(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.result_propagation_edges': expected a list of #sdy.propagation_edges}}
  %0 = stablehlo.add %a, %a {sdy.result_propagation_edges = 5} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @items_of_lists_of_edges(%a: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.add' op attribute 'sdy.block_arg_propagation_edges': expected a #sdy.propagation_edges}}
  %0 = stablehlo.add %a, %a {sdy.block_arg_propagation_edges = [5]} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @changed_reduction(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) {
  // expected-error@+1 {{'sdy.reshard' op axes that are unreduced by max cannot become unreduced by sum}}
  %0 = sdy.reshard %a <@mesh, [{}], unreduced={"x", "y"}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @unreduced_by_maximum(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error@+1 {{'sdy.sharding_constraint' op axes cannot become unreduced by max, only by sum}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}], unreduced=max{"x"}> : tensor<8xf32>
  return
}
