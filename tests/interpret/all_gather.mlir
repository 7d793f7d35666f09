// RUN: stablehlo-interp --split-input-file %s

// The spec's example: two tensors from each of two replicas, along dimension 1.
func.func @all_gather(%a: tensor<2x2xi64>, %b: tensor<2x2xi64>) -> (tensor<2x4xi64>, tensor<2x4xi64>) {
  %result:2 = "stablehlo.all_gather"(%a, %b) {
    all_gather_dim = 1 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<2x2xi64>, tensor<2x2xi64>) -> (tensor<2x4xi64>, tensor<2x4xi64>)
  func.return %result#0, %result#1 : tensor<2x4xi64>, tensor<2x4xi64>
}

func.func @main() {
  %0 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %1 = stablehlo.constant dense<[[11, 12], [13, 14]]> : tensor<2x2xi64>
  %2 = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
  %3 = stablehlo.constant dense<[[15, 16], [17, 18]]> : tensor<2x2xi64>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_gather], [@all_gather]]}
      : (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>) -> (tensor<2x4xi64>, tensor<2x4xi64>, tensor<2x4xi64>, tensor<2x4xi64>)
  check.expect_eq_const %results#0, dense<[[1, 2, 5, 6], [3, 4, 7, 8]]> : tensor<2x4xi64>
  check.expect_eq_const %results#1, dense<[[11, 12, 15, 16], [13, 14, 17, 18]]> : tensor<2x4xi64>
  check.expect_eq_const %results#2, dense<[[1, 2, 5, 6], [3, 4, 7, 8]]> : tensor<2x4xi64>
  check.expect_eq_const %results#3, dense<[[11, 12, 15, 16], [13, 14, 17, 18]]> : tensor<2x4xi64>
  func.return
}

// -----

// cross_replica: groups of replicas, separately in each partition; in the order of the group.
func.func @all_gather(%a: tensor<1xi32>) -> tensor<2xi32> {
  %result = "stablehlo.all_gather"(%a) {
    all_gather_dim = 0 : i64,
    replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>
  } : (tensor<1xi32>) -> tensor<2xi32>
  func.return %result : tensor<2xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<1xi32>
  %1 = stablehlo.constant dense<2> : tensor<1xi32>
  %2 = stablehlo.constant dense<3> : tensor<1xi32>
  %3 = stablehlo.constant dense<4> : tensor<1xi32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_gather, @all_gather], [@all_gather, @all_gather]]}
      : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %results#0, dense<[3, 1]> : tensor<2xi32>
  check.expect_eq_const %results#1, dense<[4, 2]> : tensor<2xi32>
  check.expect_eq_const %results#2, dense<[3, 1]> : tensor<2xi32>
  check.expect_eq_const %results#3, dense<[4, 2]> : tensor<2xi32>
  func.return
}

// -----

// cross_replica_and_partition: all partitions of the replicas of a group, partition by partition.
func.func @all_gather(%a: tensor<1xi32>) -> tensor<4xi32> {
  %result = "stablehlo.all_gather"(%a) {
    all_gather_dim = 0 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
  } : (tensor<1xi32>) -> tensor<4xi32>
  func.return %result : tensor<4xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<1xi32>
  %1 = stablehlo.constant dense<2> : tensor<1xi32>
  %2 = stablehlo.constant dense<3> : tensor<1xi32>
  %3 = stablehlo.constant dense<4> : tensor<1xi32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_gather, @all_gather], [@all_gather, @all_gather]]}
      : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>)
  check.expect_eq_const %results#0, dense<[1, 3, 2, 4]> : tensor<4xi32>
  check.expect_eq_const %results#1, dense<[1, 3, 2, 4]> : tensor<4xi32>
  check.expect_eq_const %results#2, dense<[1, 3, 2, 4]> : tensor<4xi32>
  check.expect_eq_const %results#3, dense<[1, 3, 2, 4]> : tensor<4xi32>
  func.return
}

// -----

// flattened_ids: process (r, p) of 2 x 2 has the id 2 * r + p.
func.func @all_gather(%a: tensor<1xi32>) -> tensor<2xi32> {
  %result = "stablehlo.all_gather"(%a) {
    all_gather_dim = 0 : i64,
    replica_groups = dense<[[0, 3], [2, 1]]> : tensor<2x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
    use_global_device_ids
  } : (tensor<1xi32>) -> tensor<2xi32>
  func.return %result : tensor<2xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<1xi32>
  %1 = stablehlo.constant dense<2> : tensor<1xi32>
  %2 = stablehlo.constant dense<3> : tensor<1xi32>
  %3 = stablehlo.constant dense<4> : tensor<1xi32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_gather, @all_gather], [@all_gather, @all_gather]]}
      : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %results#0, dense<[1, 4]> : tensor<2xi32>
  check.expect_eq_const %results#1, dense<[3, 2]> : tensor<2xi32>
  check.expect_eq_const %results#2, dense<[3, 2]> : tensor<2xi32>
  check.expect_eq_const %results#3, dense<[1, 4]> : tensor<2xi32>
  func.return
}

// -----

// Tensors without elements.
func.func @all_gather(%a: tensor<0x2xf32>) -> tensor<0x2xf32> {
  %result = "stablehlo.all_gather"(%a) {
    all_gather_dim = 0 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<0x2xf32>) -> tensor<0x2xf32>
  func.return %result : tensor<0x2xf32>
}

func.func @main() {
  %0 = stablehlo.constant dense<> : tensor<0x2xf32>
  %1 = stablehlo.constant dense<> : tensor<0x2xf32>
  %results:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@all_gather], [@all_gather]]}
      : (tensor<0x2xf32>, tensor<0x2xf32>) -> (tensor<0x2xf32>, tensor<0x2xf32>)
  check.expect_eq_const %results#0, dense<> : tensor<0x2xf32>
  check.expect_eq_const %results#1, dense<> : tensor<0x2xf32>
  func.return
}

// -----

// Groups along one axis of a mesh of 2 x 2 devices, whose ids are in row-major order.
func.func @all_gather(%a: tensor<1xi32>) -> tensor<2xi32> {
  %result = "stablehlo.all_gather"(%a) {
    all_gather_dim = 0 : i64,
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 2>]>, axes = [#stablehlo.axis_ref<name = "x">]>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
    use_global_device_ids
  } : (tensor<1xi32>) -> tensor<2xi32>
  func.return %result : tensor<2xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<1xi32>
  %1 = stablehlo.constant dense<2> : tensor<1xi32>
  %2 = stablehlo.constant dense<3> : tensor<1xi32>
  %3 = stablehlo.constant dense<4> : tensor<1xi32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_gather, @all_gather, @all_gather, @all_gather]]}
      : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %results#0, dense<[1, 3]> : tensor<2xi32>
  check.expect_eq_const %results#1, dense<[2, 4]> : tensor<2xi32>
  check.expect_eq_const %results#2, dense<[1, 3]> : tensor<2xi32>
  check.expect_eq_const %results#3, dense<[2, 4]> : tensor<2xi32>
  func.return
}

// -----

// Along both axes, the second first: the axis named last varies fastest. The mesh is written as MLIR prints it.
func.func @all_gather(%a: tensor<1xi32>) -> tensor<4xi32> {
  %result = "stablehlo.all_gather"(%a) {
    all_gather_dim = 0 : i64,
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 2>]>, axes = [#stablehlo.axis_ref<name = "y">, #stablehlo.axis_ref<name = "x">]>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
    use_global_device_ids
  } : (tensor<1xi32>) -> tensor<4xi32>
  func.return %result : tensor<4xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<1xi32>
  %1 = stablehlo.constant dense<2> : tensor<1xi32>
  %2 = stablehlo.constant dense<3> : tensor<1xi32>
  %3 = stablehlo.constant dense<4> : tensor<1xi32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_gather, @all_gather, @all_gather, @all_gather]]}
      : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>)
  check.expect_eq_const %results#0, dense<[1, 3, 2, 4]> : tensor<4xi32>
  check.expect_eq_const %results#1, dense<[1, 3, 2, 4]> : tensor<4xi32>
  check.expect_eq_const %results#2, dense<[1, 3, 2, 4]> : tensor<4xi32>
  check.expect_eq_const %results#3, dense<[1, 3, 2, 4]> : tensor<4xi32>
  func.return
}

// -----

// Along the minor half of an axis of 4 that is split into 2 x 2, and along the major half.
func.func @minor(%a: tensor<1xi32>) -> tensor<2xi32> {
  %result = "stablehlo.all_gather"(%a) {
    all_gather_dim = 0 : i64,
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 4>]>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (2)2>]>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
    use_global_device_ids
  } : (tensor<1xi32>) -> tensor<2xi32>
  func.return %result : tensor<2xi32>
}
func.func @major(%a: tensor<1xi32>) -> tensor<2xi32> {
  %result = "stablehlo.all_gather"(%a) {
    all_gather_dim = 0 : i64,
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 4>]>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>]>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
    use_global_device_ids
  } : (tensor<1xi32>) -> tensor<2xi32>
  func.return %result : tensor<2xi32>
}
func.func @both(%a: tensor<1xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %minor = func.call @minor(%a) : (tensor<1xi32>) -> tensor<2xi32>
  %major = func.call @major(%a) : (tensor<1xi32>) -> tensor<2xi32>
  func.return %minor, %major : tensor<2xi32>, tensor<2xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<1xi32>
  %1 = stablehlo.constant dense<2> : tensor<1xi32>
  %2 = stablehlo.constant dense<3> : tensor<1xi32>
  %3 = stablehlo.constant dense<4> : tensor<1xi32>
  %results:8 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@both, @both, @both, @both]]}
      : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %results#0, dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %results#1, dense<[1, 3]> : tensor<2xi32>
  check.expect_eq_const %results#2, dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %results#3, dense<[2, 4]> : tensor<2xi32>
  check.expect_eq_const %results#4, dense<[3, 4]> : tensor<2xi32>
  check.expect_eq_const %results#5, dense<[1, 3]> : tensor<2xi32>
  check.expect_eq_const %results#6, dense<[3, 4]> : tensor<2xi32>
  check.expect_eq_const %results#7, dense<[2, 4]> : tensor<2xi32>
  func.return
}

// -----

// A mesh given by its symbol, with device ids: the groups along x are (0, 1) and (2, 3).
sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
func.func @all_gather(%a: tensor<1xi32>) -> tensor<2xi32> {
  %result = "stablehlo.all_gather"(%a) {
    all_gather_dim = 0 : i64,
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
    use_global_device_ids
  } : (tensor<1xi32>) -> tensor<2xi32>
  func.return %result : tensor<2xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<1xi32>
  %1 = stablehlo.constant dense<2> : tensor<1xi32>
  %2 = stablehlo.constant dense<3> : tensor<1xi32>
  %3 = stablehlo.constant dense<4> : tensor<1xi32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_gather, @all_gather, @all_gather, @all_gather]]}
      : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %results#0, dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %results#1, dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %results#2, dense<[3, 4]> : tensor<2xi32>
  check.expect_eq_const %results#3, dense<[3, 4]> : tensor<2xi32>
  func.return
}

// -----

// Outside of a process grid the program is its only process.
func.func @main() {
  %operand = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %result = "stablehlo.all_gather"(%operand) {
    all_gather_dim = 0 : i64,
    replica_groups = dense<0> : tensor<1x1xi64>
  } : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %result, dense<[1, 2]> : tensor<2xi32>
  func.return
}

// -----

// Quantized tensors are moved in stored form.
func.func @all_gather(%a: tensor<1xi8>) -> tensor<2xi8> {
  %quantized = stablehlo.bitcast_convert %a : (tensor<1xi8>) -> tensor<1x!quant.uniform<i8:f32, 0.5:3>>
  %gathered = "stablehlo.all_gather"(%quantized) {
    all_gather_dim = 0 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<1x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  %stored = stablehlo.bitcast_convert %gathered : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2xi8>
  func.return %stored : tensor<2xi8>
}
func.func @main() {
  %0 = stablehlo.constant dense<-128> : tensor<1xi8>
  %1 = stablehlo.constant dense<127> : tensor<1xi8>
  %results:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@all_gather], [@all_gather]]}
      : (tensor<1xi8>, tensor<1xi8>) -> (tensor<2xi8>, tensor<2xi8>)
  check.expect_eq_const %results#0, dense<[-128, 127]> : tensor<2xi8>
  check.expect_eq_const %results#1, dense<[-128, 127]> : tensor<2xi8>
  func.return
}
