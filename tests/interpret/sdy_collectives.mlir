// RUN: stablehlo-interp --split-input-file %s

// Tensors are whole, so that collectives return what they get; only where its parts are changes.
sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @shards_move() {
  %x = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {"z"}]>]>} dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %0 = sdy.all_gather [{"y":(2)2}, {"z"}] %x out_sharding=<@mesh, [{"x", "y":(1)2}, {}]> : tensor<2x2xi32>
  %1 = sdy.all_slice [{"y":(2)2}, {"z"}] %0 out_sharding=<@mesh, [{"x", "y"}, {"z"}]> : tensor<2x2xi32>
  %2 = sdy.all_gather [{}, {"z"}] %1 out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<2x2xi32>
  %3 = sdy.all_to_all [{"y"}: 0->1] %2 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<2x2xi32>
  %4 = sdy.collective_permute %3 out_sharding=<@mesh, [{"z"}, {"y":(2)2, "x"}]> : tensor<2x2xi32>
  %5 = sdy.all_gather [{}, {"y":(2)2, "x"}] %4 out_sharding=<@mesh, [{"z"}, {}]> : tensor<2x2xi32>
  check.expect_eq_const %5, dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  func.return
}

// -----

// A tensor that is unreduced along axes is, as a whole, the result of the reduction.
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @partial_results() {
  %x = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = sdy.sharded_to_unreduced [{"x"}] %x out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<4xi32>
  %1 = sdy.replicated_to_unreduced {"y", "z"} %0 out_sharding=<@mesh, [{}], unreduced={"x", "y", "z"}> : tensor<4xi32>
  %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}], unreduced={"y", "z"}> : tensor<4xi32>
  %3 = sdy.all_reduce {"z"} %2 out_sharding=<@mesh, [{}], unreduced={"y"}> : tensor<4xi32>
  %4 = sdy.reduce_scatter [{"y"}] %3 out_sharding=<@mesh, [{"y"}]> : tensor<4xi32>
  check.expect_eq_const %4, dense<[1, 2, 3, 4]> : tensor<4xi32>
  func.return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @reductions_other_than_sums() {
  %x = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=max{"x"}>]>} dense<[1, 2]> : tensor<2xi32>
  %0 = sdy.all_reduce max {"x"} %x out_sharding=<@mesh, [{}]> : tensor<2xi32>
  %1 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=min{"x"}>]>} dense<[1, 2]> : tensor<2xi32>
  %2 = sdy.reduce_scatter min [{"x"}] %1 out_sharding=<@mesh, [{"x"}]> : tensor<2xi32>
  %3 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=sum{"x"}>]>} dense<[1, 2]> : tensor<2xi32>
  %4 = sdy.all_reduce sum {"x"} %3 out_sharding=<@mesh, [{}]> : tensor<2xi32>
  check.expect_eq %0, %2 : tensor<2xi32>
  check.expect_eq %0, %4 : tensor<2xi32>
  func.return
}

// -----

// Without a sharding of the operand, it is replicated.
sdy.mesh @mesh = <["x"=2]>
func.func @operands_without_sharding() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = sdy.all_slice [{"x"}] %x out_sharding=<@mesh, [{"x"}]> : tensor<2xi32>
  %1 = sdy.all_reduce {"x"} %x out_sharding=<@mesh, [{}]> : tensor<2xi32>
  %2 = sdy.reduce_scatter [{"x"}] %x out_sharding=<@mesh, [{"x"}]> : tensor<2xi32>
  check.expect_eq %0, %1 : tensor<2xi32>
  check.expect_eq %1, %2 : tensor<2xi32>
  func.return
}
