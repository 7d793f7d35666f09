// RUN: stablehlo-interp --split-input-file %s

ml_program.global private mutable @seed(dense<41> : tensor<i64>) : tensor<i64>
ml_program.global private @fixed(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
func.func @main() {
  %0 = call @next() : () -> tensor<i64>
  %1 = call @next() : () -> tensor<i64>
  check.expect_eq_const %0, dense<42> : tensor<i64>
  check.expect_eq_const %1, dense<43> : tensor<i64>
  %2 = ml_program.global_load_const @fixed : tensor<2xf32>
  check.expect_eq_const %2, dense<[1.0, 2.0]> : tensor<2xf32>
  %true = arith.constant true
  cf.assert %true, "it is true"
  func.return
}
func.func private @next() -> tensor<i64> {
  %0 = ml_program.global_load @seed : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %1 = stablehlo.add %0, %one : tensor<i64>
  ml_program.global_store @seed = %1 : tensor<i64>
  return %1 : tensor<i64>
}
