// RUN: stablehlo-interp --split-input-file %s

// Writing returns a token, which orders later ops.
func.func @outfeed(%a: tensor<2x2x2xi64>, %token: !stablehlo.token) -> (tensor<2x2x2xi64>, !stablehlo.token) {
  %0 = "stablehlo.outfeed"(%a, %token) {outfeed_config = ""} : (tensor<2x2x2xi64>, !stablehlo.token) -> !stablehlo.token
  %1 = "stablehlo.outfeed"(%0) : (!stablehlo.token) -> !stablehlo.token
  func.return %a, %1 : tensor<2x2x2xi64>, !stablehlo.token
}

func.func @main() {
  %0 = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi64>
  %1 = stablehlo.after_all : !stablehlo.token
  %results:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@outfeed]]}
      : (tensor<2x2x2xi64>, !stablehlo.token) -> (tensor<2x2x2xi64>, !stablehlo.token)
  check.expect_eq_const %results#0, dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi64>
  func.return
}
