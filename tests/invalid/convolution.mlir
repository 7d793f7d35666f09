func.func @C1(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6x1xf32>) {
  // expected-error@+1 {{(C1): N == rank(rhs) and 2 <= N}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6x1xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C1_few(%lhs: tensor<2xf32>, %rhs: tensor<2xf32>) {
  // expected-error@+1 {{(C1): N == rank(rhs) and 2 <= N}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C2(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C2): size(window_strides) == N - 2}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 1, 1>}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C3(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C3): all(0 < stride for stride in window_strides)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 0>}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C4(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C4): size(padding) == N - 2 and all(size(pair) == 2 for pair in padding)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, padding = dense<0> : tensor<2x2xi64>}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C4_columns(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C4): size(padding) == N - 2 and all(size(pair) == 2 for pair in padding)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, padding = dense<0> : tensor<1x3xi64>}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C5(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C5): size(lhs_dilation) == N - 2}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C6(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C6): all(0 < dilation for dilation in lhs_dilation)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, lhs_dilation = array<i64: 0>}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C7(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C7): size(rhs_dilation) == N - 2}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, rhs_dilation = array<i64: 1, 1>}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C8(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C8): all(0 < dilation for dilation in rhs_dilation)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, rhs_dilation = array<i64: 0>}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C9(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C9): not window_reversal or size(window_reversal) == N - 2}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_reversal = array<i1: true, true>}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C10(%lhs: tensor<3x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C10): dim(lhs, input_batch_dimension) % batch_group_count == 0}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 2 : i64}> : (tensor<3x4x2xf32>, tensor<3x2x6xf32>) -> tensor<1x2x6xf32>
  return
}

// -----

func.func @C11(%lhs: tensor<2x4x3xf32>, %rhs: tensor<3x1x6xf32>) {
  // expected-error@+1 {{(C11): dim(lhs, input_feature_dimension) % feature_group_count == 0}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x3xf32>, tensor<3x1x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C12(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C12): size(input_spatial_dimensions) == N - 2}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 2, kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C13(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C13): is_unique(input_dimensions) and in_range(input_dimensions, N)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 2, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C13_beyond(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C13): is_unique(input_dimensions) and in_range(input_dimensions, N)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 3, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C13_negative(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C13): is_unique(input_dimensions) and in_range(input_dimensions, N)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = -1, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C14(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x3x6xf32>) {
  // expected-error@+1 {{(C14): dim(rhs, kernel_input_feature_dimension) == dim(lhs, input_feature_dimension) // feature_group_count}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x3x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C15(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x5xf32>) {
  // expected-error@+1 {{(C15): dim(rhs, kernel_output_feature_dimension) % batch_group_count == 0}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 2 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x5xf32>) -> tensor<1x2x5xf32>
  return
}

// -----

func.func @C16(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x1x5xf32>) {
  // expected-error@+1 {{(C16): dim(rhs, kernel_output_feature_dimension) % feature_group_count == 0}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x1x5xf32>) -> tensor<2x2x5xf32>
  return
}

// -----

func.func @C17(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C17): size(kernel_spatial_dimensions) == N - 2}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C18(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C18): is_unique(kernel_dimensions) and in_range(kernel_dimensions, N)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [1], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C18_beyond(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C18): is_unique(kernel_dimensions) and in_range(kernel_dimensions, N)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [3], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C18_negative(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C18): is_unique(kernel_dimensions) and in_range(kernel_dimensions, N)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [-1], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C19(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C19): size(output_spatial_dimensions) == N - 2}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0], output_batch_dimension = 0, output_feature_dimension = 2>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C20(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C20): is_unique(output_dimensions) and in_range(output_dimensions, N)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [0]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C20_beyond(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C20): is_unique(output_dimensions) and in_range(output_dimensions, N)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [3]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C20_negative(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C20): is_unique(output_dimensions) and in_range(output_dimensions, N)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [-1]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C21(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C21): 0 < feature_group_count}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 0 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C22(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C22): 0 < batch_group_count}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 0 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C23(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x1x6xf32>) {
  // expected-error@+1 {{(C23): feature_group_count == 1 or batch_group_count == 1}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 2 : i64, batch_group_count = 2 : i64}> : (tensor<2x4x2xf32>, tensor<3x1x6xf32>) -> tensor<1x2x6xf32>
  return
}

// -----

func.func @C24(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C24): size(precision_config) <= 2}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C25(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C25): shape(result) == shape(infer())}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x3x6xf32>
  return
}

// -----

func.func @C26(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C26): rank(result) == N}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6x1xf32>
  return
}

// -----

func.func @C27(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf64>) {
  // expected-error@+1 {{(C27): element_type(lhs) == element_type(rhs)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf64>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C27_result(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C27): is_promotable(lhs, result) or (is_integer(lhs) and is_float(result))}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf16>
  return
}

// -----

func.func @C28(%lhs: tensor<2x4x2x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<3x2x6x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C28): is_quantized(lhs) == is_quantized(result) and is_quantized(rhs)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2x!quant.uniform<i8:f32, 1.0>>, tensor<3x2x6x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C28_rhs(%lhs: tensor<2x4x2x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<3x2x6xf32>) {
  // expected-error@+1 {{(C28): is_quantized(lhs) == is_quantized(result) and is_quantized(rhs)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2x!quant.uniform<i8:f32, 1.0>>, tensor<3x2x6xf32>) -> tensor<2x2x6x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @C29(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6x!quant.uniform<i8:f32:1, {1.0, 1.0}>>) {
  // expected-error@+1 {{(C29): quantization_dimension(rhs) == kernel_output_feature_dimension}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6x!quant.uniform<i8:f32:1, {1.0, 1.0}>>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C30(%lhs: tensor<2x4x2x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<3x2x6x!quant.uniform<i8:f32:2, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}>>) {
  // expected-error@+1 {{(C30): quantization_dimension(result) == output_feature_dimension}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2x!quant.uniform<i8:f32, 1.0>>, tensor<3x2x6x!quant.uniform<i8:f32:2, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}>>) -> tensor<2x2x6x!quant.uniform<i8:f32:1, {1.0, 1.0}>>
  return
}

// -----

func.func @C31(%lhs: tensor<2x4x2x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<3x2x6x!quant.uniform<i16:f32, 1.0>>) {
  // expected-error@+1 {{(C31): storage_type(lhs) == storage_type(rhs)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2x!quant.uniform<i8:f32, 1.0>>, tensor<3x2x6x!quant.uniform<i16:f32, 1.0>>) -> tensor<2x2x6x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @C32(%lhs: tensor<2x4x2x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<3x2x6x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C32): expressed_type(lhs) == expressed_type(rhs) == expressed_type(result)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2x!quant.uniform<i8:f32, 1.0>>, tensor<3x2x6x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2x6x!quant.uniform<i8:f16, 1.0>>
  return
}

// -----

func.func @C33(%lhs: tensor<2x4x2x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<3x2x6x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C33): is_per_tensor_quantized(result) or is_per_axis_quantized(rhs)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2x!quant.uniform<i8:f32, 1.0>>, tensor<3x2x6x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2x6x!quant.uniform<i8:f32:2, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}>>
  return
}

// -----

func.func @C34(%lhs: tensor<2x4x2xf64>, %rhs: tensor<3x2x6x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C34): element_type(lhs) == expressed_type(rhs) == element_type(result)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf64>, tensor<3x2x6x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2x6xf32>
  return
}

// -----

func.func @C34_result(%lhs: tensor<2x4x2xf32>, %rhs: tensor<3x2x6x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C34): element_type(lhs) == expressed_type(rhs) == element_type(result)}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2x6xf64>
  return
}

// -----

func.func @types(%lhs: tensor<2x4x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %rhs: tensor<3x2x6xf32>, %lhs_1: tensor<2x4x2xf32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or per-tensor quantized tensor, but is tensor<2x4x2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.convolution"(%lhs, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "stablehlo.convolution"(%lhs_1, %rhs_1) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, !stablehlo.token) -> tensor<2x2x6xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "stablehlo.convolution"(%lhs_1, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> !stablehlo.token
  // expected-error@+1 {{attribute 'window_strides' must be a list of 64-bit integers}}
  %3 = "stablehlo.convolution"(%lhs_1, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = "wrong"}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  // expected-error@+1 {{attribute 'padding' must be a 2-dimensional tensor of 64-bit integers}}
  %4 = "stablehlo.convolution"(%lhs_1, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, padding = "wrong"}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  // expected-error@+1 {{attribute 'lhs_dilation' must be a list of 64-bit integers}}
  %5 = "stablehlo.convolution"(%lhs_1, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, lhs_dilation = "wrong"}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  // expected-error@+1 {{attribute 'rhs_dilation' must be a list of 64-bit integers}}
  %6 = "stablehlo.convolution"(%lhs_1, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, rhs_dilation = "wrong"}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  // expected-error@+1 {{attribute 'window_reversal' must be a list of booleans}}
  %7 = "stablehlo.convolution"(%lhs_1, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_reversal = "wrong"}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  // expected-error@+1 {{requires attribute 'feature_group_count'}}
  %8 = "stablehlo.convolution"(%lhs_1, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  // expected-error@+1 {{attribute 'feature_group_count' must be a 64-bit integer}}
  %9 = "stablehlo.convolution"(%lhs_1, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = "wrong", batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  // expected-error@+1 {{requires attribute 'batch_group_count'}}
  %10 = "stablehlo.convolution"(%lhs_1, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  // expected-error@+1 {{attribute 'batch_group_count' must be a 64-bit integer}}
  %11 = "stablehlo.convolution"(%lhs_1, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = "wrong"}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  // expected-error@+1 {{attribute 'precision_config' must be a list of precision: one of DEFAULT, HIGH, HIGHEST}}
  %12 = "stablehlo.convolution"(%lhs_1, %rhs) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, precision_config = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  // expected-error@+1 {{attribute 'dimension_numbers' must be a #stablehlo.conv<...>}}
  %13 = "stablehlo.convolution"(%lhs_1, %rhs) <{dimension_numbers = 1 : i64, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x2xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  return
}
