// RUN: stablehlo-interp --split-input-file %s

// Values of the functions at 1/8 to 17 digits, from mpmath.
func.func @functions() {
  %x = stablehlo.constant dense<[0.0, 0.125]> : tensor<2xf64>
  %0 = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2xf64>) -> tensor<2xf64>
  check.expect_almost_eq_const %0, dense<[0.0, 0.14031620480133382]> : tensor<2xf64>
  %1 = stablehlo.custom_call @mhlo.asin(%x) : (tensor<2xf64>) -> tensor<2xf64>
  check.expect_almost_eq_const %1, dense<[0.0, 0.1253278311680654]> : tensor<2xf64>
  %2 = stablehlo.custom_call @mhlo.acos(%x) : (tensor<2xf64>) -> tensor<2xf64>
  check.expect_almost_eq_const %2, dense<[1.5707963267948966, 1.4454684956268312]> : tensor<2xf64>
  %3 = stablehlo.custom_call @mhlo.sinh(%x) : (tensor<2xf64>) -> tensor<2xf64>
  check.expect_almost_eq_const %3, dense<[0.0, 0.12532577524111546]> : tensor<2xf64>
  %4 = stablehlo.custom_call @mhlo.cosh(%x) : (tensor<2xf64>) -> tensor<2xf64>
  check.expect_almost_eq_const %4, dense<[1.0, 1.0078226778257109]> : tensor<2xf64>
  %5 = stablehlo.custom_call @mhlo.asinh(%x) : (tensor<2xf64>) -> tensor<2xf64>
  check.expect_almost_eq_const %5, dense<[0.0, 0.12467674692144274]> : tensor<2xf64>
  %6 = stablehlo.custom_call @mhlo.acosh(%4) : (tensor<2xf64>) -> tensor<2xf64>
  check.expect_almost_eq_const %6, dense<[0.0, 0.125]> : tensor<2xf64>
  %7 = stablehlo.custom_call @mhlo.atanh(%x) : (tensor<2xf64>) -> tensor<2xf64>
  check.expect_almost_eq_const %7, dense<[0.0, 0.12565721414045304]> : tensor<2xf64>
  %8 = stablehlo.custom_call @mhlo.tan(%x) : (tensor<2xf64>) -> tensor<2xf64>
  check.expect_almost_eq_const %8, dense<[0.0, 0.12565513657513097]> : tensor<2xf64>
  %9 = stablehlo.custom_call @mhlo.atan(%x) : (tensor<2xf64>) -> tensor<2xf64>
  check.expect_almost_eq_const %9, dense<[0.0, 0.12435499454676144]> : tensor<2xf64>
  %10 = stablehlo.custom_call @mhlo.erf_inv(%0) : (tensor<2xf64>) -> tensor<2xf64>
  check.expect_almost_eq_const %10, dense<[0.0, 0.125]> : tensor<2xf64>
  func.return
}

// -----

// Running sums along dimension 1, from the end, and the totals.
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %init = stablehlo.constant dense<[0, 100]> : tensor<2xi32>
  %0:2 = stablehlo.custom_call @mhlo.scan(%x, %init) {
    called_computations = [@body],
    mhlo.attributes = {dimension = 1 : i64, is_reverse = true, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}
  } : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[[6, 5, 3], [115, 111, 106]]> : tensor<2x3xi32>
  check.expect_eq_const %0#1, dense<[6, 115]> : tensor<2xi32>
  func.return
}
func.func private @body(%x: tensor<2xi32>, %sum: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %0 = stablehlo.add %x, %sum : tensor<2xi32>
  func.return %0, %0 : tensor<2xi32>, tensor<2xi32>
}

// -----

// Integers of 64 bits as two of 32: 2^32 * 1 + 5, and -1.
func.func @halves() {
  %low = stablehlo.constant dense<[5, 4294967295]> : tensor<2xui32>
  %high = stablehlo.constant dense<[1, 4294967295]> : tensor<2xui32>
  %0 = stablehlo.custom_call @X64Combine(%low, %high) {backend_config = ""} : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui64>
  check.expect_eq_const %0, dense<[4294967301, 18446744073709551615]> : tensor<2xui64>
  %1 = stablehlo.custom_call @X64Combine(%low, %high) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi64>
  check.expect_eq_const %1, dense<[4294967301, -1]> : tensor<2xi64>
  %2 = stablehlo.custom_call @X64SplitLow(%1) : (tensor<2xi64>) -> tensor<2xui32>
  check.expect_eq %2, %low : tensor<2xui32>
  %3 = stablehlo.custom_call @X64SplitHigh(%0) : (tensor<2xui64>) -> tensor<2xui32>
  check.expect_eq %3, %high : tensor<2xui32>
  func.return
}

// -----

// The two largest elements of each row and where they are; the configuration as a dictionary, and in JSON.
func.func @main() {
  %x = stablehlo.constant dense<[[1.0, 4.0, 3.0, 2.0], [5.0, 5.0, -1.0, 7.0]]> : tensor<2x4xf32>
  %i = stablehlo.iota dim = 1 : tensor<2x4xi32>
  %init = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @PartialReduce(%x, %i, %init, %none) {
    called_computations = [@greater],
    mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.9 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}
  } : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  check.expect_eq_const %0#0, dense<[[4.0, 3.0], [7.0, 5.0]]> : tensor<2x2xf32>
  check.expect_eq_const %0#1, dense<[[1, 2], [3, 0]]> : tensor<2x2xi32>
  %1:2 = stablehlo.custom_call @PartialReduce(%x, %i, %init, %none) {
    backend_config = "{\22log2_reduction\22: 1, \22reduction_dim\22: 1, \22to_apply_type\22: \22comparator\22, \22top_k\22: 2}",
    called_computations = [@greater]
  } : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  check.expect_eq %1#1, %0#1 : tensor<2x2xi32>
  func.return
}
func.func private @greater(%x: tensor<f32>, %y: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
  func.return %0 : tensor<i1>
}
