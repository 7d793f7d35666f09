// RUN: stablehlo-interp --split-input-file %s

// The spec's example: a process that is not a target gets zeros.
func.func @collective_permute(%a: tensor<2x2xi64>) -> tensor<2x2xi64> {
  %result = "stablehlo.collective_permute"(%a) {
    source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>
  } : (tensor<2x2xi64>) -> tensor<2x2xi64>
  func.return %result : tensor<2x2xi64>
}

func.func @main() {
  %0 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %1 = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
  %2 = stablehlo.constant dense<[[9, 10], [11, 12]]> : tensor<2x2xi64>
  %results:3 = "interpreter.run_parallel"(%0, %1, %2) {programs = [[@collective_permute], [@collective_permute], [@collective_permute]]}
      : (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>) -> (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>)
  check.expect_eq_const %results#0, dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>
  check.expect_eq_const %results#1, dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  check.expect_eq_const %results#2, dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
  func.return
}

// -----

// A ring, and a process that sends to itself.
func.func @collective_permute(%a: tensor<i32>) -> tensor<i32> {
  %result = "stablehlo.collective_permute"(%a) {
    source_target_pairs = dense<[[0, 1], [1, 2], [2, 0], [3, 3]]> : tensor<4x2xi64>
  } : (tensor<i32>) -> tensor<i32>
  func.return %result : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %2 = stablehlo.constant dense<3> : tensor<i32>
  %3 = stablehlo.constant dense<4> : tensor<i32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_permute], [@collective_permute], [@collective_permute], [@collective_permute]]}
      : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<3> : tensor<i32>
  check.expect_eq_const %results#1, dense<1> : tensor<i32>
  check.expect_eq_const %results#2, dense<2> : tensor<i32>
  check.expect_eq_const %results#3, dense<4> : tensor<i32>
  func.return
}

// -----

// With a channel, pairs contain partitions.
func.func @collective_permute(%a: tensor<i32>) -> tensor<i32> {
  %result = "stablehlo.collective_permute"(%a) {
    source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
  } : (tensor<i32>) -> tensor<i32>
  func.return %result : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %2 = stablehlo.constant dense<3> : tensor<i32>
  %3 = stablehlo.constant dense<4> : tensor<i32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_permute, @collective_permute], [@collective_permute, @collective_permute]]}
      : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<2> : tensor<i32>
  check.expect_eq_const %results#1, dense<1> : tensor<i32>
  check.expect_eq_const %results#2, dense<4> : tensor<i32>
  check.expect_eq_const %results#3, dense<3> : tensor<i32>
  func.return
}

// -----

// Without a channel, pairs contain replicas.
func.func @collective_permute(%a: tensor<i32>) -> tensor<i32> {
  %result = "stablehlo.collective_permute"(%a) {
    source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<i32>) -> tensor<i32>
  func.return %result : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %2 = stablehlo.constant dense<3> : tensor<i32>
  %3 = stablehlo.constant dense<4> : tensor<i32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_permute, @collective_permute], [@collective_permute, @collective_permute]]}
      : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<0> : tensor<i32>
  check.expect_eq_const %results#1, dense<0> : tensor<i32>
  check.expect_eq_const %results#2, dense<1> : tensor<i32>
  check.expect_eq_const %results#3, dense<2> : tensor<i32>
  func.return
}

// -----

// Twice on one channel, in sequence.
func.func @twice(%a: tensor<i32>) -> tensor<i32> {
  %once = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<i32>) -> tensor<i32>
  %twice = "stablehlo.collective_permute"(%once) {source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<i32>) -> tensor<i32>
  func.return %twice : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %2 = stablehlo.constant dense<3> : tensor<i32>
  %results:3 = "interpreter.run_parallel"(%0, %1, %2) {programs = [[@twice, @twice, @twice]]}
      : (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<2> : tensor<i32>
  check.expect_eq_const %results#1, dense<3> : tensor<i32>
  check.expect_eq_const %results#2, dense<1> : tensor<i32>
  func.return
}
