// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @spec_example() {
  %lhs = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi64>
  %rhs = stablehlo.constant dense<[[[1, 0], [0, 1]], [[1, 0], [0, 1]]]> : tensor<2x2x2xi64>
  %result = "stablehlo.dot_general"(%lhs, %rhs) {
    dot_dimension_numbers = #stablehlo.dot<
      lhs_batching_dimensions = [0],
      rhs_batching_dimensions = [0],
      lhs_contracting_dimensions = [2],
      rhs_contracting_dimensions = [1]
    >,
    precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>],
    algorithm = #stablehlo.dot_algorithm<
      lhs_precision_type = tf32,
      rhs_precision_type = tf32,
      accumulation_type = f32,
      lhs_component_count = 1,
      rhs_component_count = 1,
      num_primitive_operations = 1,
      allow_imprecise_accumulation = false
    >
  } : (tensor<2x2x2xi64>, tensor<2x2x2xi64>) -> tensor<2x2x2xi64>
  check.expect_eq_const %result, dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi64>
  func.return
}

// -----

func.func @matrices() {
  %lhs = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]> : tensor<3x2xf32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0]
    : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %result, dense<[[4.0, 5.0], [10.0, 11.0]]> : tensor<2x2xf32>
  func.return
}

// -----

func.func @both_transposed() {
  %lhs = stablehlo.constant dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>
  %rhs = stablehlo.constant dense<[[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]> : tensor<2x3xf32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [1], precision = [HIGHEST, HIGH]
    : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %result, dense<[[4.0, 5.0], [10.0, 11.0]]> : tensor<2x2xf32>
  func.return
}

// -----

func.func @matrix_and_vector() {
  %lhs = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf64>
  %rhs = stablehlo.constant dense<[1.0, 0.0, -1.0]> : tensor<3xf64>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0]
    : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2xf64>
  check.expect_eq_const %result, dense<[-2.0, -2.0]> : tensor<2xf64>
  func.return
}

// -----

func.func @vector_and_matrix() {
  %lhs = stablehlo.constant dense<[1.0, -1.0]> : tensor<2xf64>
  %rhs = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf64>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0]
    : (tensor<2xf64>, tensor<2x3xf64>) -> tensor<3xf64>
  check.expect_eq_const %result, dense<[-3.0, -3.0, -3.0]> : tensor<3xf64>
  func.return
}

// -----

func.func @vectors() {
  %lhs = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[4.0, 5.0, 6.0]> : tensor<3xf32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0]
    : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  check.expect_eq_const %result, dense<32.0> : tensor<f32>
  func.return
}

// -----

func.func @scalars() {
  %lhs = stablehlo.constant dense<3.0> : tensor<f32>
  %rhs = stablehlo.constant dense<4.0> : tensor<f32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [] x []
    : (tensor<f32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %result, dense<12.0> : tensor<f32>
  func.return
}

// -----

func.func @outer_product() {
  %lhs = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %rhs = stablehlo.constant dense<[3, 4, 5]> : tensor<3xi32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [] x []
    : (tensor<2xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %result, dense<[[3, 4, 5], [6, 8, 10]]> : tensor<2x3xi32>
  func.return
}

// -----

func.func @batch_of_scalars() {
  %lhs = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %rhs = stablehlo.constant dense<[4, 5, 6]> : tensor<3xi32>
  %result = stablehlo.dot_general %lhs, %rhs, batching_dims = [0] x [0], contracting_dims = [] x []
    : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const %result, dense<[4, 10, 18]> : tensor<3xi32>
  func.return
}

// -----

// lhs[:, :, 0] = [1, 2] with rhs[:, 0] = [3, 5], lhs[:, :, 1] = [10, 20] with rhs[:, 1] = [4, 6]; 40 + 120 = 160.
func.func @batch_last() {
  %lhs = stablehlo.constant dense<[[[1, 10], [2, 20]]]> : tensor<1x2x2xi32>
  %rhs = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xi32>
  %result = stablehlo.dot_general %lhs, %rhs, batching_dims = [2] x [1], contracting_dims = [1] x [0]
    : (tensor<1x2x2xi32>, tensor<2x2xi32>) -> tensor<2x1xi32>
  check.expect_eq_const %result, dense<[[13], [160]]> : tensor<2x1xi32>
  func.return
}

// -----

// Sums of lhs[i, k, j] * rhs[j, k]: 1 * 1 + 2 * 10 + 3 * 0 + 4 * 100.
func.func @two_contracting_dimensions() {
  %lhs = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi32>
  %rhs = stablehlo.constant dense<[[1, 0], [10, 100]]> : tensor<2x2xi32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [2, 1] x [0, 1]
    : (tensor<2x2x2xi32>, tensor<2x2xi32>) -> tensor<2xi32>
  check.expect_eq_const %result, dense<[421, 865]> : tensor<2xi32>
  func.return
}

// -----

func.func @contracting_dimension_in_the_middle() {
  %lhs = stablehlo.constant dense<[[[1, 2, 3], [4, 5, 6]]]> : tensor<1x2x3xi32>
  %rhs = stablehlo.constant dense<[1, 10]> : tensor<2xi32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0]
    : (tensor<1x2x3xi32>, tensor<2xi32>) -> tensor<1x3xi32>
  check.expect_eq_const %result, dense<[[41, 52, 63]]> : tensor<1x3xi32>
  func.return
}

// -----

func.func @nothing_to_sum() {
  %lhs = stablehlo.constant dense<1.0> : tensor<2x0xf32>
  %rhs = stablehlo.constant dense<1.0> : tensor<0x3xf32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0]
    : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const %result, dense<0.0> : tensor<2x3xf32>
  func.return
}

// -----

func.func @no_results() {
  %lhs = stablehlo.constant dense<1.0> : tensor<0x2xf32>
  %rhs = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0]
    : (tensor<0x2xf32>, tensor<2x3xf32>) -> tensor<0x3xf32>
  check.expect_eq_const %result, dense<1.0> : tensor<0x3xf32>
  func.return
}

// -----

func.func @nonfinite() {
  %lhs = stablehlo.constant dense<[[0x7F800000, 0.0], [0.0, 0x7FC00000], [3.0e38, 3.0e38]]> : tensor<3x2xf32>
  %rhs = stablehlo.constant dense<[[1.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0]
    : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  check.expect_eq_const %result, dense<[[0x7F800000, 0x7FC00000], [0x7FC00000, 0x7FC00000], [0x7F800000, 3.0e38]]> : tensor<3x2xf32>
  func.return
}

// -----

func.func @i8_sums_in_i32() {
  %lhs = stablehlo.constant dense<[[-128, -128]]> : tensor<1x2xi8>
  %rhs = stablehlo.constant dense<[-128, 127]> : tensor<2xi8>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0]
    : (tensor<1x2xi8>, tensor<2xi8>) -> tensor<1xi32>
  check.expect_eq_const %result, dense<[128]> : tensor<1xi32>
  func.return
}

// -----

// 500 = 2 * 256 - 12.
func.func @i8_wraps() {
  %lhs = stablehlo.constant dense<[[100, 100]]> : tensor<1x2xi8>
  %rhs = stablehlo.constant dense<[2, 3]> : tensor<2xi8>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0]
    : (tensor<1x2xi8>, tensor<2xi8>) -> tensor<1xi8>
  check.expect_eq_const %result, dense<[-12]> : tensor<1xi8>
  func.return
}

// -----

func.func @i4_wraps() {
  %lhs = stablehlo.constant dense<[7, 7]> : tensor<2xi4>
  %rhs = stablehlo.constant dense<[7, -8]> : tensor<2xi4>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0]
    : (tensor<2xi4>, tensor<2xi4>) -> tensor<i4>
  check.expect_eq_const %result, dense<-7> : tensor<i4>
  func.return
}

// -----

func.func @ui32_wraps() {
  %lhs = stablehlo.constant dense<[4294967295, 65536]> : tensor<2xui32>
  %rhs = stablehlo.constant dense<[4294967295, 65537]> : tensor<2xui32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0]
    : (tensor<2xui32>, tensor<2xui32>) -> tensor<ui32>
  check.expect_eq_const %result, dense<65537> : tensor<ui32>
  func.return
}

// -----

// 2^63 + 2^53 + 1, modulo 2^64.
func.func @i64_is_exact() {
  %lhs = stablehlo.constant dense<[[4611686018427387904, 9007199254740993]]> : tensor<1x2xi64>
  %rhs = stablehlo.constant dense<[[2], [1]]> : tensor<2x1xi64>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0]
    : (tensor<1x2xi64>, tensor<2x1xi64>) -> tensor<1x1xi64>
  check.expect_eq_const %result, dense<[[-9214364837600034815]]> : tensor<1x1xi64>
  func.return
}

// -----

// Or of ands.
func.func @booleans() {
  %lhs = stablehlo.constant dense<[[true, false], [false, false]]> : tensor<2x2xi1>
  %rhs = stablehlo.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0]
    : (tensor<2x2xi1>, tensor<2x2xi1>) -> tensor<2x2xi1>
  check.expect_eq_const %result, dense<[[true, false], [false, false]]> : tensor<2x2xi1>
  func.return
}

// -----

func.func @complex() {
  %lhs = stablehlo.constant dense<[(1.0, 1.0), (0.0, 2.0)]> : tensor<2xcomplex<f32>>
  %rhs = stablehlo.constant dense<[(0.0, 1.0), (1.0, 1.0)]> : tensor<2xcomplex<f32>>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0]
    : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<complex<f32>>
  check.expect_eq_const %result, dense<(-3.0, 3.0)> : tensor<complex<f32>>
  func.return
}

// -----

// 1 + 2^-8 is 1 in bf16, 1 + 2^-7 is not.
func.func @bf16_sums_are_rounded_once() {
  %lhs = stablehlo.constant dense<[1.0, 0.00390625, 0.00390625]> : tensor<3xbf16>
  %rhs = stablehlo.constant dense<1.0> : tensor<3xbf16>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0]
    : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<bf16>
  check.expect_eq_const %result, dense<1.0078125> : tensor<bf16>
  func.return
}

// -----

func.func @bf16_sums_in_f32() {
  %lhs = stablehlo.constant dense<[1.0, 0.00390625]> : tensor<2xbf16>
  %rhs = stablehlo.constant dense<1.0> : tensor<2xbf16>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0]
    : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<f32>
  check.expect_eq_const %result, dense<1.00390625> : tensor<f32>
  func.return
}

// -----

// The sum of the first two is larger than any number of f16.
func.func @f16() {
  %lhs = stablehlo.constant dense<[60000.0, 60000.0, -60000.0]> : tensor<3xf16>
  %rhs = stablehlo.constant dense<1.0> : tensor<3xf16>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0]
    : (tensor<3xf16>, tensor<3xf16>) -> tensor<f16>
  check.expect_eq_const %result, dense<60000.0> : tensor<f16>
  func.return
}

// -----

func.func @f8E4M3FN() {
  %lhs = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf8E4M3FN>
  %rhs = stablehlo.constant dense<[4.0, 5.0, 6.0]> : tensor<3xf8E4M3FN>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0]
    : (tensor<3xf8E4M3FN>, tensor<3xf8E4M3FN>) -> tensor<f8E4M3FN>
  check.expect_eq_const %result, dense<32.0> : tensor<f8E4M3FN>
  func.return
}

// -----

// 4.5 is nearest to 4 in f4E2M1FN.
func.func @f4E2M1FN() {
  %lhs = stablehlo.constant dense<[1.5, 2.0]> : tensor<2xf4E2M1FN>
  %rhs = stablehlo.constant dense<[1.0, 1.5]> : tensor<2xf4E2M1FN>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0]
    : (tensor<2xf4E2M1FN>, tensor<2xf4E2M1FN>) -> tensor<f4E2M1FN>
  check.expect_eq_const %result, dense<4.0> : tensor<f4E2M1FN>
  func.return
}

// -----

// 1 + 2^-11 is 1 in tf32.
func.func @algorithm_rounds_operands() {
  %lhs = stablehlo.constant dense<[1.00048828125, 1.0009765625]> : tensor<2xf32>
  %rhs = stablehlo.constant dense<1.0> : tensor<2xf32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0],
    algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32,
                 lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1,
                 allow_imprecise_accumulation = false>
    : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  check.expect_eq_const %result, dense<2.0009765625> : tensor<f32>
  func.return
}

// -----

// 1 + 2^-11 and 1 + 2^-10 are sums of two bf16 numbers.
func.func @algorithm_of_three_operations() {
  %lhs = stablehlo.constant dense<[1.00048828125, 1.0009765625]> : tensor<2xf32>
  %rhs = stablehlo.constant dense<1.0> : tensor<2xf32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0],
    algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32,
                 lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3,
                 allow_imprecise_accumulation = false>
    : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  check.expect_eq_const %result, dense<2.00146484375> : tensor<f32>
  func.return
}

// -----

// 1 + 2^-16 + 2^-23 is a sum of three bf16 numbers.
func.func @algorithm_of_six_operations() {
  %lhs = stablehlo.constant dense<0x3F800081> : tensor<1xf32>
  %rhs = stablehlo.constant dense<1.0> : tensor<1xf32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0],
    algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32,
                 lhs_component_count = 3, rhs_component_count = 3, num_primitive_operations = 6,
                 allow_imprecise_accumulation = false>
    : (tensor<1xf32>, tensor<1xf32>) -> tensor<f32>
  check.expect_eq_const %result, dense<0x3F800081> : tensor<f32>
  func.return
}

// -----

func.func @algorithm_accumulates_in_bf16() {
  %lhs = stablehlo.constant dense<[256.0, 1.0]> : tensor<2xf32>
  %rhs = stablehlo.constant dense<1.0> : tensor<2xf32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0],
    algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = bf16,
                 lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1,
                 allow_imprecise_accumulation = false>
    : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  check.expect_eq_const %result, dense<256.0> : tensor<f32>
  func.return
}

// -----

func.func @operands_of_two_types() {
  %floats = stablehlo.constant dense<[1.5, 2.0]> : tensor<2xf32>
  %integers = stablehlo.constant dense<[3, 5]> : tensor<2xi32>
  %bytes = stablehlo.constant dense<[3, 5]> : tensor<2xi8>
  %0 = stablehlo.dot_general %floats, %integers, contracting_dims = [0] x [0]
    : (tensor<2xf32>, tensor<2xi32>) -> tensor<f32>
  check.expect_eq_const %0, dense<14.5> : tensor<f32>
  %1 = stablehlo.dot_general %bytes, %integers, contracting_dims = [0] x [0]
    : (tensor<2xi8>, tensor<2xi32>) -> tensor<i32>
  check.expect_eq_const %1, dense<34> : tensor<i32>
  func.return
}
