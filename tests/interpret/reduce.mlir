// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %input = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5]]> : tensor<1x6xi64>
  %init_value = stablehlo.constant dense<0> : tensor<i64>
  %result = "stablehlo.reduce"(%input, %init_value) ({
    ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
      %0 = "stablehlo.add"(%arg0, %arg1) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%0) : (tensor<i64>) -> ()
  }) {
    dimensions = array<i64: 1>
  } : (tensor<1x6xi64>, tensor<i64>) -> tensor<1xi64>
  check.expect_eq_const %result, dense<15> : tensor<1xi64>
  func.return
}

// -----

// Several dimensions, in any order; the init value is added once.
func.func @main() {
  %input = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi32>
  %init_value = stablehlo.constant dense<100> : tensor<i32>
  %outer = stablehlo.reduce(%input init: %init_value) applies stablehlo.add across dimensions = [2, 0]
    : (tensor<2x2x2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %outer, dense<[114, 122]> : tensor<2xi32>
  %all = stablehlo.reduce(%input init: %init_value) applies stablehlo.maximum across dimensions = [0, 1, 2]
    : (tensor<2x2x2xi32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %all, dense<100> : tensor<i32>
  func.return
}

// -----

// An empty slice gives the init value; no slices, no results; without dimensions slices have one element.
func.func @main() {
  %nothing = stablehlo.constant dense<> : tensor<2x0xf32>
  %init_value = stablehlo.constant dense<2.5> : tensor<f32>
  %rows = stablehlo.reduce(%nothing init: %init_value) applies stablehlo.add across dimensions = [1]
    : (tensor<2x0xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %rows, dense<2.5> : tensor<2xf32>
  %columns = stablehlo.reduce(%nothing init: %init_value) applies stablehlo.add across dimensions = [0]
    : (tensor<2x0xf32>, tensor<f32>) -> tensor<0xf32>
  check.expect_eq_const %columns, dense<> : tensor<0xf32>
  %input = stablehlo.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %same = stablehlo.reduce(%input init: %init_value) applies stablehlo.maximum across dimensions = []
    : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %same, dense<[2.5, 3.0]> : tensor<2xf32>
  func.return
}

// -----

// NaN is greater and less than all numbers; +0 is greater than -0.
func.func @main() {
  %input = stablehlo.constant dense<[[0.0, 0x7FC00000, 1.0], [-0.0, 0.0, -1.0], [-0.0, 5.0, 0.0]]> : tensor<3x3xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %high = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %greatest = stablehlo.reduce(%input init: %low) applies stablehlo.maximum across dimensions = [1]
    : (tensor<3x3xf32>, tensor<f32>) -> tensor<3xf32>
  %least = stablehlo.reduce(%input init: %high) applies stablehlo.minimum across dimensions = [1]
    : (tensor<3x3xf32>, tensor<f32>) -> tensor<3xf32>
  check.expect_eq_const %greatest, dense<[0x7FC00000, 0.0, 5.0]> : tensor<3xf32>
  check.expect_eq_const %least, dense<[0x7FC00000, -1.0, -0.0]> : tensor<3xf32>
  %bits = stablehlo.bitcast_convert %greatest : (tensor<3xf32>) -> tensor<3xi32>
  %zero = stablehlo.slice %bits [1:2] : (tensor<3xi32>) -> tensor<1xi32>
  check.expect_eq_const %zero, dense<0> : tensor<1xi32>
  %least_bits = stablehlo.bitcast_convert %least : (tensor<3xf32>) -> tensor<3xi32>
  %least_zero = stablehlo.slice %least_bits [2:3] : (tensor<3xi32>) -> tensor<1xi32>
  check.expect_eq_const %least_zero, dense<-2147483648> : tensor<1xi32>
  func.return
}

// -----

// Booleans; integers wrap.
func.func @main() {
  %flags = stablehlo.constant dense<[[true, false], [false, false]]> : tensor<2x2xi1>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %any = stablehlo.reduce(%flags init: %false) applies stablehlo.or across dimensions = [1]
    : (tensor<2x2xi1>, tensor<i1>) -> tensor<2xi1>
  check.expect_eq_const %any, dense<[true, false]> : tensor<2xi1>
  %input = stablehlo.constant dense<[100, 100, 100]> : tensor<3xi8>
  %zero = stablehlo.constant dense<0> : tensor<i8>
  %sum = stablehlo.reduce(%input init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<3xi8>, tensor<i8>) -> tensor<i8>
  check.expect_eq_const %sum, dense<44> : tensor<i8>
  func.return
}

// -----

// Operands are promoted to the types of the body before they are added.
func.func @main() {
  %input = stablehlo.constant dense<[100, 100, 100]> : tensor<3xi8>
  %zero = stablehlo.constant dense<0> : tensor<i8>
  %sum = "stablehlo.reduce"(%input, %zero) ({
    ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>):
      %0 = stablehlo.add %arg0, %arg1 : tensor<i32>
      stablehlo.return %0 : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<3xi8>, tensor<i8>) -> tensor<i32>
  check.expect_eq_const %sum, dense<300> : tensor<i32>
  func.return
}

// -----

// The greatest element and its index, as JAX writes argmax: the first NaN, or the first of equal elements.
func.func @main() {
  %input = stablehlo.constant dense<[[1.0, 3.0, 3.0, 2.0], [0x7FC00000, 9.0, 0x7FC00000, 9.0], [0.0, -0.0, -1.0, 0.0]]> : tensor<3x4xf32>
  %index = stablehlo.iota dim = 1 : tensor<3x4xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %result:2 = stablehlo.reduce(%input init: %low), (%index init: %zero) across dimensions = [1]
    : (tensor<3x4xf32>, tensor<3x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
    reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
    %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = stablehlo.or %2, %3 : tensor<i1>
    %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.and %5, %6 : tensor<i1>
    %8 = stablehlo.or %4, %7 : tensor<i1>
    %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
    %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
    stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
  }
  check.expect_eq_const %result#0, dense<[3.0, 0x7FC00000, 0.0]> : tensor<3xf32>
  check.expect_eq_const %result#1, dense<[1, 0, 0]> : tensor<3xi32>
  func.return
}

// -----

// A body of several ops: (1 + a)(1 + b) - 1. It uses a value from above.
func.func @main() {
  %input = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %more = stablehlo.add %one, %zero : tensor<f32>
  %result = stablehlo.reduce(%input init: %zero) across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    reducer(%a: tensor<f32>, %b: tensor<f32>)  {
    %0 = stablehlo.add %a, %more : tensor<f32>
    %1 = stablehlo.add %b, %more : tensor<f32>
    %2 = stablehlo.multiply %0, %1 : tensor<f32>
    %3 = stablehlo.subtract %2, %more : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }
  check.expect_eq_const %result, dense<[23.0, 209.0]> : tensor<2xf32>
  func.return
}

// -----

// Complex numbers and narrow floats.
func.func @main() {
  %input = stablehlo.constant dense<[(1.0, 2.0), (3.0, -1.0), (0.5, 0.0)]> : tensor<3xcomplex<f32>>
  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %sum = stablehlo.reduce(%input init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  check.expect_eq_const %sum, dense<(4.5, 1.0)> : tensor<complex<f32>>
  %halves = stablehlo.constant dense<[0.5, 1.5, 2.5, 3.5, 4.0]> : tensor<5xbf16>
  %none = stablehlo.constant dense<0.0> : tensor<bf16>
  %total = stablehlo.reduce(%halves init: %none) applies stablehlo.add across dimensions = [0]
    : (tensor<5xbf16>, tensor<bf16>) -> tensor<bf16>
  check.expect_eq_const %total, dense<12.0> : tensor<bf16>
  func.return
}

// -----

// Quantized: 1.0, 2.5 and -0.5 with scale 0.5.
func.func @main() {
  %stored = stablehlo.constant dense<[2, 5, -1]> : tensor<3xi8>
  %input = stablehlo.bitcast_convert %stored : (tensor<3xi8>) -> tensor<3x!quant.uniform<i8:f32, 0.5>>
  %none = stablehlo.constant dense<0> : tensor<i8>
  %zero = stablehlo.bitcast_convert %none : (tensor<i8>) -> tensor<!quant.uniform<i8:f32, 0.5>>
  %sum = stablehlo.reduce(%input init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<3x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
  %result = stablehlo.uniform_dequantize %sum : (tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<f32>
  check.expect_eq_const %result, dense<3.0> : tensor<f32>
  func.return
}

// -----

// A body that is not associative is folded from the left, beginning with the init value.
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %init = stablehlo.constant dense<100> : tensor<i32>
  %rows = stablehlo.reduce(%x init: %init) across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
    reducer(%a: tensor<i32>, %b: tensor<i32>) {
      %0 = stablehlo.subtract %a, %b : tensor<i32>
      stablehlo.return %0 : tensor<i32>
    }
  check.expect_eq_const %rows, dense<[94, 85]> : tensor<2xi32>
  %all = stablehlo.reduce(%x init: %init) across dimensions = [1, 0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>
    reducer(%a: tensor<i32>, %b: tensor<i32>) {
      %0 = stablehlo.subtract %a, %b : tensor<i32>
      stablehlo.return %0 : tensor<i32>
    }
  check.expect_eq_const %all, dense<79> : tensor<i32>
  func.return
}

// -----

// So is a body of several ops: 2 a + b.
func.func @main() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %init = stablehlo.constant dense<10.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %init) across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %0 = stablehlo.add %a, %a : tensor<f32>
      %1 = stablehlo.add %0, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }
  check.expect_eq_const %sum, dense<91.0> : tensor<f32>
  func.return
}
