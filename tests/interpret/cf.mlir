// RUN: stablehlo-interp --split-input-file %s

// Assertions that hold, also in loops and functions; those that fail are in tests/failing.
func.func @main() {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.while(%i = %zero) : tensor<i32>
    cond {
      %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %n = tensor.extract %i[] : tensor<i32>
      func.call @small(%n) : (i32) -> ()
      %1 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }
  check.expect_eq_const %0, dense<3> : tensor<i32>
  return
}
func.func private @small(%n: i32) {
  %three = arith.constant 3 : i32
  %p = arith.cmpi slt, %n, %three : i32
  cf.assert %p, "n < 3, \22small\22"
  return
}
