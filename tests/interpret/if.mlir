// RUN: stablehlo-interp --split-input-file %s

func.func @main() {
  %x = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %no = stablehlo.constant dense<false> : tensor<i1>
  %0:2 = func.call @choose(%yes, %x) : (tensor<i1>, tensor<2xf32>) -> (tensor<2xf32>, tensor<i32>)
  check.expect_eq_const %0#0, dense<[2.0, -4.0]> : tensor<2xf32>
  check.expect_eq_const %0#1, dense<1> : tensor<i32>
  %1:2 = func.call @choose(%no, %x) : (tensor<i1>, tensor<2xf32>) -> (tensor<2xf32>, tensor<i32>)
  check.expect_eq_const %1#0, dense<[1.0, -2.0]> : tensor<2xf32>
  check.expect_eq_const %1#1, dense<2> : tensor<i32>
  return
}

// The branches capture values from above; one returns a captured value.
func.func private @choose(%pred: tensor<i1>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<i32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0:2 = "stablehlo.if"(%pred) ({
    %1 = stablehlo.add %x, %x : tensor<2xf32>
    stablehlo.return %1, %one : tensor<2xf32>, tensor<i32>
  }, {
    stablehlo.return %x, %two : tensor<2xf32>, tensor<i32>
  }) : (tensor<i1>) -> (tensor<2xf32>, tensor<i32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<i32>
}
