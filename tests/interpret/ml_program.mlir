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

// -----

// Scalars and constants without `private`; a variable without an initial value is stored before it is loaded.
ml_program.global public mutable @number(5 : i64) : i64
ml_program.global @flag(true) : i1
ml_program.global private mutable @unset : tensor<2xf32>
func.func @main() {
  %0 = ml_program.global_load @number : i64
  %1 = arith.muli %0, %0 : i64
  ml_program.global_store @number = %1 : i64
  %2 = ml_program.global_load @number : i64
  %3 = tensor.from_elements %0, %2 : tensor<2xi64>
  check.expect_eq_const %3, dense<[5, 25]> : tensor<2xi64>
  %4 = ml_program.global_load_const @flag : i1
  %5 = tensor.from_elements %4 : tensor<1xi1>
  check.expect_eq_const %5, dense<true> : tensor<1xi1>
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  ml_program.global_store @unset = %x : tensor<2xf32>
  %6 = ml_program.global_load @unset : tensor<2xf32>
  check.expect_eq %6, %x : tensor<2xf32>
  func.return
}

// -----

// A value that is stored in a loop can be loaded after the loop.
ml_program.global private mutable @sum(dense<0> : tensor<i32>) : tensor<i32>
func.func @main() {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %0 = stablehlo.while(%i = %zero) : tensor<i32>
    cond {
      %p = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %s = ml_program.global_load @sum : tensor<i32>
      %1 = stablehlo.add %s, %i : tensor<i32>
      ml_program.global_store @sum = %1 : tensor<i32>
      %2 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }
  %3 = ml_program.global_load @sum : tensor<i32>
  check.expect_eq_const %3, dense<6> : tensor<i32>
  func.return
}
