// RUN: stablehlo-interp --split-input-file %s

// A collective.
func.func @gather(%a: tensor<1xf32>) -> tensor<2xf32> {
  %future = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<1xf32>):
    %gathered = "stablehlo.all_gather"(%x) {
      all_gather_dim = 0 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
    } : (tensor<1xf32>) -> tensor<2xf32>
    stablehlo.return %gathered : tensor<2xf32>
  }) : (tensor<1xf32>) -> !stablehlo.future<tensor<2xf32>>
  %sum = stablehlo.add %a, %a : tensor<1xf32>
  %result = "stablehlo.async_done"(%future) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  func.return %result : tensor<2xf32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1.0> : tensor<1xf32>
  %1 = stablehlo.constant dense<2.0> : tensor<1xf32>
  %results:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@gather], [@gather]]}
      : (tensor<1xf32>, tensor<1xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %results#0, dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_eq_const %results#1, dense<[1.0, 2.0]> : tensor<2xf32>
  func.return
}

// -----

// A slice that is started twice, with results taken in reverse order.
func.func @main() {
  %operand = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %first = "stablehlo.async_start"(%operand) ({
  ^bb0(%x: tensor<4xi32>):
    %0 = stablehlo.slice %x [0:2] : (tensor<4xi32>) -> tensor<2xi32>
    stablehlo.return %0 : tensor<2xi32>
  }) : (tensor<4xi32>) -> !stablehlo.future<tensor<2xi32>>
  %second = "stablehlo.async_start"(%operand) ({
  ^bb0(%x: tensor<4xi32>):
    %0 = stablehlo.slice %x [2:4] : (tensor<4xi32>) -> tensor<2xi32>
    stablehlo.return %0 : tensor<2xi32>
  }) : (tensor<4xi32>) -> !stablehlo.future<tensor<2xi32>>
  %0 = "stablehlo.async_done"(%second) : (!stablehlo.future<tensor<2xi32>>) -> tensor<2xi32>
  %1 = "stablehlo.async_done"(%first) : (!stablehlo.future<tensor<2xi32>>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[3, 4]> : tensor<2xi32>
  check.expect_eq_const %1, dense<[1, 2]> : tensor<2xi32>
  func.return
}

// -----

// An op that captures values from above, and one whose argument shadows their name.
func.func @main() {
  %operand = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %others = stablehlo.constant dense<[5, 6, 7, 8]> : tensor<4xi32>
  %first = "stablehlo.async_start"(%operand) ({
    %0 = stablehlo.slice %operand [0:2] : (tensor<4xi32>) -> tensor<2xi32>
    stablehlo.return %0 : tensor<2xi32>
  }) : (tensor<4xi32>) -> !stablehlo.future<tensor<2xi32>>
  %second = "stablehlo.async_start"(%others) ({
  ^bb0(%operand: tensor<4xi32>):
    %0 = stablehlo.slice %operand [2:4] : (tensor<4xi32>) -> tensor<2xi32>
    stablehlo.return %0 : tensor<2xi32>
  }) : (tensor<4xi32>) -> !stablehlo.future<tensor<2xi32>>
  %0 = "stablehlo.async_done"(%first) : (!stablehlo.future<tensor<2xi32>>) -> tensor<2xi32>
  %1 = "stablehlo.async_done"(%second) : (!stablehlo.future<tensor<2xi32>>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %1, dense<[7, 8]> : tensor<2xi32>
  func.return
}
