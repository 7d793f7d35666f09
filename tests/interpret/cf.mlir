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

// -----

// A loop: the factorial of 5, with the results of the last block as those of the function.
func.func @main() {
  %five = stablehlo.constant dense<5> : tensor<i32>
  %0:2 = func.call @factorial(%five) : (tensor<i32>) -> (tensor<i32>, tensor<i32>)
  check.expect_eq_const %0#0, dense<120> : tensor<i32>
  check.expect_eq_const %0#1, dense<5> : tensor<i32>
  return
}
func.func private @factorial(%n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  cf.br ^head(%zero, %one : tensor<i32>, tensor<i32>)
^head(%i: tensor<i32>, %f: tensor<i32>):
  %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %c = tensor.extract %p[] : tensor<i1>
  cf.cond_br %c, ^body, ^exit(%f : tensor<i32>)
^exit(%result: tensor<i32>):
  return %result, %i : tensor<i32>, tensor<i32>
^body:
  %j = stablehlo.add %i, %one : tensor<i32>
  %g = stablehlo.multiply %f, %j : tensor<i32>
  cf.br ^head(%j, %g : tensor<i32>, tensor<i32>)
}

// -----

// Two variables that swap: all operands of a branch are read before any argument is written.
func.func @main() {
  %n = arith.constant 3 : index
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %b = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %0:2 = call @swap(%n, %a, %b) : (index, tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq %0#0, %b : tensor<2xi32>
  check.expect_eq %0#1, %a : tensor<2xi32>
  return
}
func.func private @swap(%n: index, %a: tensor<2xi32>, %b: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  cf.br ^head(%zero, %a, %b : index, tensor<2xi32>, tensor<2xi32>)
^head(%i: index, %x: tensor<2xi32>, %y: tensor<2xi32>):
  %p = arith.cmpi slt, %i, %n : index
  %j = arith.addi %i, %one : index
  cf.cond_br %p, ^head(%j, %y, %x : index, tensor<2xi32>, tensor<2xi32>), ^exit
^exit:
  return %x, %y : tensor<2xi32>, tensor<2xi32>
}

// -----

// A switch, in generic and in pretty form; several functions return from several blocks.
func.func @main() {
  %0 = arith.constant 7 : i32
  %1 = arith.constant -2 : i32
  %2 = arith.constant 8 : i32
  %a = call @select(%0) : (i32) -> i32
  %b = call @select(%1) : (i32) -> i32
  %c = call @select(%2) : (i32) -> i32
  %d = call @generic(%1) : (i32) -> i32
  %e = call @default_only(%1) : (i32) -> i32
  %all = tensor.from_elements %a, %b, %c, %d, %e : tensor<5xi32>
  check.expect_eq_const %all, dense<[70, 7, 8, 10, -2]> : tensor<5xi32>
  return
}
func.func private @select(%x: i32) -> i32 {
  %ten = arith.constant 10 : i32
  %seven = arith.constant 7 : i32
  cf.switch %x : i32, [
    default: ^return(%x : i32),
    7: ^multiply(%ten : i32),
    -2: ^return(%seven : i32)
  ]
^multiply(%factor: i32):
  %y = arith.muli %x, %factor : i32
  return %y : i32
^return(%z: i32):
  return %z : i32
}
func.func private @generic(%x: i32) -> i32 {
  %ten = arith.constant 10 : i32
  "cf.switch"(%x, %x, %ten)[^bb1, ^bb1] <{case_operand_segments = array<i32: 1>, case_values = dense<-2> : vector<1xi32>, operandSegmentSizes = array<i32: 1, 1, 1>}> : (i32, i32, i32) -> ()
^bb1(%z: i32):
  "func.return"(%z) : (i32) -> ()
}
func.func private @default_only(%x: i32) -> i32 {
  cf.switch %x : i32, [default: ^return(%x : i32)]
^return(%z: i32):
  return %z : i32
}

// -----

// Values of blocks that dominate, used in later blocks and in their regions; blocks stand in any order in the text.
func.func @main() {
  %x = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %true = arith.constant true
  %false = arith.constant false
  %0 = call @f(%true, %x) : (i1, tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[4.0, -8.0]> : tensor<2xf32>
  %1 = call @f(%false, %x) : (i1, tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %1, dense<[2.0, -4.0]> : tensor<2xf32>
  return
}
func.func private @f(%p: i1, %x: tensor<2xf32>) -> tensor<2xf32> {
  cf.br ^define
^use:
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.if"(%true) ({
    %1 = stablehlo.add %double, %double : tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }, {
    stablehlo.return %double : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  cf.br ^exit(%0 : tensor<2xf32>)
^define:
  %double = stablehlo.add %x, %x : tensor<2xf32>
  cf.cond_br %p, ^use, ^exit(%double : tensor<2xf32>)
^exit(%result: tensor<2xf32>):
  return %result : tensor<2xf32>
^never:
  cf.br ^never
}

// -----

// Recursion in a function of several blocks.
func.func @main() {
  %n = arith.constant 10 : i64
  %0 = call @fibonacci(%n) : (i64) -> i64
  %1 = tensor.from_elements %0 : tensor<i64>
  check.expect_eq_const %1, dense<55> : tensor<i64>
  return
}
func.func private @fibonacci(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %p = arith.cmpi sle, %n, %one : i64
  cf.cond_br %p, ^exit(%n : i64), ^recurse
^recurse:
  %n1 = arith.subi %n, %one : i64
  %n2 = arith.subi %n1, %one : i64
  %f1 = call @fibonacci(%n1) : (i64) -> i64
  %f2 = call @fibonacci(%n2) : (i64) -> i64
  %f = arith.addi %f1, %f2 : i64
  cf.br ^exit(%f : i64)
^exit(%result: i64):
  return %result : i64
}
