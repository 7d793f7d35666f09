// RUN: stablehlo-interp --split-input-file %s

// The targets of the checks in upstream's tests.
func.func @main() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = stablehlo.add %x, %x : tensor<2xi32>
  %1 = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
  stablehlo.custom_call @check.expect_eq(%0, %1) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()
  %2 = stablehlo.custom_call @check.eq(%0, %1) : (tensor<2xi32>, tensor<2xi32>) -> tensor<i1>
  check.expect_eq_const %2, dense<true> : tensor<i1>
  %f = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // 2.0 and the number two ULPs above; 1.0 and 1.0009
  %g = stablehlo.constant dense<[1.0, 0x40000002]> : tensor<2xf32>
  %h = stablehlo.constant dense<[1.0009, 2.0]> : tensor<2xf32>
  stablehlo.custom_call @check.expect_close(%f, %g) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  stablehlo.custom_call @check.expect_almost_eq(%f, %h) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  return
}
