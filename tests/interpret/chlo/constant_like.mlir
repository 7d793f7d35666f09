// RUN: stablehlo-interp --split-input-file %s

// The result has the shape of the operand and the element type of the value.
func.func @constant_like() {
  %operand = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %result = "chlo.constant_like"(%operand) {value = 3.25 : f32} : (tensor<2x2xi32>) -> tensor<2x2xf32>
  check.expect_eq_const %result, dense<3.25> : tensor<2x2xf32>
  func.return
}

// -----

func.func @integers_and_booleans() {
  %operand = stablehlo.constant dense<0.0> : tensor<f32>
  %integer = "chlo.constant_like"(%operand) <{value = -7 : i8}> : (tensor<f32>) -> tensor<i8>
  %boolean = "chlo.constant_like"(%operand) <{value = true}> : (tensor<f32>) -> tensor<i1>
  check.expect_eq_const %integer, dense<-7> : tensor<i8>
  check.expect_eq_const %boolean, dense<true> : tensor<i1>
  func.return
}
