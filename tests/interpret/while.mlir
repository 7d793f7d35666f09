// RUN: stablehlo-interp --split-input-file %s

// 1 + 2 + ... + 9: all values of the state are updated at once.
func.func @sum() {
  %i0 = stablehlo.constant dense<1> : tensor<i64>
  %s0 = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %ten = stablehlo.constant dense<10> : tensor<i64>
  %0:2 = stablehlo.while(%i = %i0, %s = %s0) : tensor<i64>, tensor<i64>
    cond {
      %p = stablehlo.compare LT, %i, %ten, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %s1 = stablehlo.add %s, %i : tensor<i64>
      %i1 = stablehlo.add %i, %one : tensor<i64>
      stablehlo.return %i1, %s1 : tensor<i64>, tensor<i64>
    }
  check.expect_eq_const %0#0, dense<10> : tensor<i64>
  check.expect_eq_const %0#1, dense<45> : tensor<i64>
  return
}

// -----

// The body never runs; the result is the operand.
func.func @not_once() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = stablehlo.while(%a = %x) : tensor<2xf32>
    cond {
      %p = stablehlo.constant dense<false> : tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %1 = stablehlo.add %a, %a : tensor<2xf32>
      stablehlo.return %1 : tensor<2xf32>
    }
  check.expect_eq_const %0, dense<[1.0, 2.0]> : tensor<2xf32>
  return
}

// -----

// Each iteration swaps the state: after three iterations a and b are exchanged.
func.func @exchange() {
  %a0 = stablehlo.constant dense<1> : tensor<i32>
  %b0 = stablehlo.constant dense<2> : tensor<i32>
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:3 = stablehlo.while(%i = %i0, %a = %a0, %b = %b0) : tensor<i32>, tensor<i32>, tensor<i32>
    cond {
      %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %i1 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %i1, %b, %a : tensor<i32>, tensor<i32>, tensor<i32>
    }
  check.expect_eq_const %0#1, dense<2> : tensor<i32>
  check.expect_eq_const %0#2, dense<1> : tensor<i32>
  return
}

// -----

// An inner loop updates a tensor of the outer loop; the initial value is used again afterwards.
func.func @nested() {
  %x = stablehlo.constant dense<0> : tensor<4xi32>
  %start = stablehlo.add %x, %x : tensor<4xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %t = %start) : tensor<i32>, tensor<4xi32>
    cond {
      %p = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %1:2 = stablehlo.while(%j = %zero, %u = %t) : tensor<i32>, tensor<4xi32>
        cond {
          %p = stablehlo.compare LT, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        } do {
          %old = stablehlo.dynamic_slice %u, %i, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
          %js = stablehlo.reshape %j : (tensor<i32>) -> tensor<1xi32>
          %new = stablehlo.add %old, %js : tensor<1xi32>
          %v = stablehlo.dynamic_update_slice %u, %new, %i : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
          %j1 = stablehlo.add %j, %one : tensor<i32>
          stablehlo.return %j1, %v : tensor<i32>, tensor<4xi32>
        }
      %i1 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %i1, %1#1 : tensor<i32>, tensor<4xi32>
    }
  // element i is 0 + 1 + ... + (i - 1)
  check.expect_eq_const %0#1, dense<[0, 0, 1, 3]> : tensor<4xi32>
  check.expect_eq_const %start, dense<0> : tensor<4xi32>
  return
}

// -----

// The body returns a constant, or a value from above that is used again afterwards.
func.func @returned_from_elsewhere() {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %x = stablehlo.iota dim = 0 : tensor<2xi32>
  %above = stablehlo.add %x, %x : tensor<2xi32>
  %0:4 = stablehlo.while(%i = %i0, %a = %x, %b = %x, %c = %one) : tensor<i32>, tensor<2xi32>, tensor<2xi32>, tensor<i32>
    cond {
      %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %i1 = stablehlo.add %i, %one : tensor<i32>
      %sum = stablehlo.add %b, %above : tensor<2xi32>
      %seven = stablehlo.constant dense<7> : tensor<i32>
      stablehlo.return %i1, %above, %sum, %seven : tensor<i32>, tensor<2xi32>, tensor<2xi32>, tensor<i32>
    }
  check.expect_eq_const %above, dense<[0, 2]> : tensor<2xi32>
  check.expect_eq_const %0#1, dense<[0, 2]> : tensor<2xi32>
  check.expect_eq_const %0#2, dense<[0, 7]> : tensor<2xi32>
  check.expect_eq_const %0#3, dense<7> : tensor<i32>
  return
}
