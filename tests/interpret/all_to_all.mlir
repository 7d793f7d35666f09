// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @all_to_all(%a: tensor<2x4xi64>, %b: tensor<2x4xi64>) -> (tensor<4x2xi64>, tensor<4x2xi64>) {
  %result:2 = "stablehlo.all_to_all"(%a, %b) {
    split_dimension = 1 : i64,
    concat_dimension = 0 : i64,
    split_count = 2 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<2x4xi64>, tensor<2x4xi64>) -> (tensor<4x2xi64>, tensor<4x2xi64>)
  func.return %result#0, %result#1 : tensor<4x2xi64>, tensor<4x2xi64>
}

func.func @main() {
  %0 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi64>
  %1 = stablehlo.constant dense<[[17, 18, 19, 20], [21, 22, 23, 24]]> : tensor<2x4xi64>
  %2 = stablehlo.constant dense<[[9, 10, 11, 12], [13, 14, 15, 16]]> : tensor<2x4xi64>
  %3 = stablehlo.constant dense<[[25, 26, 27, 28], [29, 30, 31, 32]]> : tensor<2x4xi64>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_to_all], [@all_to_all]]}
      : (tensor<2x4xi64>, tensor<2x4xi64>, tensor<2x4xi64>, tensor<2x4xi64>) -> (tensor<4x2xi64>, tensor<4x2xi64>, tensor<4x2xi64>, tensor<4x2xi64>)
  check.expect_eq_const %results#0, dense<[[1, 2], [5, 6], [9, 10], [13, 14]]> : tensor<4x2xi64>
  check.expect_eq_const %results#1, dense<[[17, 18], [21, 22], [25, 26], [29, 30]]> : tensor<4x2xi64>
  check.expect_eq_const %results#2, dense<[[3, 4], [7, 8], [11, 12], [15, 16]]> : tensor<4x2xi64>
  check.expect_eq_const %results#3, dense<[[19, 20], [23, 24], [27, 28], [31, 32]]> : tensor<4x2xi64>
  func.return
}

// -----

// One dimension: blocks are exchanged, in the order of the group.
func.func @all_to_all(%a: tensor<2xi32>) -> tensor<2xi32> {
  %result = "stablehlo.all_to_all"(%a) {
    split_dimension = 0 : i64,
    concat_dimension = 0 : i64,
    split_count = 2 : i64,
    replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>
  } : (tensor<2xi32>) -> tensor<2xi32>
  func.return %result : tensor<2xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %results:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@all_to_all], [@all_to_all]]}
      : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %results#0, dense<[4, 2]> : tensor<2xi32>
  check.expect_eq_const %results#1, dense<[3, 1]> : tensor<2xi32>
  func.return
}

// -----

// With a channel, groups contain partitions, separately in each replica.
func.func @all_to_all(%a: tensor<2xi32>) -> tensor<2xi32> {
  %result = "stablehlo.all_to_all"(%a) {
    split_dimension = 0 : i64,
    concat_dimension = 0 : i64,
    split_count = 2 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
  } : (tensor<2xi32>) -> tensor<2xi32>
  func.return %result : tensor<2xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %2 = stablehlo.constant dense<[5, 6]> : tensor<2xi32>
  %3 = stablehlo.constant dense<[7, 8]> : tensor<2xi32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_to_all, @all_to_all], [@all_to_all, @all_to_all]]}
      : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %results#0, dense<[1, 3]> : tensor<2xi32>
  check.expect_eq_const %results#1, dense<[2, 4]> : tensor<2xi32>
  check.expect_eq_const %results#2, dense<[5, 7]> : tensor<2xi32>
  check.expect_eq_const %results#3, dense<[6, 8]> : tensor<2xi32>
  func.return
}

// -----

// Without a channel, groups contain replicas, separately in each partition.
func.func @all_to_all(%a: tensor<2xi32>) -> tensor<2xi32> {
  %result = "stablehlo.all_to_all"(%a) {
    split_dimension = 0 : i64,
    concat_dimension = 0 : i64,
    split_count = 2 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<2xi32>) -> tensor<2xi32>
  func.return %result : tensor<2xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %2 = stablehlo.constant dense<[5, 6]> : tensor<2xi32>
  %3 = stablehlo.constant dense<[7, 8]> : tensor<2xi32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_to_all, @all_to_all], [@all_to_all, @all_to_all]]}
      : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %results#0, dense<[1, 5]> : tensor<2xi32>
  check.expect_eq_const %results#1, dense<[3, 7]> : tensor<2xi32>
  check.expect_eq_const %results#2, dense<[2, 6]> : tensor<2xi32>
  check.expect_eq_const %results#3, dense<[4, 8]> : tensor<2xi32>
  func.return
}

// -----

// Two groups; tensors without elements.
func.func @all_to_all(%a: tensor<2x0xf32>) -> tensor<2x0xf32> {
  %result = "stablehlo.all_to_all"(%a) {
    split_dimension = 0 : i64,
    concat_dimension = 1 : i64,
    split_count = 1 : i64,
    replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>
  } : (tensor<2x0xf32>) -> tensor<2x0xf32>
  func.return %result : tensor<2x0xf32>
}

func.func @main() {
  %0 = stablehlo.constant dense<> : tensor<2x0xf32>
  %1 = stablehlo.constant dense<> : tensor<2x0xf32>
  %results:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@all_to_all], [@all_to_all]]}
      : (tensor<2x0xf32>, tensor<2x0xf32>) -> (tensor<2x0xf32>, tensor<2x0xf32>)
  check.expect_eq_const %results#0, dense<> : tensor<2x0xf32>
  check.expect_eq_const %results#1, dense<> : tensor<2x0xf32>
  func.return
}

// -----

// Groups along an axis of a mesh of all devices, 2 replicas x 2 partitions; device ids are flattened process ids.
func.func @all_to_all(%operand: tensor<2xi32>) -> tensor<2xi32> {
  %result = "stablehlo.all_to_all"(%operand) {
    split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 2>]>, axes = [#stablehlo.axis_ref<name = "y">]>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
  } : (tensor<2xi32>) -> tensor<2xi32>
  func.return %result : tensor<2xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %2 = stablehlo.constant dense<[5, 6]> : tensor<2xi32>
  %3 = stablehlo.constant dense<[7, 8]> : tensor<2xi32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_to_all, @all_to_all], [@all_to_all, @all_to_all]]}
      : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %results#0, dense<[1, 3]> : tensor<2xi32>
  check.expect_eq_const %results#1, dense<[2, 4]> : tensor<2xi32>
  check.expect_eq_const %results#2, dense<[5, 7]> : tensor<2xi32>
  check.expect_eq_const %results#3, dense<[6, 8]> : tensor<2xi32>
  func.return
}
