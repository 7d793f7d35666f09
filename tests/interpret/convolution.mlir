// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @spec_example() {
  %lhs = stablehlo.constant dense<[[[[1], [2], [5], [6]], [[3], [4], [7], [8]],
                                    [[10], [11], [14], [15]], [[12], [13], [16], [17]]]]> : tensor<1x4x4x1xi64>
  %rhs = stablehlo.constant dense<1> : tensor<3x3x1x1xi64>
  %result = "stablehlo.convolution"(%lhs, %rhs) {
    window_strides = array<i64: 4, 4>,
    padding = dense<0> : tensor<2x2xi64>,
    lhs_dilation = array<i64: 2, 2>,
    rhs_dilation = array<i64: 1, 1>,
    window_reversal = array<i1: false, false>,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
    batch_group_count = 1 : i64,
    feature_group_count = 1 : i64,
    precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]
  } : (tensor<1x4x4x1xi64>, tensor<3x3x1x1xi64>) -> tensor<1x2x2x1xi64>
  check.expect_eq_const %result, dense<[[[[10], [26]], [[46], [62]]]]> : tensor<1x2x2x1xi64>
  func.return
}

// -----

// Sums and products have the result's element type.
func.func @i8_sums_in_i32() {
  %lhs = stablehlo.constant dense<[[[100], [100], [-100]]]> : tensor<1x3x1xi8>
  %rhs = stablehlo.constant dense<[[[100]], [[100]]]> : tensor<2x1x1xi8>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x3x1xi8>, tensor<2x1x1xi8>) -> tensor<1x2x1xi32>
  check.expect_eq_const %result, dense<[[[20000], [0]]]> : tensor<1x2x1xi32>
  func.return
}

// -----

// Modulo two to the bit width: 20000 = 78 * 256 + 32.
func.func @i8_wraps() {
  %lhs = stablehlo.constant dense<[[[100], [100], [-100]]]> : tensor<1x3x1xi8>
  %rhs = stablehlo.constant dense<[[[100]], [[100]]]> : tensor<2x1x1xi8>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x3x1xi8>, tensor<2x1x1xi8>) -> tensor<1x2x1xi8>
  check.expect_eq_const %result, dense<[[[32], [0]]]> : tensor<1x2x1xi8>
  func.return
}

// -----

func.func @i4_wraps() {
  %lhs = stablehlo.constant dense<[[[7], [7], [-8]]]> : tensor<1x3x1xi4>
  %rhs = stablehlo.constant dense<[[[7]], [[1]]]> : tensor<2x1x1xi4>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x3x1xi4>, tensor<2x1x1xi4>) -> tensor<1x2x1xi4>
  check.expect_eq_const %result, dense<[[[-8], [-7]]]> : tensor<1x2x1xi4>
  func.return
}

// -----

func.func @ui64_wraps() {
  %lhs = stablehlo.constant dense<[[[18446744073709551615], [3]]]> : tensor<1x2x1xui64>
  %rhs = stablehlo.constant dense<[[[18446744073709551615]], [[2]]]> : tensor<2x1x1xui64>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x1xui64>, tensor<2x1x1xui64>) -> tensor<1x1x1xui64>
  check.expect_eq_const %result, dense<[[[7]]]> : tensor<1x1x1xui64>
  func.return
}

// -----

// Or of ands; padding is false.
func.func @booleans() {
  %lhs = stablehlo.constant dense<[[[true], [false], [true]]]> : tensor<1x3x1xi1>
  %rhs = stablehlo.constant dense<[[[true]], [[false]]]> : tensor<2x1x1xi1>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[0, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x3x1xi1>, tensor<2x1x1xi1>) -> tensor<1x3x1xi1>
  check.expect_eq_const %result, dense<[[[true], [false], [true]]]> : tensor<1x3x1xi1>
  func.return
}

// -----

func.func @complex() {
  %lhs = stablehlo.constant dense<[[[(1.0, 1.0)], [(0.0, 2.0)]]]> : tensor<1x2x1xcomplex<f32>>
  %rhs = stablehlo.constant dense<[[[(0.0, 1.0)]], [[(1.0, 1.0)]]]> : tensor<2x1x1xcomplex<f32>>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x1xcomplex<f32>>, tensor<2x1x1xcomplex<f32>>) -> tensor<1x1x1xcomplex<f32>>
  check.expect_eq_const %result, dense<[[[(-3.0, 3.0)]]]> : tensor<1x1x1xcomplex<f32>>
  func.return
}

// -----

// 1 + 2^-8 is 1 in bf16, 1 + 2^-7 is not.
func.func @bf16_sums_are_rounded_once() {
  %lhs = stablehlo.constant dense<[[[1.0], [0.00390625], [0.00390625]]]> : tensor<1x3x1xbf16>
  %rhs = stablehlo.constant dense<1.0> : tensor<3x1x1xbf16>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x3x1xbf16>, tensor<3x1x1xbf16>) -> tensor<1x1x1xbf16>
  check.expect_eq_const %result, dense<[[[1.0078125]]]> : tensor<1x1x1xbf16>
  func.return
}

// -----

// Zeros of padding and of base dilation are multiplied like all others.
func.func @nonfinite_kernels_meet_padding() {
  %lhs = stablehlo.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>
  %rhs = stablehlo.constant dense<[[[1.0]], [[0x7F800000]]]> : tensor<2x1x1xf32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[0, 1]], lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x1xf32>, tensor<2x1x1xf32>) -> tensor<1x3x1xf32>
  check.expect_eq_const %result, dense<[[[0x7FC00000], [0x7F800000], [0x7FC00000]]]> : tensor<1x3x1xf32>
  func.return
}

// -----

func.func @no_windows() {
  %lhs = stablehlo.constant dense<1.0> : tensor<1x2x1xf32>
  %rhs = stablehlo.constant dense<1.0> : tensor<3x1x1xf32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x1xf32>, tensor<3x1x1xf32>) -> tensor<1x0x1xf32>
  check.expect_eq_const %result, dense<1.0> : tensor<1x0x1xf32>
  func.return
}

// -----

func.func @empty_batch() {
  %lhs = stablehlo.constant dense<1.0> : tensor<0x2x1xf32>
  %rhs = stablehlo.constant dense<1.0> : tensor<2x1x1xf32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<0x2x1xf32>, tensor<2x1x1xf32>) -> tensor<0x1x1xf32>
  check.expect_eq_const %result, dense<1.0> : tensor<0x1x1xf32>
  func.return
}

// -----

func.func @no_input_features() {
  %lhs = stablehlo.constant dense<1.0> : tensor<1x2x0xf32>
  %rhs = stablehlo.constant dense<1.0> : tensor<2x0x3xf32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x0xf32>, tensor<2x0x3xf32>) -> tensor<1x1x3xf32>
  check.expect_eq_const %result, dense<0.0> : tensor<1x1x3xf32>
  func.return
}

// -----

// An empty window fits one time more often than there are elements.
func.func @empty_windows() {
  %lhs = stablehlo.constant dense<1> : tensor<1x2x1xi32>
  %rhs = stablehlo.constant dense<1> : tensor<0x1x1xi32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x1xi32>, tensor<0x1x1xi32>) -> tensor<1x3x1xi32>
  check.expect_eq_const %result, dense<0> : tensor<1x3x1xi32>
  func.return
}

// -----

// Padding only.
func.func @empty_space() {
  %lhs = stablehlo.constant dense<1> : tensor<1x0x1xi32>
  %rhs = stablehlo.constant dense<1> : tensor<2x1x1xi32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[2, 2]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x0x1xi32>, tensor<2x1x1xi32>) -> tensor<1x3x1xi32>
  check.expect_eq_const %result, dense<0> : tensor<1x3x1xi32>
  func.return
}

// -----

func.func @strides_and_padding() {
  %lhs = stablehlo.constant dense<[[[[1, -1], [-1, 4], [-1, -2], [3, -4]], [[-1, -2], [-4, 2], [4, 3], [-2, 0]], [[3, -2], [-1, 4], [-3, 4], [2, -1]], [[3, -1], [-1, 1], [4, 2], [2, 1]], [[3, -1], [2, -1], [1, 1], [-1, 4]]]]> : tensor<1x5x4x2xi32>
  %rhs = stablehlo.constant dense<[[[[-2, -3], [2, -3]], [[0, 2], [-2, 0]]], [[[1, 2], [0, 0]], [[0, 0], [-3, 3]]], [[[2, -1], [-1, 1]], [[3, 0], [-2, -3]]]]> : tensor<3x2x2x2xi32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 1], pad = [[1, 1], [0, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x5x4x2xi32>, tensor<3x2x2x2xi32>) -> tensor<1x3x4x2xi32>
  check.expect_eq_const %result, dense<[[[[-27, 7], [1, -11], [10, -15], [-1, 8]], [[-13, 12], [-2, 20], [8, -39], [9, 9]], [[-4, -5], [-1, 15], [-17, 0], [-3, -11]]]]> : tensor<1x3x4x2xi32>
  func.return
}

// -----

func.func @features_before_space() {
  %lhs = stablehlo.constant dense<[[[[-2.0, 3.0, -1.0], [1.0, 0.0, 2.0], [-1.0, -4.0, -2.0]], [[1.0, 1.0, 4.0], [-2.0, -1.0, 4.0], [-3.0, 2.0, 4.0]]], [[[4.0, 2.0, 4.0], [-3.0, 2.0, 2.0], [0.0, 4.0, 3.0]], [[-3.0, 4.0, 3.0], [-1.0, 2.0, 3.0], [-3.0, -2.0, -3.0]]]]> : tensor<2x2x3x3xf32>
  %rhs = stablehlo.constant dense<[[[[0.0, 3.0], [-1.0, -1.0]], [[3.0, 0.0], [-3.0, 1.0]]], [[[2.0, 0.0], [3.0, -3.0]], [[3.0, -2.0], [2.0, 0.0]]], [[[1.0, 2.0], [3.0, 1.0]], [[1.0, 0.0], [-3.0, -2.0]]]]> : tensor<3x2x2x2xf32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x2x3x3xf32>, tensor<3x2x2x2xf32>) -> tensor<2x3x2x2xf32>
  check.expect_eq_const %result, dense<[[[[16.0, 5.0], [10.0, 7.0]], [[-4.0, -7.0], [1.0, -13.0]], [[16.0, -1.0], [-3.0, -25.0]]], [[[3.0, 17.0], [6.0, 8.0]], [[-26.0, 14.0], [-31.0, 3.0]], [[-3.0, 10.0], [17.0, 35.0]]]]> : tensor<2x3x2x2xf32>
  func.return
}

// -----

func.func @negative_padding() {
  %lhs = stablehlo.constant dense<[[[0], [1], [3], [-1], [2], [-4]]]> : tensor<1x6x1xi32>
  %rhs = stablehlo.constant dense<[[[0]], [[-1]]]> : tensor<2x1x1xi32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[-2, -1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x6x1xi32>, tensor<2x1x1xi32>) -> tensor<1x2x1xi32>
  check.expect_eq_const %result, dense<[[[1], [-2]]]> : tensor<1x2x1xi32>
  func.return
}

// -----

// The kernel has one element, so that each position is one matrix row, of which there are enough for BLAS.
func.func @negative_padding_of_narrow_floats() {
  %lhs = stablehlo.iota dim = 1 : tensor<64x5x16xbf16>
  %rhs = stablehlo.constant dense<6.250000e-02> : tensor<1x16x16xbf16>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[-1, 0]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<64x5x16xbf16>, tensor<1x16x16xbf16>) -> tensor<64x4x16xbf16>
  %expected = stablehlo.slice %lhs [0:64, 1:5, 0:16] : (tensor<64x5x16xbf16>) -> tensor<64x4x16xbf16>
  check.expect_eq %result, %expected : tensor<64x4x16xbf16>
  func.return
}

// -----

func.func @padding_on_one_side_negative() {
  %lhs = stablehlo.constant dense<[[[1], [3], [-3], [3]]]> : tensor<1x4x1xi32>
  %rhs = stablehlo.constant dense<[[[2]], [[2]], [[2]]]> : tensor<3x1x1xi32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[-1, 3]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x1xi32>, tensor<3x1x1xi32>) -> tensor<1x4x1xi32>
  check.expect_eq_const %result, dense<[[[6], [0], [6], [0]]]> : tensor<1x4x1xi32>
  func.return
}

// -----

func.func @base_dilation() {
  %lhs = stablehlo.constant dense<[[[[4], [3], [3]], [[3], [-4], [3]], [[4], [-2], [-3]]]]> : tensor<1x3x3x1xi32>
  %rhs = stablehlo.constant dense<[[[[-3]], [[2]], [[3]]], [[[1]], [[1]], [[2]]]]> : tensor<2x3x1x1xi32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {pad = [[1, 1], [2, 0]], lhs_dilate = [2, 3]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x3x3x1xi32>, tensor<2x3x1x1xi32>) -> tensor<1x6x7x1xi32>
  check.expect_eq_const %result, dense<[[[[8], [4], [4], [6], [3], [3], [6]], [[12], [8], [-12], [9], [6], [-9], [9]], [[6], [3], [3], [-8], [-4], [-4], [6]], [[9], [6], [-9], [-12], [-8], [12], [9]], [[8], [4], [4], [-4], [-2], [-2], [-6]], [[12], [8], [-12], [-6], [-4], [6], [-9]]]]> : tensor<1x6x7x1xi32>
  func.return
}

// -----

func.func @base_dilation_with_strides() {
  %lhs = stablehlo.constant dense<[[[3.0], [0.0], [0.0], [-2.0]]]> : tensor<1x4x1xf32>
  %rhs = stablehlo.constant dense<[[[-1.0, -3.0]], [[-1.0, 1.0]], [[2.0, 2.0]]]> : tensor<3x1x2xf32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {stride = [2], pad = [[2, 4]], lhs_dilate = [3]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x1xf32>, tensor<3x1x2xf32>) -> tensor<1x7x2xf32>
  check.expect_eq_const %result, dense<[[[6.0, 6.0], [-3.0, -9.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [2.0, -2.0], [0.0, 0.0]]]> : tensor<1x7x2xf32>
  func.return
}

// -----

func.func @base_dilation_cropped() {
  %lhs = stablehlo.constant dense<[[[-2], [3], [-1], [1]]]> : tensor<1x4x1xi32>
  %rhs = stablehlo.constant dense<[[[0]], [[1]]]> : tensor<2x1x1xi32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[-1, -2]], lhs_dilate = [3]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x1xi32>, tensor<2x1x1xi32>) -> tensor<1x6x1xi32>
  check.expect_eq_const %result, dense<[[[0], [3], [0], [0], [-1], [0]]]> : tensor<1x6x1xi32>
  func.return
}

// -----

func.func @window_dilation() {
  %lhs = stablehlo.constant dense<[[[4], [2], [2], [3], [-2], [-1], [-3]]]> : tensor<1x7x1xi32>
  %rhs = stablehlo.constant dense<[[[-3]], [[0]], [[1]]]> : tensor<3x1x1xi32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[1, 0]], rhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x7x1xi32>, tensor<3x1x1xi32>) -> tensor<1x4x1xi32>
  check.expect_eq_const %result, dense<[[[3], [-14], [-7], [-9]]]> : tensor<1x4x1xi32>
  func.return
}

// -----

func.func @both_dilations() {
  %lhs = stablehlo.constant dense<[[[-3], [3], [1], [-1]]]> : tensor<1x4x1xi32>
  %rhs = stablehlo.constant dense<[[[-3]], [[1]], [[-1]]]> : tensor<3x1x1xi32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[3, 3]], lhs_dilate = [2], rhs_dilate = [3]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x1xi32>, tensor<3x1x1xi32>) -> tensor<1x7x1xi32>
  check.expect_eq_const %result, dense<[[[-3], [-1], [3], [10], [1], [-9], [-1]]]> : tensor<1x7x1xi32>
  func.return
}

// -----

func.func @window_reversal() {
  %lhs = stablehlo.constant dense<[[[[4], [2], [2], [3]], [[-2], [-1], [-3], [-4]], [[-1], [1], [4], [-3]], [[4], [2], [0], [-1]]]]> : tensor<1x4x4x1xi32>
  %rhs = stablehlo.constant dense<[[[[1]], [[0]], [[-2]]], [[[3]], [[-2]], [[2]]]]> : tensor<2x3x1x1xi32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {reverse = [true, false]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x4x1xi32>, tensor<2x3x1x1xi32>) -> tensor<1x3x2x1xi32>
  check.expect_eq_const %result, dense<[[[[16], [15]], [[-19], [2]], [[7], [-7]]]]> : tensor<1x3x2x1xi32>
  func.return
}

// -----

func.func @feature_groups() {
  %lhs = stablehlo.constant dense<[[[-3.0, 3.0, 1.0, -1.0], [-4.0, 2.0, -1.0, 3.0], [-1.0, 1.0, -3.0, 0.0]]]> : tensor<1x3x4xf32>
  %rhs = stablehlo.constant dense<[[[-3.0, 2.0, -3.0, 2.0], [2.0, 0.0, 2.0, 1.0]], [[3.0, 2.0, 3.0, -3.0], [-3.0, 1.0, 2.0, 2.0]]]> : tensor<2x2x4xf32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
    : (tensor<1x3x4xf32>, tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
  check.expect_eq_const %result, dense<[[[-3.0, -12.0, -2.0, 10.0], [10.0, -9.0, 0.0, 10.0]]]> : tensor<1x2x4xf32>
  func.return
}

// -----

func.func @depthwise() {
  %lhs = stablehlo.constant dense<[[[[-1.0, 3.0, 4.0], [-2.0, -3.0, 1.0], [2.0, 2.0, 1.0]], [[2.0, 4.0, 4.0], [4.0, 3.0, 2.0], [4.0, -4.0, -4.0]], [[3.0, -1.0, 2.0], [0.0, 4.0, -4.0], [2.0, -4.0, -3.0]]]]> : tensor<1x3x3x3xf32>
  %rhs = stablehlo.constant dense<[[[[2.0, -1.0, 3.0]], [[-1.0, 2.0, 3.0]]], [[[-1.0, 3.0, 1.0]], [[3.0, -1.0, 0.0]]]]> : tensor<2x2x1x3xf32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 3 : i64}
    : (tensor<1x3x3x3xf32>, tensor<2x2x1x3xf32>) -> tensor<1x2x2x3xf32>
  check.expect_eq_const %result, dense<[[[[10.0, 0.0, 19.0], [2.0, 20.0, 8.0]], [[-3.0, -5.0, 20.0], [10.0, 5.0, -10.0]]]]> : tensor<1x2x2x3xf32>
  func.return
}

// -----

func.func @depthwise_features_before_space() {
  %lhs = stablehlo.constant dense<[[[[0.0, 4.0, 0.0], [-4.0, 1.0, 2.0], [-4.0, 0.0, -1.0]], [[2.0, 2.0, -4.0], [-3.0, -4.0, 2.0], [-3.0, 4.0, 4.0]]]]> : tensor<1x2x3x3xf32>
  %rhs = stablehlo.constant dense<[[[[1.0, -1.0], [-1.0, 1.0]]], [[[2.0, 3.0], [-3.0, 1.0]]], [[[-3.0, -2.0], [-2.0, -1.0]]], [[[1.0, -3.0], [0.0, -2.0]]]]> : tensor<4x1x2x2xf32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
    : (tensor<1x2x3x3xf32>, tensor<4x1x2x2xf32>) -> tensor<1x4x2x2xf32>
  check.expect_eq_const %result, dense<[[[[1.0, 5.0], [-1.0, -2.0]], [[25.0, 7.0], [7.0, 7.0]], [[0.0, 8.0], [19.0, -4.0]], [[4.0, 10.0], [1.0, -18.0]]]]> : tensor<1x4x2x2xf32>
  func.return
}

// -----

func.func @batch_groups() {
  %lhs = stablehlo.constant dense<[[[1], [-2], [4]], [[4], [-4], [-3]], [[-3], [-3], [1]], [[-1], [0], [-2]]]> : tensor<4x3x1xi32>
  %rhs = stablehlo.constant dense<[[[3, 1, 1, -3]], [[-2, 3, -1, 3]]]> : tensor<2x1x4xi32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {}
    {batch_group_count = 2 : i64, feature_group_count = 1 : i64}
    : (tensor<4x3x1xi32>, tensor<2x1x4xi32>) -> tensor<2x2x4xi32>
  check.expect_eq_const %result, dense<[[[7, -5, 0, 0], [-14, 10, -4, 12]], [[20, -8, -1, 3], [-6, -13, 2, -6]]]> : tensor<2x2x4xi32>
  func.return
}

// -----

func.func @gradient_of_kernels() {
  %lhs = stablehlo.constant dense<[[[[1.0, -1.0], [-1.0, 4.0], [-1.0, -2.0], [3.0, -4.0]], [[-1.0, -2.0], [-4.0, 2.0], [4.0, 3.0], [-2.0, 0.0]], [[3.0, -2.0], [-1.0, 4.0], [-3.0, 4.0], [2.0, -1.0]], [[3.0, -1.0], [-1.0, 1.0], [4.0, 2.0], [2.0, 1.0]]], [[[3.0, -1.0], [2.0, -1.0], [1.0, 1.0], [-1.0, 4.0]], [[-2.0, -4.0], [2.0, -4.0], [0.0, 2.0], [-3.0, 0.0]], [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0], [-4.0, 4.0]], [[3.0, -1.0], [-1.0, 1.0], [4.0, 0.0], [-2.0, -4.0]]]]> : tensor<2x4x4x2xf32>
  %rhs = stablehlo.constant dense<[[[[0.0, -2.0], [1.0, 2.0], [2.0, 0.0]], [[-3.0, 1.0], [-2.0, 0.0], [-2.0, 2.0]], [[-3.0, 2.0], [-2.0, 0.0], [-1.0, -3.0]]], [[[2.0, 2.0], [2.0, 0.0], [3.0, 0.0]], [[1.0, 0.0], [0.0, -3.0], [3.0, 0.0]], [[-3.0, -3.0], [3.0, -3.0], [2.0, 2.0]]]]> : tensor<2x3x3x2xf32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x4x4x2xf32>, tensor<2x3x3x2xf32>) -> tensor<2x2x2x2xf32>
  check.expect_eq_const %result, dense<[[[[4.0, 15.0], [-15.0, 2.0]], [[8.0, -20.0], [-25.0, 1.0]]], [[[-11.0, -17.0], [-5.0, -2.0]], [[-8.0, 2.0], [-26.0, -16.0]]]]> : tensor<2x2x2x2xf32>
  func.return
}

// -----

func.func @gradient_of_kernels_features_before_space() {
  %lhs = stablehlo.constant dense<[[[[1.0, 4.0, 3.0], [2.0, 2.0, -3.0], [-2.0, 3.0, -1.0]]], [[[3.0, -3.0, -1.0], [4.0, 0.0, 3.0], [1.0, -4.0, -1.0]]]]> : tensor<2x1x3x3xf64>
  %rhs = stablehlo.constant dense<[[[[0.0, 1.0, 3.0], [2.0, -1.0, 3.0], [-1.0, -1.0, -3.0]], [[0.0, -2.0, 1.0], [1.0, 3.0, 0.0], [3.0, 3.0, -3.0]]], [[[2.0, 2.0, 2.0], [-2.0, -1.0, -2.0], [3.0, 1.0, 1.0]], [[2.0, 1.0, -2.0], [-3.0, 3.0, 0.0], [-1.0, -3.0, 2.0]]]]> : tensor<2x2x3x3xf64>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1],
    window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x1x3x3xf64>, tensor<2x2x3x3xf64>) -> tensor<2x1x3x3xf64>
  check.expect_eq_const %result, dense<[[[[10.0, 26.0, 16.0], [3.0, -10.0, -16.0], [34.0, 1.0, 19.0]]], [[[0.0, 18.0, 7.0], [3.0, 11.0, 2.0], [-1.0, -13.0, 18.0]]]]> : tensor<2x1x3x3xf64>
  func.return
}

// -----

func.func @any_dimension_order() {
  %lhs = stablehlo.constant dense<[[[[1, -1, -1, 4], [-1, -2, 3, -4]]], [[[-1, -2, -4, 2], [4, 3, -2, 0]]], [[[3, -2, -1, 4], [-3, 4, 2, -1]]]]> : tensor<3x1x2x4xi32>
  %rhs = stablehlo.constant dense<[[[[2, -1], [-1, 1], [3, 1]], [[1, 1], [2, 0], [2, 0]]], [[[1, 1], [-1, 3], [-2, -3]], [[2, -3], [0, 2], [-2, 0]]]]> : tensor<2x2x3x2xi32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [1, b, f, 0]x[i, 0, o, 1]->[f, 1, 0, b],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<3x1x2x4xi32>, tensor<2x2x3x2xi32>) -> tensor<3x2x3x1xi32>
  check.expect_eq_const %result, dense<[[[[-10], [8], [1]], [[-14], [-10], [2]]], [[[15], [4], [-4]], [[-5], [5], [13]]], [[[-6], [-18], [9]], [[-9], [-30], [-11]]]]> : tensor<3x2x3x1xi32>
  func.return
}

// -----

func.func @three_spatial_dimensions() {
  %lhs = stablehlo.constant dense<[[[[[-1], [-2]], [[2], [-1]], [[3], [1]]], [[[-3], [0]], [[-1], [1]], [[1], [1]]]]]> : tensor<1x2x3x2x1xi32>
  %rhs = stablehlo.constant dense<[[[[[1, 3]]], [[[-1, -3]]]], [[[[1, 2]]], [[[0, 2]]]]]> : tensor<2x2x1x1x2xi32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, f, 2, 1, 0],
    window = {pad = [[0, 1], [0, 0], [1, 0]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x3x2x1xi32>, tensor<2x2x1x1x2xi32>) -> tensor<1x2x3x2x2xi32>
  check.expect_eq_const %result, dense<[[[[[0, 0], [0, 0]], [[-6, -2], [-2, -2]], [[-1, -1], [-1, 0]]], [[[0, 0], [0, 0]], [[-17, -6], [-3, -6]], [[-1, -3], [-2, 0]]]]]> : tensor<1x2x3x2x2xi32>
  func.return
}

// -----

func.func @no_spatial_dimensions() {
  %lhs = stablehlo.constant dense<[[-2, 3, -1], [1, 0, 2]]> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<[[-1, -3], [-1, 1], [1, 3]]> : tensor<3x2xi32>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, f]x[i, o]->[b, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[-2, 6], [1, 3]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @bf16() {
  %lhs = stablehlo.constant dense<[[[2.0, 4.0], [3.0, 0.0], [4.0, 4.0]]]> : tensor<1x3x2xbf16>
  %rhs = stablehlo.constant dense<[[[3.0], [-3.0]], [[0.0], [1.0]]]> : tensor<2x2x1xbf16>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x3x2xbf16>, tensor<2x2x1xbf16>) -> tensor<1x2x1xbf16>
  check.expect_eq_const %result, dense<[[[-6.0], [13.0]]]> : tensor<1x2x1xbf16>
  func.return
}

// -----

func.func @i16() {
  %lhs = stablehlo.constant dense<[[[3, -4], [-3, -2], [-3, 3]]]> : tensor<1x3x2xi16>
  %rhs = stablehlo.constant dense<[[[3], [1]], [[-3], [-3]]]> : tensor<2x2x1xi16>
  %result = stablehlo.convolution(%lhs, %rhs)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x3x2xi16>, tensor<2x2x1xi16>) -> tensor<1x2x1xi16>
  check.expect_eq_const %result, dense<[[[20], [-11]]]> : tensor<1x2x1xi16>
  func.return
}
