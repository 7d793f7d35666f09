// RUN: stablehlo-interp --split-input-file %s

// Pairs of replicas: each target gets what its source sent, other replicas get zeros.
func.func @exchange(%a: tensor<i32>) -> tensor<i32> {
  %token = stablehlo.after_all : !stablehlo.token
  %sent = "stablehlo.send"(%a, %token) {
    channel_handle = #stablehlo.channel_handle<handle = 0, type = 1>,
    source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>
  } : (tensor<i32>, !stablehlo.token) -> !stablehlo.token
  %results:2 = "stablehlo.recv"(%sent) {
    channel_handle = #stablehlo.channel_handle<handle = 0, type = 1>,
    source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>
  } : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  func.return %results#0 : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %2 = stablehlo.constant dense<3> : tensor<i32>
  %results:3 = "interpreter.run_parallel"(%0, %1, %2) {programs = [[@exchange], [@exchange], [@exchange]]}
      : (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<0> : tensor<i32>
  check.expect_eq_const %results#1, dense<1> : tensor<i32>
  check.expect_eq_const %results#2, dense<2> : tensor<i32>
  func.return
}

// -----

// Pairs of partitions, if there is one replica.
func.func @exchange(%a: tensor<i32>) -> tensor<i32> {
  %token = stablehlo.after_all : !stablehlo.token
  %sent = "stablehlo.send"(%a, %token) {
    channel_handle = #stablehlo.channel_handle<handle = 0, type = 1>,
    source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>
  } : (tensor<i32>, !stablehlo.token) -> !stablehlo.token
  %results:2 = "stablehlo.recv"(%sent) {
    channel_handle = #stablehlo.channel_handle<handle = 0, type = 1>,
    source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>
  } : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  func.return %results#0 : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %results:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@exchange, @exchange]]}
      : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<2> : tensor<i32>
  check.expect_eq_const %results#1, dense<1> : tensor<i32>
  func.return
}

// -----

// In a grid of replicas and partitions, pairs are partitions.
func.func @exchange(%a: tensor<i32>) -> tensor<i32> {
  %token = stablehlo.after_all : !stablehlo.token
  %sent = "stablehlo.send"(%a, %token) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
    source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>
  } : (tensor<i32>, !stablehlo.token) -> !stablehlo.token
  %results:2 = "stablehlo.recv"(%sent) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
    source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>
  } : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  func.return %results#0 : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %2 = stablehlo.constant dense<3> : tensor<i32>
  %3 = stablehlo.constant dense<4> : tensor<i32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@exchange, @exchange], [@exchange, @exchange]]}
      : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<2> : tensor<i32>
  check.expect_eq_const %results#1, dense<1> : tensor<i32>
  check.expect_eq_const %results#2, dense<4> : tensor<i32>
  check.expect_eq_const %results#3, dense<3> : tensor<i32>
  func.return
}

// -----

// Messages are received in the order in which they were sent; several tensors, and none.
func.func @send(%token: !stablehlo.token) -> !stablehlo.token {
  %a = stablehlo.constant dense<1> : tensor<i32>
  %b = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %0 = "stablehlo.send"(%a, %b, %token) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 2>, is_host_transfer = true}
      : (tensor<i32>, tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %1 = "stablehlo.send"(%0) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 2>, is_host_transfer = true}
      : (!stablehlo.token) -> !stablehlo.token
  %2 = "stablehlo.send"(%b, %a, %1) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 2>, is_host_transfer = true}
      : (tensor<2xf32>, tensor<i32>, !stablehlo.token) -> !stablehlo.token
  func.return %2 : !stablehlo.token
}
func.func @recv(%token: !stablehlo.token) -> (tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<i32>) {
  %0:3 = "stablehlo.recv"(%token) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 3>, is_host_transfer = true}
      : (!stablehlo.token) -> (tensor<i32>, tensor<2xf32>, !stablehlo.token)
  %1 = "stablehlo.recv"(%0#2) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 3>, is_host_transfer = true}
      : (!stablehlo.token) -> !stablehlo.token
  %2:3 = "stablehlo.recv"(%1) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 3>, is_host_transfer = true}
      : (!stablehlo.token) -> (tensor<2xf32>, tensor<i32>, !stablehlo.token)
  func.return %0#0, %0#1, %2#0, %2#1 : tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<i32>
}

func.func @main() {
  %0 = stablehlo.after_all : !stablehlo.token
  %1 = stablehlo.after_all : !stablehlo.token
  %results:5 = "interpreter.run_parallel"(%0, %1) {programs = [[@recv], [@send]]}
      : (!stablehlo.token, !stablehlo.token) -> (tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<i32>, !stablehlo.token)
  check.expect_eq_const %results#0, dense<1> : tensor<i32>
  check.expect_eq_const %results#1, dense<[2.0, 3.0]> : tensor<2xf32>
  check.expect_eq_const %results#2, dense<[2.0, 3.0]> : tensor<2xf32>
  check.expect_eq_const %results#3, dense<1> : tensor<i32>
  func.return
}
