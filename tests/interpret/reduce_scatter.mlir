// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @reduce_scatter(%a: tensor<2x4xi64>) -> tensor<2x2xi64> {
  %result = "stablehlo.reduce_scatter"(%a) ({
  ^bb0(%x: tensor<i64>, %y: tensor<i64>):
    %s = stablehlo.add %x, %y : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) {
    scatter_dimension = 1 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<2x4xi64>) -> tensor<2x2xi64>
  func.return %result : tensor<2x2xi64>
}

func.func @main() {
  %0 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi64>
  %1 = stablehlo.constant dense<[[9, 10, 11, 12], [13, 14, 15, 16]]> : tensor<2x4xi64>
  %results:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@reduce_scatter], [@reduce_scatter]]}
      : (tensor<2x4xi64>, tensor<2x4xi64>) -> (tensor<2x2xi64>, tensor<2x2xi64>)
  check.expect_eq_const %results#0, dense<[[10, 12], [18, 20]]> : tensor<2x2xi64>
  check.expect_eq_const %results#1, dense<[[14, 16], [22, 24]]> : tensor<2x2xi64>
  func.return
}

// -----

// cross_replica; parts in the order of the group.
func.func @reduce_scatter(%a: tensor<4xi32>) -> tensor<2xi32> {
  %result = "stablehlo.reduce_scatter"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {
    scatter_dimension = 0 : i64,
    replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>
  } : (tensor<4xi32>) -> tensor<2xi32>
  func.return %result : tensor<2xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %1 = stablehlo.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %2 = stablehlo.constant dense<[100, 200, 300, 400]> : tensor<4xi32>
  %3 = stablehlo.constant dense<[1000, 2000, 3000, 4000]> : tensor<4xi32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@reduce_scatter, @reduce_scatter], [@reduce_scatter, @reduce_scatter]]}
      : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %results#0, dense<[303, 404]> : tensor<2xi32>
  check.expect_eq_const %results#1, dense<[3030, 4040]> : tensor<2xi32>
  check.expect_eq_const %results#2, dense<[101, 202]> : tensor<2xi32>
  check.expect_eq_const %results#3, dense<[1010, 2020]> : tensor<2xi32>
  func.return
}

// -----

// cross_replica_and_partition: processes of the group are (0, 0), (1, 0), (0, 1), (1, 1).
func.func @reduce_scatter(%a: tensor<4xi32>) -> tensor<1xi32> {
  %result = "stablehlo.reduce_scatter"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {
    scatter_dimension = 0 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
  } : (tensor<4xi32>) -> tensor<1xi32>
  func.return %result : tensor<1xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %1 = stablehlo.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %2 = stablehlo.constant dense<[100, 200, 300, 400]> : tensor<4xi32>
  %3 = stablehlo.constant dense<[1000, 2000, 3000, 4000]> : tensor<4xi32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@reduce_scatter, @reduce_scatter], [@reduce_scatter, @reduce_scatter]]}
      : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
  check.expect_eq_const %results#0, dense<1111> : tensor<1xi32>
  check.expect_eq_const %results#1, dense<3333> : tensor<1xi32>
  check.expect_eq_const %results#2, dense<2222> : tensor<1xi32>
  check.expect_eq_const %results#3, dense<4444> : tensor<1xi32>
  func.return
}

// -----

// flattened_ids.
func.func @reduce_scatter(%a: tensor<4xi32>) -> tensor<2xi32> {
  %result = "stablehlo.reduce_scatter"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {
    scatter_dimension = 0 : i64,
    replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
    use_global_device_ids
  } : (tensor<4xi32>) -> tensor<2xi32>
  func.return %result : tensor<2xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %1 = stablehlo.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %2 = stablehlo.constant dense<[100, 200, 300, 400]> : tensor<4xi32>
  %3 = stablehlo.constant dense<[1000, 2000, 3000, 4000]> : tensor<4xi32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@reduce_scatter, @reduce_scatter], [@reduce_scatter, @reduce_scatter]]}
      : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %results#0, dense<[1001, 2002]> : tensor<2xi32>
  check.expect_eq_const %results#1, dense<[110, 220]> : tensor<2xi32>
  check.expect_eq_const %results#2, dense<[330, 440]> : tensor<2xi32>
  check.expect_eq_const %results#3, dense<[3003, 4004]> : tensor<2xi32>
  func.return
}

// -----

// Operands of a narrower type are promoted.
func.func @reduce_scatter(%a: tensor<2xf32>) -> tensor<1xf64> {
  %result = "stablehlo.reduce_scatter"(%a) ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %s = stablehlo.add %x, %y : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) {
    scatter_dimension = 0 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<2xf32>) -> tensor<1xf64>
  func.return %result : tensor<1xf64>
}

func.func @main() {
  %0 = stablehlo.constant dense<[16777216.0, 1.0]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %results:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@reduce_scatter], [@reduce_scatter]]}
      : (tensor<2xf32>, tensor<2xf32>) -> (tensor<1xf64>, tensor<1xf64>)
  check.expect_eq_const %results#0, dense<16777217.0> : tensor<1xf64>
  check.expect_eq_const %results#1, dense<3.0> : tensor<1xf64>
  func.return
}
