sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_gather_C1(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{(C1): tensor == result}}
  %0 = "sdy.all_gather"(%a) <{gathering_axes = #sdy<list_of_axis_ref_lists[{}, {}]>, out_sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<8x8xf32>) -> tensor<8x9xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_slice_C1(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{(C1): tensor == result}}
  %0 = "sdy.all_slice"(%a) <{slicing_axes = #sdy<list_of_axis_ref_lists[{}, {}]>, out_sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<8x8xf32>) -> tensor<8x9xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_to_all_C1(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{(C1): tensor == result}}
  %0 = "sdy.all_to_all"(%a) <{params = #sdy<all_to_all_param_list[{"y"}: 0->1]>, out_sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<8x8xf32>) -> tensor<8x9xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @collective_permute_C1(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{(C1): tensor == result}}
  %0 = "sdy.collective_permute"(%a) <{out_sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<8x8xf32>) -> tensor<8x9xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_reduce_C1(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{(C1): tensor == result}}
  %0 = "sdy.all_reduce"(%a) <{reduction_axes = #sdy<axis_ref_list{}>, out_sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<8x8xf32>) -> tensor<8x9xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @reduce_scatter_C1(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{(C1): tensor == result}}
  %0 = "sdy.reduce_scatter"(%a) <{reduce_scatter_axes = #sdy<list_of_axis_ref_lists[{}, {}]>, out_sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<8x8xf32>) -> tensor<8x9xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @sharded_to_unreduced_C1(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{(C1): tensor == result}}
  %0 = "sdy.sharded_to_unreduced"(%a) <{axes = #sdy<list_of_axis_ref_lists[{}, {}]>, out_sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<8x8xf32>) -> tensor<8x9xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @replicated_to_unreduced_C1(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{(C1): tensor == result}}
  %0 = "sdy.replicated_to_unreduced"(%a) <{axes = #sdy<axis_ref_list{}>, out_sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<8x8xf32>) -> tensor<8x9xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_gather_no_sharding(%a: tensor<8x8xf32>) {
  // expected-error@+1 {{'sdy.all_gather' op expected an operand with a sharding}}
  %0 = sdy.all_gather [{}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_gather_unknown_axis(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op unknown axis "a"}}
  %0 = sdy.all_gather [{"a"}, {}] %a out_sharding=<@mesh, [{"x"}, {"z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_gather_duplicate(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op duplicate axis "y"}}
  %0 = sdy.all_gather [{"y"}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_gather_rank(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op expected 2 lists of axes, got 1}}
  %0 = sdy.all_gather [{"y"}] %a out_sharding=<@mesh, [{"x"}, {"z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_gather_not_at_end(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op axis "x" is not at the end of the operand's sharding}}
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{"y"}, {"z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_gather_result(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op expected {"z":(1)4} as the result's sharding of dimension 1}}
  %0 = sdy.all_gather [{}, {"z":(4)2}] %a out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_gather_mesh(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op expected operand and result on the same mesh}}
  %0 = sdy.all_gather [{}, {}] %a out_sharding=<mesh<["x"=4, "y"=2]>, [{"x", "y"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_gather_out_sharding(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op unknown axis "a"}}
  %0 = sdy.all_gather [{}, {}] %a out_sharding=<@mesh, [{"a"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_slice_result(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) {
  // expected-error@+1 {{op expected {"x", "y"} as the result's sharding of dimension 0}}
  %0 = sdy.all_slice [{}, {"z":(1)2}] %a out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_slice_merges(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"z":(1)2}]>}) {
  // expected-error@+1 {{op expected {"z":(1)4} as the result's sharding of dimension 1}}
  %0 = sdy.all_slice [{}, {"z":(2)2}] %a out_sharding=<@mesh, [{}, {"z":(1)2}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_to_all_source(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op axis "y" is not at the end of the operand's sharding}}
  %0 = sdy.all_to_all [{"y"}: 1->0] %a out_sharding=<@mesh, [{"x"}, {"z", "y"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_to_all_dimension(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op expected at least one pair of dimensions, from 0 to 1}}
  %0 = sdy.all_to_all [{"y"}: 0->2] %a out_sharding=<@mesh, [{"x"}, {"z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_to_all_twice(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op expected dimensions that occur once, and sources in ascending order}}
  %0 = sdy.all_to_all [{"y"}: 0->0] %a out_sharding=<@mesh, [{"x"}, {"z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_to_all_result(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op expected {"z", "y"} as the result's sharding of dimension 1}}
  %0 = sdy.all_to_all [{"y"}: 0->1] %a out_sharding=<@mesh, [{"x"}, {"y", "z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @collective_permute_size(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op expected 8 shards of dimension 0, got 4}}
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"x"}, {"z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @collective_permute_axes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op expected operand and result on meshes with the same axes}}
  %0 = sdy.collective_permute %a out_sharding=<mesh<["a"=8]>, [{"a"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>
sdy.mesh @other = <["x"=4, "y"=2, "z"=8]>

func.func @collective_permute_meshes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op expected one mesh, or two with different device_ids}}
  %0 = sdy.collective_permute %a out_sharding=<@other, [{"x", "y"}, {"z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_reduce_sharding(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op expected {"x", "y"} as the result's sharding of dimension 0}}
  %0 = sdy.all_reduce {} %a out_sharding=<@mesh, [{"x"}, {"z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_reduce_taken(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op axis "x" overlaps with the sharding of a dimension or the replicated axes of the operand}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{"x", "y"}, {"z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_reduce_still_unreduced(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) {
  // expected-error@+1 {{op axis "y" overlaps with the unreduced axes of the result}}
  %0 = sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_reduce_order(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // expected-error@+1 {{op expected reduction axes in the order of the mesh}}
  %0 = sdy.all_reduce {"y", "x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_reduce_becomes_unreduced(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error@+1 {{op axis "z" becomes unreduced}}
  %0 = sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"z"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @all_reduce_other_operation(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced=max{"y"}>}) {
  // expected-error@+1 {{op the operand is unreduced by max, not by sum}}
  %0 = sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @reduce_scatter_result(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"z"}], unreduced={"y"}>}) {
  // expected-error@+1 {{op expected {"x", "y"} as the result's sharding of dimension 0}}
  %0 = sdy.reduce_scatter [{"y"}, {}] %a out_sharding=<@mesh, [{"x"}, {"z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @sharded_to_unreduced_axes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op expected {"y"} as the unreduced axes of the result}}
  %0 = sdy.sharded_to_unreduced [{"y"}, {}] %a out_sharding=<@mesh, [{"x"}, {"z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @sharded_to_unreduced_by_max(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op expected a result that is unreduced by sum}}
  %0 = sdy.sharded_to_unreduced [{"y"}, {}] %a out_sharding=<@mesh, [{"x"}, {"z"}], unreduced=max{"y"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @replicated_to_unreduced_C2(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op expected at least one axis}}
  %0 = sdy.replicated_to_unreduced {} %a out_sharding=<@mesh, [{"x", "y"}, {"z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @replicated_to_unreduced_taken(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // expected-error@+1 {{op axis "y" overlaps with the sharding of a dimension or the unreduced axes of the operand}}
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{"x", "y"}, {"z"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @replicated_to_unreduced_dimensions(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error@+1 {{op expected the same sharding of dimensions of operand and result}}
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{}, {}], unreduced={"y"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=8]>

func.func @replicated_to_unreduced_axes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error@+1 {{op expected {"y"} as the unreduced axes of the result}}
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"z"}> : tensor<8x8xf32>
  return
}
