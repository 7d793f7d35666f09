// RUN: stablehlo-interp --split-input-file %s

// The spec's first example: the first process of the group gets the reduction, the others get zeros.
func.func @collective_reduce(%a: tensor<1x2xi64>) -> tensor<1x2xi64> {
  %result = "stablehlo.collective_reduce"(%a) ({
  ^bb0(%x: tensor<i64>, %y: tensor<i64>):
    %s = stablehlo.add %x, %y : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) {
    replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>
  } : (tensor<1x2xi64>) -> tensor<1x2xi64>
  func.return %result : tensor<1x2xi64>
}

func.func @main() {
  %0 = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi64>
  %1 = stablehlo.constant dense<[[3, 4]]> : tensor<1x2xi64>
  %2 = stablehlo.constant dense<[[5, 6]]> : tensor<1x2xi64>
  %3 = stablehlo.constant dense<[[7, 8]]> : tensor<1x2xi64>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_reduce], [@collective_reduce], [@collective_reduce], [@collective_reduce]]}
      : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>)
  check.expect_eq_const %results#0, dense<[[16, 20]]> : tensor<1x2xi64>
  check.expect_eq_const %results#1, dense<[[0, 0]]> : tensor<1x2xi64>
  check.expect_eq_const %results#2, dense<[[0, 0]]> : tensor<1x2xi64>
  check.expect_eq_const %results#3, dense<[[0, 0]]> : tensor<1x2xi64>
  func.return
}

// -----

// The spec's second example: the root has index 3 in the group.
func.func @collective_reduce(%a: tensor<1x2xi64>, %b: tensor<1xi32>) -> tensor<1x2xi64> {
  %result = "stablehlo.collective_reduce"(%a, %b) ({
  ^bb0(%x: tensor<i64>, %y: tensor<i64>):
    %s = stablehlo.add %x, %y : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) {
    replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
    has_dynamic_root
  } : (tensor<1x2xi64>, tensor<1xi32>) -> tensor<1x2xi64>
  func.return %result : tensor<1x2xi64>
}

func.func @main() {
  %0 = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi64>
  %1 = stablehlo.constant dense<3> : tensor<1xi32>
  %2 = stablehlo.constant dense<[[3, 4]]> : tensor<1x2xi64>
  %3 = stablehlo.constant dense<3> : tensor<1xi32>
  %4 = stablehlo.constant dense<[[5, 6]]> : tensor<1x2xi64>
  %5 = stablehlo.constant dense<3> : tensor<1xi32>
  %6 = stablehlo.constant dense<[[7, 8]]> : tensor<1x2xi64>
  %7 = stablehlo.constant dense<3> : tensor<1xi32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3, %4, %5, %6, %7) {programs = [[@collective_reduce], [@collective_reduce], [@collective_reduce], [@collective_reduce]]}
      : (tensor<1x2xi64>, tensor<1xi32>, tensor<1x2xi64>, tensor<1xi32>, tensor<1x2xi64>, tensor<1xi32>, tensor<1x2xi64>, tensor<1xi32>) -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>)
  check.expect_eq_const %results#0, dense<[[0, 0]]> : tensor<1x2xi64>
  check.expect_eq_const %results#1, dense<[[0, 0]]> : tensor<1x2xi64>
  check.expect_eq_const %results#2, dense<[[0, 0]]> : tensor<1x2xi64>
  check.expect_eq_const %results#3, dense<[[16, 20]]> : tensor<1x2xi64>
  func.return
}

// -----

// Two tensors with different roots, in a group without replica 1.
func.func @collective_reduce(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<2xi32>) -> (tensor<i32>, tensor<i32>) {
  %result:2 = "stablehlo.collective_reduce"(%a, %b, %c) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.subtract %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {
    replica_groups = dense<[[2, 0]]> : tensor<1x2xi64>,
    has_dynamic_root
  } : (tensor<i32>, tensor<i32>, tensor<2xi32>) -> (tensor<i32>, tensor<i32>)
  func.return %result#0, %result#1 : tensor<i32>, tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<10> : tensor<i32>
  %2 = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  %3 = stablehlo.constant dense<2> : tensor<i32>
  %4 = stablehlo.constant dense<20> : tensor<i32>
  %5 = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  %6 = stablehlo.constant dense<3> : tensor<i32>
  %7 = stablehlo.constant dense<30> : tensor<i32>
  %8 = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  %results:6 = "interpreter.run_parallel"(%0, %1, %2, %3, %4, %5, %6, %7, %8) {programs = [[@collective_reduce], [@collective_reduce], [@collective_reduce]]}
      : (tensor<i32>, tensor<i32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<2xi32>, tensor<i32>, tensor<i32>, tensor<2xi32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<0> : tensor<i32>
  check.expect_eq_const %results#1, dense<20> : tensor<i32>
  check.expect_eq_const %results#2, dense<0> : tensor<i32>
  check.expect_eq_const %results#3, dense<0> : tensor<i32>
  check.expect_eq_const %results#4, dense<2> : tensor<i32>
  check.expect_eq_const %results#5, dense<0> : tensor<i32>
  func.return
}

// -----

// With a channel, groups contain partitions, separately in each replica.
func.func @collective_reduce(%a: tensor<i32>) -> tensor<i32> {
  %result = "stablehlo.collective_reduce"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {
    replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
  } : (tensor<i32>) -> tensor<i32>
  func.return %result : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<10> : tensor<i32>
  %2 = stablehlo.constant dense<100> : tensor<i32>
  %3 = stablehlo.constant dense<1000> : tensor<i32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_reduce, @collective_reduce], [@collective_reduce, @collective_reduce]]}
      : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<0> : tensor<i32>
  check.expect_eq_const %results#1, dense<11> : tensor<i32>
  check.expect_eq_const %results#2, dense<0> : tensor<i32>
  check.expect_eq_const %results#3, dense<1100> : tensor<i32>
  func.return
}

// -----

// With MLIR's use_global_device_ids, groups contain flattened ids.
func.func @collective_reduce(%a: tensor<i32>) -> tensor<i32> {
  %result = "stablehlo.collective_reduce"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {
    replica_groups = dense<[[3, 0]]> : tensor<1x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
    use_global_device_ids
  } : (tensor<i32>) -> tensor<i32>
  func.return %result : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<10> : tensor<i32>
  %2 = stablehlo.constant dense<100> : tensor<i32>
  %3 = stablehlo.constant dense<1000> : tensor<i32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_reduce, @collective_reduce], [@collective_reduce, @collective_reduce]]}
      : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<0> : tensor<i32>
  check.expect_eq_const %results#1, dense<0> : tensor<i32>
  check.expect_eq_const %results#2, dense<0> : tensor<i32>
  check.expect_eq_const %results#3, dense<1001> : tensor<i32>
  func.return
}
