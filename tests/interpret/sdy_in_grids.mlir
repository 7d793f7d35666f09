// RUN: stablehlo-interp --split-input-file %s

// A mesh of two axes: device 2 x + y has the shards number x along "x" and y along "y".
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func private @gather(%x: tensor<2x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}) -> (tensor<2x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = sdy.all_gather [{}, {"y"}] %x out_sharding=<@mesh, [{}, {"x"}]> : tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}
func.func private @slice(%x: tensor<2x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<2x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = sdy.all_slice [{"x"}, {}] %x out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}
func.func private @exchange(%x: tensor<4x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<4x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = sdy.all_to_all [{"y"}: 0->1] %x out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<4x2xi32>
  return %0 : tensor<4x2xi32>
}
func.func @main() {
  %a = stablehlo.constant dense<[[1], [5]]> : tensor<2x1xi32>
  %b = stablehlo.constant dense<[[2], [6]]> : tensor<2x1xi32>
  %c = stablehlo.constant dense<[[3], [7]]> : tensor<2x1xi32>
  %d = stablehlo.constant dense<[[4], [8]]> : tensor<2x1xi32>
  %0:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@gather, @gather, @gather, @gather]]} : (tensor<2x1xi32>, tensor<2x1xi32>, tensor<2x1xi32>, tensor<2x1xi32>) -> (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>)
  check.expect_eq_const %0#0, dense<[[1, 2], [5, 6]]> : tensor<2x2xi32>
  check.expect_eq_const %0#1, dense<[[1, 2], [5, 6]]> : tensor<2x2xi32>
  check.expect_eq_const %0#2, dense<[[3, 4], [7, 8]]> : tensor<2x2xi32>
  check.expect_eq_const %0#3, dense<[[3, 4], [7, 8]]> : tensor<2x2xi32>
  %1:4 = "interpreter.run_parallel"(%0#0, %0#2, %0#0, %0#2) {programs = [[@slice, @slice, @slice, @slice]]} : (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>) -> (tensor<1x2xi32>, tensor<1x2xi32>, tensor<1x2xi32>, tensor<1x2xi32>)
  check.expect_eq_const %1#0, dense<[[1, 2]]> : tensor<1x2xi32>
  check.expect_eq_const %1#1, dense<[[3, 4]]> : tensor<1x2xi32>
  check.expect_eq_const %1#2, dense<[[5, 6]]> : tensor<1x2xi32>
  check.expect_eq_const %1#3, dense<[[7, 8]]> : tensor<1x2xi32>
  %2:4 = "interpreter.run_parallel"(%1#0, %1#1, %1#2, %1#3) {programs = [[@exchange, @exchange, @exchange, @exchange]]} : (tensor<1x2xi32>, tensor<1x2xi32>, tensor<1x2xi32>, tensor<1x2xi32>) -> (tensor<2x1xi32>, tensor<2x1xi32>, tensor<2x1xi32>, tensor<2x1xi32>)
  check.expect_eq_const %2#0, dense<[[1], [3]]> : tensor<2x1xi32>
  check.expect_eq_const %2#1, dense<[[2], [4]]> : tensor<2x1xi32>
  check.expect_eq_const %2#2, dense<[[5], [7]]> : tensor<2x1xi32>
  check.expect_eq_const %2#3, dense<[[6], [8]]> : tensor<2x1xi32>
  return
}

// -----

// Terms of devices are added along an axis, or the largest is taken.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func private @reduce(%x: tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<2xi32> {
  %0 = sdy.all_reduce {"x"} %x out_sharding=<@mesh, [{}]> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func private @largest(%x: tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x", "y"}>}) -> tensor<2xi32> {
  %0 = sdy.all_reduce max {"x", "y"} %x out_sharding=<@mesh, [{}]> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func private @scatter(%x: tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>}) -> (tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = sdy.reduce_scatter [{"y"}] %x out_sharding=<@mesh, [{"y"}]> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func private @smallest(%x: tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=min{"x", "y"}>}) -> (tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced=min{"y"}>}) {
  %0 = sdy.reduce_scatter min [{"x"}] %x out_sharding=<@mesh, [{"x"}], unreduced=min{"y"}> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func @main() {
  %a = stablehlo.constant dense<[1, 80]> : tensor<2xi32>
  %b = stablehlo.constant dense<[2, 70]> : tensor<2xi32>
  %c = stablehlo.constant dense<[3, 60]> : tensor<2xi32>
  %d = stablehlo.constant dense<[4, 50]> : tensor<2xi32>
  %0:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@reduce, @reduce, @reduce, @reduce]]} : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[4, 140]> : tensor<2xi32>
  check.expect_eq_const %0#1, dense<[6, 120]> : tensor<2xi32>
  check.expect_eq_const %0#2, dense<[4, 140]> : tensor<2xi32>
  check.expect_eq_const %0#3, dense<[6, 120]> : tensor<2xi32>
  %1:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@largest, @largest, @largest, @largest]]} : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %1#0, dense<[4, 80]> : tensor<2xi32>
  check.expect_eq_const %1#3, dense<[4, 80]> : tensor<2xi32>
  %2:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@scatter, @scatter, @scatter, @scatter]]} : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
  check.expect_eq_const %2#0, dense<3> : tensor<1xi32>
  check.expect_eq_const %2#1, dense<150> : tensor<1xi32>
  check.expect_eq_const %2#2, dense<7> : tensor<1xi32>
  check.expect_eq_const %2#3, dense<110> : tensor<1xi32>
  %3:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@smallest, @smallest, @smallest, @smallest]]} : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
  check.expect_eq_const %3#0, dense<1> : tensor<1xi32>
  check.expect_eq_const %3#1, dense<2> : tensor<1xi32>
  check.expect_eq_const %3#2, dense<60> : tensor<1xi32>
  check.expect_eq_const %3#3, dense<50> : tensor<1xi32>
  return
}

// -----

// A tensor is unreduced along an axis that sharded it, or along one where all devices had the same: terms add up to it.
sdy.mesh @mesh = <["x"=2]>
func.func private @sharded(%x: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %0 = sdy.sharded_to_unreduced [{"x"}] %x out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<4xi32>
  return %0 : tensor<4xi32>
}
func.func private @replicated(%x: tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %0 = sdy.replicated_to_unreduced {"x"} %x out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func @main() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %b = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %0:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@sharded, @sharded]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  %1 = stablehlo.add %0#0, %0#1 : tensor<4xi32>
  check.expect_eq_const %1, dense<[1, 2, 3, 4]> : tensor<4xi32>
  %2:2 = "interpreter.run_parallel"(%a, %a) {programs = [[@replicated, @replicated]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  %3 = stablehlo.add %2#0, %2#1 : tensor<2xi32>
  check.expect_eq_const %3, dense<[1, 2]> : tensor<2xi32>
  return
}

// -----

// The parts of an axis: "x":(1)2 has shards 0 and 1 in devices 0, 1 and 2, 3; "x":(2)2 in 0, 2 and 1, 3.
sdy.mesh @mesh = <["x"=4]>
sdy.mesh @turned = <["x"=4], device_ids=[3, 0, 1, 2]>
func.func private @swap(%x: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)2, "x":(1)2}]>}) {
  %0 = sdy.collective_permute %x out_sharding=<@mesh, [{"x":(2)2, "x":(1)2}]> : tensor<4xi32>
  return %0 : tensor<4xi32>
}
func.func private @turn(%x: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xi32> {sdy.sharding = #sdy.sharding<@turned, [{"x"}]>}) {
  %0 = sdy.collective_permute %x out_sharding=<@turned, [{"x"}]> : tensor<4xi32>
  return %0 : tensor<4xi32>
}
func.func private @half(%x: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>}) {
  %0 = sdy.all_gather [{"x":(2)2}] %x out_sharding=<@mesh, [{"x":(1)2}]> : tensor<4xi32>
  return %0 : tensor<4xi32>
}
func.func @main() {
  %a = stablehlo.constant dense<1> : tensor<1xi32>
  %b = stablehlo.constant dense<2> : tensor<1xi32>
  %c = stablehlo.constant dense<3> : tensor<1xi32>
  %d = stablehlo.constant dense<4> : tensor<1xi32>
  %0:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@swap, @swap, @swap, @swap]]} : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
  check.expect_eq_const %0#0, dense<1> : tensor<1xi32>
  check.expect_eq_const %0#1, dense<3> : tensor<1xi32>
  check.expect_eq_const %0#2, dense<2> : tensor<1xi32>
  check.expect_eq_const %0#3, dense<4> : tensor<1xi32>
  %1:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@turn, @turn, @turn, @turn]]} : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
  check.expect_eq_const %1#0, dense<2> : tensor<1xi32>
  check.expect_eq_const %1#1, dense<3> : tensor<1xi32>
  check.expect_eq_const %1#2, dense<4> : tensor<1xi32>
  check.expect_eq_const %1#3, dense<1> : tensor<1xi32>
  %2:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@half, @half, @half, @half]]} : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %2#0, dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %2#1, dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %2#2, dense<[3, 4]> : tensor<2xi32>
  check.expect_eq_const %2#3, dense<[3, 4]> : tensor<2xi32>
  return
}

// -----

// The body of a manual computation takes shards; the devices are those of the grid. A sequential copy agrees.
sdy.mesh @mesh = <["x"=2]>
func.func private @sequential(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = stablehlo.constant dense<[1, 1, 2, 2]> : tensor<4xi32>
  %1 = stablehlo.multiply %x, %0 : tensor<4xi32>
  return %1 : tensor<4xi32>
}
func.func private @parallel(%x: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xi32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%y: tensor<2xi32>) {
    %p = stablehlo.partition_id : tensor<ui32>
    %one = stablehlo.constant dense<1> : tensor<ui32>
    %n = stablehlo.add %p, %one : tensor<ui32>
    %c = stablehlo.convert %n : (tensor<ui32>) -> tensor<i32>
    %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %z = stablehlo.multiply %y, %b : tensor<2xi32>
    sdy.return %z : tensor<2xi32>
  } : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
func.func @main() {
  %x = stablehlo.constant dense<[5, 6, 7, 8]> : tensor<4xi32>
  %a = stablehlo.constant dense<[5, 6]> : tensor<2xi32>
  %b = stablehlo.constant dense<[7, 8]> : tensor<2xi32>
  %0 = call @sequential(%x) : (tensor<4xi32>) -> tensor<4xi32>
  %1 = call @parallel(%x) : (tensor<4xi32>) -> tensor<4xi32>
  %2:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@parallel, @parallel]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  check.expect_eq_const %0, dense<[5, 6, 14, 16]> : tensor<4xi32>
  check.expect_eq %1, %0 : tensor<4xi32>
  check.expect_eq %2#0, %0 : tensor<4xi32>
  check.expect_eq %2#1, %0 : tensor<4xi32>
  return
}

// -----

// Elements of other shards are needed at the edges of each: a stencil of three points, on three replicas, of 5 elements.
sdy.mesh @mesh = <["x"=3]>
func.func private @parallel(%x: tensor<5xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<5xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %x, %zero, low = [1], high = [-1], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<5xi32>, tensor<i32>) -> tensor<5xi32>
  %1 = stablehlo.pad %x, %zero, low = [-1], high = [1], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<5xi32>, tensor<i32>) -> tensor<5xi32>
  %2 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<5xi32>
  %3 = stablehlo.add %2, %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<5xi32>
  %4 = sdy.reshard %3 <@mesh, [{}]> : tensor<5xi32>
  return %4 : tensor<5xi32>
}
func.func @main() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %b = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %c = stablehlo.constant dense<[5, 99]> : tensor<2xi32>
  %0:3 = "interpreter.run_parallel"(%a, %b, %c) {programs = [[@parallel], [@parallel], [@parallel]]} : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<5xi32>, tensor<5xi32>, tensor<5xi32>)
  check.expect_eq_const %0#0, dense<[3, 6, 9, 12, 9]> : tensor<5xi32>
  check.expect_eq_const %0#1, dense<[3, 6, 9, 12, 9]> : tensor<5xi32>
  check.expect_eq_const %0#2, dense<[3, 6, 9, 12, 9]> : tensor<5xi32>
  return
}

// -----

// A product of matrices on a mesh of two axes: rows along "x", and the terms of sums along "y".
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func private @parallel(%a: tensor<2x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<2x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<2x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<2x2xi32>, tensor<2x1xi32>) -> tensor<2x1xi32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<2x1xi32>
  return %1 : tensor<2x1xi32>
}
func.func @main() {
  %a = stablehlo.constant dense<1> : tensor<1x1xi32>
  %b = stablehlo.constant dense<2> : tensor<1x1xi32>
  %c = stablehlo.constant dense<3> : tensor<1x1xi32>
  %d = stablehlo.constant dense<4> : tensor<1x1xi32>
  %v = stablehlo.constant dense<10> : tensor<1x1xi32>
  %w = stablehlo.constant dense<20> : tensor<1x1xi32>
  %0:4 = "interpreter.run_parallel"(%a, %v, %b, %w, %c, %v, %d, %w) {programs = [[@parallel, @parallel, @parallel, @parallel]]} : (tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32>) -> (tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32>)
  check.expect_eq_const %0#0, dense<50> : tensor<1x1xi32>
  check.expect_eq_const %0#1, dense<50> : tensor<1x1xi32>
  check.expect_eq_const %0#2, dense<110> : tensor<1x1xi32>
  check.expect_eq_const %0#3, dense<110> : tensor<1x1xi32>
  return
}
