// RUN: stablehlo-interp --split-input-file %s

// A future of two tensors.
func.func @gather(%a: tensor<1xf32>, %b: tensor<1xi32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %future = "stablehlo.async_start"(%a, %b) ({
  ^bb0(%x: tensor<1xf32>, %y: tensor<1xi32>):
    %gathered:2 = "stablehlo.all_gather"(%x, %y) {
      all_gather_dim = 0 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
    } : (tensor<1xf32>, tensor<1xi32>) -> (tensor<2xf32>, tensor<2xi32>)
    stablehlo.return %gathered#0, %gathered#1 : tensor<2xf32>, tensor<2xi32>
  }) : (tensor<1xf32>, tensor<1xi32>) -> !stablehlo.future<tensor<2xf32>, tensor<2xi32>>
  %results:2 = "stablehlo.async_done"(%future) : (!stablehlo.future<tensor<2xf32>, tensor<2xi32>>) -> (tensor<2xf32>, tensor<2xi32>)
  func.return %results#0, %results#1 : tensor<2xf32>, tensor<2xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1.0> : tensor<1xf32>
  %1 = stablehlo.constant dense<10> : tensor<1xi32>
  %2 = stablehlo.constant dense<2.0> : tensor<1xf32>
  %3 = stablehlo.constant dense<20> : tensor<1xi32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@gather], [@gather]]}
      : (tensor<1xf32>, tensor<1xi32>, tensor<1xf32>, tensor<1xi32>) -> (tensor<2xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xi32>)
  check.expect_eq_const %results#0, dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_eq_const %results#1, dense<[10, 20]> : tensor<2xi32>
  check.expect_eq_const %results#2, dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_eq_const %results#3, dense<[10, 20]> : tensor<2xi32>
  func.return
}

// -----

// An asynchronous update of a slice; a future that is awaited twice.
func.func @main() {
  %operand = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %update = stablehlo.constant dense<[8, 9]> : tensor<2xi32>
  %start = stablehlo.constant dense<1> : tensor<i64>
  %future = "stablehlo.async_start"(%operand, %update, %start) ({
  ^bb0(%x: tensor<3xi32>, %y: tensor<2xi32>, %i: tensor<i64>):
    %0 = stablehlo.dynamic_update_slice %x, %y, %i : (tensor<3xi32>, tensor<2xi32>, tensor<i64>) -> tensor<3xi32>
    stablehlo.return %0 : tensor<3xi32>
  }) : (tensor<3xi32>, tensor<2xi32>, tensor<i64>) -> !stablehlo.future<tensor<3xi32>>
  %0 = "stablehlo.async_done"(%future) : (!stablehlo.future<tensor<3xi32>>) -> tensor<3xi32>
  %1 = "stablehlo.async_done"(%future) : (!stablehlo.future<tensor<3xi32>>) -> tensor<3xi32>
  check.expect_eq_const %0, dense<[1, 8, 9]> : tensor<3xi32>
  check.expect_eq_const %1, dense<[1, 8, 9]> : tensor<3xi32>
  func.return
}
