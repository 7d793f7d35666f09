// RUN: stablehlo-interp --split-input-file %s

// In each process of a 2 x 2 grid.
func.func @partition_id() -> tensor<ui32> {
  %result = stablehlo.partition_id : tensor<ui32>
  func.return %result : tensor<ui32>
}

func.func @main() {
  %results:4 = "interpreter.run_parallel"() {programs = [[@partition_id, @partition_id], [@partition_id, @partition_id]]}
      : () -> (tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>)
  check.expect_eq_const %results#0, dense<0> : tensor<ui32>
  check.expect_eq_const %results#1, dense<1> : tensor<ui32>
  check.expect_eq_const %results#2, dense<0> : tensor<ui32>
  check.expect_eq_const %results#3, dense<1> : tensor<ui32>
  func.return
}

// -----

// Outside of a process grid.
func.func @main() {
  %result = "stablehlo.partition_id"() : () -> tensor<ui32>
  check.expect_eq_const %result, dense<0> : tensor<ui32>
  func.return
}
