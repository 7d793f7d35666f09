// RUN: stablehlo-interp --split-input-file %s

// A token that waits for all others: for none, one, or many. It orders the ops that take it.
func.func @main() {
  %token0 = stablehlo.after_all : !stablehlo.token
  %0:2 = "interpreter.run_parallel"(%token0) {infeed = [@first, @second], programs = [[@reads]]} : (!stablehlo.token) -> (tensor<i32>, tensor<i32>)
  check.expect_eq_const %0#0, dense<1> : tensor<i32>
  check.expect_eq_const %0#1, dense<2> : tensor<i32>
  func.return
}
func.func private @reads(%token0: !stablehlo.token) -> (tensor<i32>, tensor<i32>) {
  %token1 = stablehlo.after_all %token0 : !stablehlo.token
  %0:2 = "stablehlo.infeed"(%token1) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  %token2 = stablehlo.after_all %token0, %token1, %0#1 : !stablehlo.token
  %1:2 = "stablehlo.infeed"(%token2) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  func.return %0#0, %1#0 : tensor<i32>, tensor<i32>
}
func.func private @first() -> tensor<i32> {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  func.return %0 : tensor<i32>
}
func.func private @second() -> tensor<i32> {
  %0 = stablehlo.constant dense<2> : tensor<i32>
  func.return %0 : tensor<i32>
}
