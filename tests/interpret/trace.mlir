// RUN: stablehlo-interp --split-input-file %s

// No effect, whatever its attributes.
func.func @main() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  stablehlo.trace %x, "before \22it\22" : tensor<2xi32>
  %0 = stablehlo.add %x, %x : tensor<2xi32>
  stablehlo.trace %0, "" : tensor<2xi32>
  check.expect_eq_const %0, dense<[2, 4]> : tensor<2xi32>
  func.return
}
