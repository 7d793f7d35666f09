// RUN: stablehlo-interp --split-input-file %s

// if: with results, without, and without a second region.
func.func @main() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %true = arith.constant true
  %false = arith.constant false
  %0 = func.call @if(%true, %x) : (i1, tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq %0, %x : tensor<2xf32>
  %1 = func.call @if(%false, %x) : (i1, tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %1, dense<[-1.0, -2.0]> : tensor<2xf32>
  scf.if %false {
    cf.assert %false, "not reached"
  }
  scf.if %true {
  } else {
    cf.assert %false, "not reached"
  }
  "scf.if"(%false) ({
    "cf.assert"(%false) {msg = "not reached"} : (i1) -> ()
    "scf.yield"() : () -> ()
  }, {
  }) : (i1) -> ()
  return
}
func.func private @if(%p: i1, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = scf.if %p -> (tensor<2xf32>) {
    scf.yield %x : tensor<2xf32>
  } else {
    %1 = stablehlo.negate %x : tensor<2xf32>
    scf.yield %1 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// -----

// for: sums of indices, on index and on i8, signed and unsigned; the inits are the results of an empty loop.
func.func @main() {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0:2 = scf.for %i = %c0 to %c7 step %c2 iter_args(%sum = %c0, %y = %x) -> (index, tensor<2xi32>) {
    %1 = arith.addi %sum, %i : index
    %2 = stablehlo.add %y, %y : tensor<2xi32>
    scf.yield %1, %2 : index, tensor<2xi32>
  }
  %3 = tensor.from_elements %0#0 : tensor<index>
  %4 = arith.index_cast %3 : tensor<index> to tensor<i64>
  check.expect_eq_const %4, dense<12> : tensor<i64>
  check.expect_eq_const %0#1, dense<[16, 32]> : tensor<2xi32>
  %5 = scf.for %i = %c7 to %c2 step %c2 iter_args(%y = %x) -> (tensor<2xi32>) {
    %6 = stablehlo.add %y, %y : tensor<2xi32>
    scf.yield %6 : tensor<2xi32>
  }
  check.expect_eq %5, %x : tensor<2xi32>
  %m2 = arith.constant -2 : i8
  %one = arith.constant 1 : i8
  %zero = arith.constant 0 : i8
  %7 = scf.for %i = %m2 to %one step %one iter_args(%n = %zero) -> (i8) : i8 {
    %8 = arith.addi %n, %i : i8
    scf.yield %8 : i8
  }
  %9 = scf.for unsigned %i = %one to %m2 step %one iter_args(%n = %zero) -> (i8) : i8 {
    %10 = arith.addi %n, %one : i8
    scf.yield %10 : i8
  }
  %11 = tensor.from_elements %7, %9 : tensor<2xi8>
  check.expect_eq_const %11, dense<[-3, -3]> : tensor<2xi8>
  scf.for %i = %c0 to %c7 step %c2 {
    %12 = arith.cmpi slt, %i, %c7 : index
    cf.assert %12, "i < 7"
  }
  return
}

// -----

// while: what `before` forwards has other types than what `after` returns.
func.func @main() {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %x = stablehlo.constant dense<1.0> : tensor<2xf32>
  %0:2 = scf.while (%i = %c0, %y = %x) : (i32, tensor<2xf32>) -> (tensor<2xf32>, i32) {
    %1 = arith.cmpi slt, %i, %c5 : i32
    %2 = stablehlo.add %y, %x : tensor<2xf32>
    scf.condition(%1) %2, %i : tensor<2xf32>, i32
  } do {
  ^bb0(%y: tensor<2xf32>, %i: i32):
    %1 = arith.addi %i, %c1 : i32
    scf.yield %1, %y : i32, tensor<2xf32>
  }
  check.expect_eq_const %0#0, dense<7.0> : tensor<2xf32>
  %3 = tensor.from_elements %0#1 : tensor<i32>
  check.expect_eq_const %3, dense<5> : tensor<i32>
  return
}

// -----

// index_switch, and execute_region with several blocks.
func.func @main() {
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %m1 = arith.constant -1 : index
  %0 = func.call @switch(%c2) : (index) -> i32
  %1 = func.call @switch(%c5) : (index) -> i32
  %2 = func.call @switch(%m1) : (index) -> i32
  %3 = tensor.from_elements %0, %1, %2 : tensor<3xi32>
  check.expect_eq_const %3, dense<[20, 50, 7]> : tensor<3xi32>
  return
}
func.func private @switch(%i: index) -> i32 {
  %seven = arith.constant 7 : i32
  %0 = scf.index_switch %i -> i32
  case 2 {
    %1 = arith.constant 20 : i32
    scf.yield %1 : i32
  }
  case 5 {
    %1 = arith.constant 50 : i32
    scf.yield %1 : i32
  }
  default {
    %c0 = arith.constant 0 : index
    %2 = scf.execute_region -> i32 {
      %p = arith.cmpi slt, %i, %c0 : index
      cf.cond_br %p, ^negative, ^other(%i : index)
    ^negative:
      scf.yield %seven : i32
    ^other(%j: index):
      %3 = arith.index_cast %j : index to i32
      scf.yield %3 : i32
    }
    scf.yield %2 : i32
  }
  scf.execute_region {
    scf.yield
  }
  return %0 : i32
}
