// RUN: stablehlo-interp --split-input-file %s

// An index out of range, below or above, selects the last branch.
func.func @main() {
  %minus = stablehlo.constant dense<-1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %big = stablehlo.constant dense<1000> : tensor<i32>
  %0 = func.call @choose(%minus) : (tensor<i32>) -> tensor<i64>
  %1 = func.call @choose(%zero) : (tensor<i32>) -> tensor<i64>
  %2 = func.call @choose(%one) : (tensor<i32>) -> tensor<i64>
  %3 = func.call @choose(%two) : (tensor<i32>) -> tensor<i64>
  %4 = func.call @choose(%big) : (tensor<i32>) -> tensor<i64>
  check.expect_eq_const %0, dense<30> : tensor<i64>
  check.expect_eq_const %1, dense<10> : tensor<i64>
  check.expect_eq_const %2, dense<20> : tensor<i64>
  check.expect_eq_const %3, dense<30> : tensor<i64>
  check.expect_eq_const %4, dense<30> : tensor<i64>
  return
}
func.func private @choose(%index: tensor<i32>) -> tensor<i64> {
  %0 = "stablehlo.case"(%index) ({
    %1 = stablehlo.constant dense<10> : tensor<i64>
    stablehlo.return %1 : tensor<i64>
  }, {
    %1 = stablehlo.constant dense<20> : tensor<i64>
    stablehlo.return %1 : tensor<i64>
  }, {
    %1 = stablehlo.constant dense<30> : tensor<i64>
    stablehlo.return %1 : tensor<i64>
  }) : (tensor<i32>) -> tensor<i64>
  return %0 : tensor<i64>
}
