// XLA on CPUs returns an array of ui16: the result is that of the body, of type i32.
func.func @main() -> tensor<1xi32> {
  %x = stablehlo.constant dense<3> : tensor<1xui16>
  %init = stablehlo.constant dense<65535> : tensor<ui16>
  %0 = stablehlo.reduce(%x init: %init) across dimensions = [] : (tensor<1xui16>, tensor<ui16>) -> tensor<1xi32>
  reducer(%a: tensor<i32>, %b: tensor<i32>) {
    %1 = stablehlo.minimum %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  check.expect_eq_const %0, dense<3> : tensor<1xi32>
  return %0 : tensor<1xi32>
}
