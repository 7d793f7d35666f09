// RUN: stablehlo-interp --split-input-file %s

func.func @main() {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %0, %0 : !stablehlo.token
  %x = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi32>
  stablehlo.trace %x, "in a test" : tensor<1x2xi32>
  check.expect_eq_const %x, dense<[[1, 2]]> : tensor<1x2xi32>
  func.return
}
