// RUN: stablehlo-interp --split-input-file %s

func.func @constant() {
  %result = chlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @generic_form() {
  %result = "chlo.constant"() {value = dense<1.5> : tensor<3xf32>} : () -> tensor<3xf32>
  check.expect_eq_const %result, dense<1.5> : tensor<3xf32>
  func.return
}
