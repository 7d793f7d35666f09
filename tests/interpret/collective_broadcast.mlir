// RUN: stablehlo-interp --split-input-file %s

// The spec's example: processes that are in no group get zeros.
func.func @collective_broadcast(%a: tensor<1x2xi64>) -> tensor<1x2xi64> {
  %result = "stablehlo.collective_broadcast"(%a) {
    replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>
  } : (tensor<1x2xi64>) -> tensor<1x2xi64>
  func.return %result : tensor<1x2xi64>
}

func.func @main() {
  %0 = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi64>
  %1 = stablehlo.constant dense<[[3, 4]]> : tensor<1x2xi64>
  %2 = stablehlo.constant dense<[[5, 6]]> : tensor<1x2xi64>
  %3 = stablehlo.constant dense<[[7, 8]]> : tensor<1x2xi64>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_broadcast], [@collective_broadcast], [@collective_broadcast], [@collective_broadcast]]}
      : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>)
  check.expect_eq_const %results#0, dense<[[0, 0]]> : tensor<1x2xi64>
  check.expect_eq_const %results#1, dense<[[5, 6]]> : tensor<1x2xi64>
  check.expect_eq_const %results#2, dense<[[5, 6]]> : tensor<1x2xi64>
  check.expect_eq_const %results#3, dense<[[0, 0]]> : tensor<1x2xi64>
  func.return
}

// -----

// With a channel, groups contain partitions.
func.func @collective_broadcast(%a: tensor<i32>) -> tensor<i32> {
  %result = "stablehlo.collective_broadcast"(%a) {
    replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
  } : (tensor<i32>) -> tensor<i32>
  func.return %result : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %2 = stablehlo.constant dense<3> : tensor<i32>
  %3 = stablehlo.constant dense<4> : tensor<i32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_broadcast, @collective_broadcast], [@collective_broadcast, @collective_broadcast]]}
      : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<2> : tensor<i32>
  check.expect_eq_const %results#1, dense<2> : tensor<i32>
  check.expect_eq_const %results#2, dense<4> : tensor<i32>
  check.expect_eq_const %results#3, dense<4> : tensor<i32>
  func.return
}

// -----

// has_dynamic_root: one root per tensor, an index in the group: in (2, 0), index 0 is replica 2.
func.func @collective_broadcast(%a: tensor<i32>, %b: tensor<2xf32>, %c: tensor<2xi32>) -> (tensor<i32>, tensor<2xf32>) {
  %result:2 = "stablehlo.collective_broadcast"(%a, %b, %c) {
    replica_groups = dense<[[2, 0]]> : tensor<1x2xi64>,
    has_dynamic_root
  } : (tensor<i32>, tensor<2xf32>, tensor<2xi32>) -> (tensor<i32>, tensor<2xf32>)
  func.return %result#0, %result#1 : tensor<i32>, tensor<2xf32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<[1.0, 1.5]> : tensor<2xf32>
  %2 = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %3 = stablehlo.constant dense<2> : tensor<i32>
  %4 = stablehlo.constant dense<[2.0, 2.5]> : tensor<2xf32>
  %5 = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %6 = stablehlo.constant dense<3> : tensor<i32>
  %7 = stablehlo.constant dense<[3.0, 3.5]> : tensor<2xf32>
  %8 = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %results:6 = "interpreter.run_parallel"(%0, %1, %2, %3, %4, %5, %6, %7, %8) {programs = [[@collective_broadcast], [@collective_broadcast], [@collective_broadcast]]}
      : (tensor<i32>, tensor<2xf32>, tensor<2xi32>, tensor<i32>, tensor<2xf32>, tensor<2xi32>, tensor<i32>, tensor<2xf32>, tensor<2xi32>) -> (tensor<i32>, tensor<2xf32>, tensor<i32>, tensor<2xf32>, tensor<i32>, tensor<2xf32>)
  check.expect_eq_const %results#0, dense<1> : tensor<i32>
  check.expect_eq_const %results#1, dense<[3.0, 3.5]> : tensor<2xf32>
  check.expect_eq_const %results#2, dense<0> : tensor<i32>
  check.expect_eq_const %results#3, dense<[0.0, 0.0]> : tensor<2xf32>
  check.expect_eq_const %results#4, dense<1> : tensor<i32>
  check.expect_eq_const %results#5, dense<[3.0, 3.5]> : tensor<2xf32>
  func.return
}

// -----

// A quantized zero is stored as the zero point.
func.func @collective_broadcast(%a: tensor<1xi8>) -> tensor<1xi8> {
  %quantized = stablehlo.bitcast_convert %a : (tensor<1xi8>) -> tensor<1x!quant.uniform<i8:f32, 0.5:3>>
  %received = "stablehlo.collective_broadcast"(%quantized) {
    replica_groups = dense<0> : tensor<1x1xi64>
  } : (tensor<1x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x!quant.uniform<i8:f32, 0.5:3>>
  %stored = stablehlo.bitcast_convert %received : (tensor<1x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1xi8>
  func.return %stored : tensor<1xi8>
}
func.func @main() {
  %0 = stablehlo.constant dense<-128> : tensor<1xi8>
  %1 = stablehlo.constant dense<127> : tensor<1xi8>
  %results:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@collective_broadcast], [@collective_broadcast]]}
      : (tensor<1xi8>, tensor<1xi8>) -> (tensor<1xi8>, tensor<1xi8>)
  check.expect_eq_const %results#0, dense<-128> : tensor<1xi8>
  check.expect_eq_const %results#1, dense<3> : tensor<1xi8>
  func.return
}
