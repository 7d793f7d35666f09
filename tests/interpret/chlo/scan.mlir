// RUN: stablehlo-interp --split-input-file %s

// Sums of rows, from the left and from the right; the carry is the last sum.
func.func @sums() {
  %input = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %init = stablehlo.constant dense<[0, 10]> : tensor<2xi32>
  %sums:2 = chlo.scan(%input) inits(%init) dimension=1 {
  ^bb0(%element: tensor<2xi32>, %sum: tensor<2xi32>):
    %next = stablehlo.add %element, %sum : tensor<2xi32>
    stablehlo.return %next, %next : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  check.expect_eq_const %sums#0, dense<[[1, 3, 6], [14, 19, 25]]> : tensor<2x3xi32>
  check.expect_eq_const %sums#1, dense<[6, 25]> : tensor<2xi32>
  %reverse:2 = chlo.scan(%input) inits(%init) dimension=1 attributes {is_reverse = true} {
  ^bb0(%element: tensor<2xi32>, %sum: tensor<2xi32>):
    %next = stablehlo.add %element, %sum : tensor<2xi32>
    stablehlo.return %next, %next : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  check.expect_eq_const %reverse#0, dense<[[6, 5, 3], [25, 21, 16]]> : tensor<2x3xi32>
  check.expect_eq_const %reverse#1, dense<[6, 25]> : tensor<2xi32>
  func.return
}

// -----

// Two carries, one input and one output: Fibonacci numbers, and an input that is only added up.
func.func @two_carries() {
  %input = stablehlo.constant dense<[1, 1, 1, 1, 1]> : tensor<5xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = chlo.scan(%input) inits(%zero, %one) dimension=0 {
  ^bb0(%x: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %a, %b, %c : tensor<i32>, tensor<i32>, tensor<i32>
  } : (tensor<5xi32>, tensor<i32>, tensor<i32>) -> (tensor<5xi32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %0#0, dense<[0, 1, 1, 2, 3]> : tensor<5xi32>
  check.expect_eq_const %0#1, dense<5> : tensor<i32>
  check.expect_eq_const %0#2, dense<8> : tensor<i32>
  func.return
}

// -----

// Without inputs: one call per element of the outputs.
func.func @no_inputs() {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = chlo.scan() inits(%one) dimension=0 attributes {scan_dim_size = 4 : i64} {
  ^bb0(%x: tensor<i32>):
    %y = stablehlo.add %x, %x : tensor<i32>
    stablehlo.return %x, %y : tensor<i32>, tensor<i32>
  } : (tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
  check.expect_eq_const %0#0, dense<[1, 2, 4, 8]> : tensor<4xi32>
  check.expect_eq_const %0#1, dense<16> : tensor<i32>
  func.return
}

// -----

// No elements to scan: the carry is the init.
func.func @empty() {
  %input = stablehlo.constant dense<> : tensor<0xf32>
  %init = stablehlo.constant dense<2.0> : tensor<f32>
  %0:2 = chlo.scan(%input) inits(%init) dimension=0 {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.multiply %x, %y : tensor<f32>
    stablehlo.return %z, %z : tensor<f32>, tensor<f32>
  } : (tensor<0xf32>, tensor<f32>) -> (tensor<0xf32>, tensor<f32>)
  check.expect_eq_const %0#0, dense<> : tensor<0xf32>
  check.expect_eq_const %0#1, dense<2.0> : tensor<f32>
  func.return
}

// -----

// Without inits there are no carries. A scan with a single result, forward and in reverse, along either dimension.
func.func @without_inits() {
  %input = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %rows = chlo.scan(%input) inits() dimension=0 {
  ^bb0(%row: tensor<2xf32>):
    %double = stablehlo.add %row, %row : tensor<2xf32>
    stablehlo.return %double : tensor<2xf32>
  } : (tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %rows, dense<[[2.0, 4.0], [6.0, 8.0]]> : tensor<2x2xf32>
  %columns = chlo.scan(%input) inits() dimension=1 attributes {is_reverse = true} {
  ^bb0(%column: tensor<2xf32>):
    %reversed = stablehlo.reverse %column, dims = [0] : tensor<2xf32>
    stablehlo.return %reversed : tensor<2xf32>
  } : (tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %columns, dense<[[3.0, 4.0], [1.0, 2.0]]> : tensor<2x2xf32>
  func.return
}

// -----

// A single carry and no outputs: the sum of the elements.
func.func @only_a_carry() {
  %input = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %init = stablehlo.constant dense<100> : tensor<i32>
  %sum = chlo.scan(%input) inits(%init) dimension=0 {
  ^bb0(%x: tensor<i32>, %carry: tensor<i32>):
    %next = stablehlo.add %x, %carry : tensor<i32>
    stablehlo.return %next : tensor<i32>
  } : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %sum, dense<110> : tensor<i32>
  func.return
}

// -----

// A scan over rows whose body is a scan over the elements of a row.
func.func @nested() {
  %input = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %0 = chlo.scan(%input) inits() dimension=0 {
  ^bb0(%row: tensor<3xi32>):
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = chlo.scan(%row) inits(%zero) dimension=0 {
    ^bb0(%x: tensor<i32>, %sum: tensor<i32>):
      %next = stablehlo.add %x, %sum : tensor<i32>
      stablehlo.return %next, %next : tensor<i32>, tensor<i32>
    } : (tensor<3xi32>, tensor<i32>) -> (tensor<3xi32>, tensor<i32>)
    %2 = chlo.scan(%1#0) inits() dimension=0 {
    ^bb0(%x: tensor<i32>):
      %negative = stablehlo.negate %x : tensor<i32>
      stablehlo.return %negative : tensor<i32>
    } : (tensor<3xi32>) -> tensor<3xi32>
    stablehlo.return %2 : tensor<3xi32>
  } : (tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[-1, -3, -6], [-4, -9, -15]]> : tensor<2x3xi32>
  func.return
}
