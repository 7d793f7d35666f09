// RUN: stablehlo-interp --split-input-file %s

// What one process sends, another receives.
func.func @send(%a: tensor<2xi64>, %token: !stablehlo.token) -> !stablehlo.token {
  %result = "stablehlo.send"(%a, %token) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>
  } : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
  func.return %result : !stablehlo.token
}
func.func @recv(%token: !stablehlo.token) -> (tensor<2xi64>, !stablehlo.token) {
  %results:2 = "stablehlo.recv"(%token) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>
  } : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
  func.return %results#0, %results#1 : tensor<2xi64>, !stablehlo.token
}

func.func @main() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %1 = stablehlo.after_all : !stablehlo.token
  %2 = stablehlo.after_all : !stablehlo.token
  %results:3 = "interpreter.run_parallel"(%0, %1, %2) {programs = [[@send], [@recv]]}
      : (tensor<2xi64>, !stablehlo.token, !stablehlo.token) -> (!stablehlo.token, tensor<2xi64>, !stablehlo.token)
  check.expect_eq_const %results#1, dense<[1, 2]> : tensor<2xi64>
  func.return
}

// -----

// The receiver may run first.
func.func @send(%a: tensor<2xi64>, %token: !stablehlo.token) -> !stablehlo.token {
  %result = "stablehlo.send"(%a, %token) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>
  } : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
  func.return %result : !stablehlo.token
}
func.func @recv(%token: !stablehlo.token) -> (tensor<2xi64>, !stablehlo.token) {
  %results:2 = "stablehlo.recv"(%token) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>
  } : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
  func.return %results#0, %results#1 : tensor<2xi64>, !stablehlo.token
}

func.func @main() {
  %0 = stablehlo.after_all : !stablehlo.token
  %1 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %2 = stablehlo.after_all : !stablehlo.token
  %results:3 = "interpreter.run_parallel"(%0, %1, %2) {programs = [[@recv], [@send]]}
      : (!stablehlo.token, tensor<2xi64>, !stablehlo.token) -> (tensor<2xi64>, !stablehlo.token, !stablehlo.token)
  check.expect_eq_const %results#0, dense<[1, 2]> : tensor<2xi64>
  func.return
}

// -----

// Through the host.
func.func @send(%a: tensor<2xi64>, %token: !stablehlo.token) -> !stablehlo.token {
  %result = "stablehlo.send"(%a, %token) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>,
    is_host_transfer = true
  } : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
  func.return %result : !stablehlo.token
}
func.func @recv(%token: !stablehlo.token) -> (tensor<2xi64>, !stablehlo.token) {
  %results:2 = "stablehlo.recv"(%token) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>,
    is_host_transfer = true
  } : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
  func.return %results#0, %results#1 : tensor<2xi64>, !stablehlo.token
}

func.func @main() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %1 = stablehlo.after_all : !stablehlo.token
  %2 = stablehlo.after_all : !stablehlo.token
  %results:3 = "interpreter.run_parallel"(%0, %1, %2) {programs = [[@send, @recv]]}
      : (tensor<2xi64>, !stablehlo.token, !stablehlo.token) -> (!stablehlo.token, tensor<2xi64>, !stablehlo.token)
  check.expect_eq_const %results#1, dense<[1, 2]> : tensor<2xi64>
  func.return
}
