// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @infeed(%token: !stablehlo.token) -> (tensor<2x2xi64>, tensor<2x2xi64>) {
  %0:2 = "stablehlo.infeed"(%token) {infeed_config = ""} : (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token)
  %1:2 = "stablehlo.infeed"(%0#1) : (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token)
  func.return %0#0, %1#0 : tensor<2x2xi64>, tensor<2x2xi64>
}
func.func @queue0() -> tensor<2x2xi64> {
  %0 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  func.return %0 : tensor<2x2xi64>
}
func.func @queue1() -> tensor<2x2xi64> {
  %0 = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
  func.return %0 : tensor<2x2xi64>
}

func.func @main() {
  %0 = stablehlo.after_all : !stablehlo.token
  %results:2 = "interpreter.run_parallel"(%0) {infeed = [@queue0, @queue1], programs = [[@infeed]]}
      : (!stablehlo.token) -> (tensor<2x2xi64>, tensor<2x2xi64>)
  check.expect_eq_const %results#0, dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  check.expect_eq_const %results#1, dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
  func.return
}

// -----

// The processes of a grid share its infeed.
func.func @infeed(%token: !stablehlo.token) -> (tensor<2x2xi64>, tensor<2x2xi64>) {
  %0:2 = "stablehlo.infeed"(%token) {infeed_config = ""} : (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token)
  %1:2 = "stablehlo.infeed"(%0#1) : (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token)
  func.return %0#0, %1#0 : tensor<2x2xi64>, tensor<2x2xi64>
}
func.func @queue0() -> tensor<2x2xi64> {
  %0 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  func.return %0 : tensor<2x2xi64>
}
func.func @queue1() -> tensor<2x2xi64> {
  %0 = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
  func.return %0 : tensor<2x2xi64>
}

func.func @main() {
  %0 = stablehlo.after_all : !stablehlo.token
  %1 = stablehlo.after_all : !stablehlo.token
  %results:4 = "interpreter.run_parallel"(%0, %1) {infeed = [@queue0, @queue1, @queue1, @queue0], programs = [[@infeed, @infeed]]}
      : (!stablehlo.token, !stablehlo.token) -> (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>)
  check.expect_eq_const %results#0, dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  check.expect_eq_const %results#1, dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
  check.expect_eq_const %results#2, dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
  check.expect_eq_const %results#3, dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  func.return
}
