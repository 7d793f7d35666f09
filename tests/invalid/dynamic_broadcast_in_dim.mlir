func.func @C1(%operand: tensor<1x3xf32>, %output_dimensions: tensor<3xi64>) {
  // expected-error@+1 {{(C1): element_type(result) == element_type(operand)}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf64>
  return
}

// -----

func.func @C1_per_axis(%operand: tensor<1x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>, %output_dimensions: tensor<3xi64>) {
  // expected-error@+1 {{(C1): is_per_axis_quantized(result) and quantized_format(result) == quantized_format(operand)}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<1x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>, tensor<3xi64>) -> tensor<2x4x2x!quant.uniform<i8:f16:2, {1.0, 2.0}>>
  return
}

// -----

func.func @C2(%operand: tensor<1x3xf32>, %output_dimensions: tensor<3xi64>) {
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == rank(operand)}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: 1>}> : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @C3(%operand: tensor<1x3xf32>, %output_dimensions: tensor<3xi64>) {
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, rank(result))}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: 1, 3>}> : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @C3_negative(%operand: tensor<1x3xf32>, %output_dimensions: tensor<3xi64>) {
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, rank(result))}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: -1, 2>}> : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @C4(%operand: tensor<1x3xf32>, %output_dimensions: tensor<3xi64>) {
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions)}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: 2, 2>}> : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @C5(%operand: tensor<1x3xf32>, %output_dimensions: tensor<3xi64>) {
  // expected-error@+1 {{(C5): all(dim(operand, d) == 1 or dim(operand, d) == dim(result, broadcast_dimensions[d]) for d in axes(operand))}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @C6(%operand: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %output_dimensions: tensor<2xi64>) {
  // expected-error@+1 {{(C6): quantization_dimension(result) == broadcast_dimensions[quantization_dimension(operand)]}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2xi64>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

// -----

func.func @C6_scales(%operand: tensor<1x3x!quant.uniform<i8:f32:0, {1.0}>>, %output_dimensions: tensor<2xi64>) {
  // expected-error@+1 {{(C6): all(s == scales(operand)[0] for s in scales(result)) and all(z == zero_points(operand)[0] for z in zero_points(result))}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x3x!quant.uniform<i8:f32:0, {1.0}>>, tensor<2xi64>) -> tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

func.func @C7(%operand: tensor<1x3xf32>, %output_dimensions: tensor<2xi64>) {
  // expected-error@+1 {{(C7): size(output_dimensions) == rank(result)}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @C8(%operand: tensor<1x3xf32>, %output_dimensions: tensor<3xi64>) {
  // expected-error@+1 {{(C8): is_unique(known_expanding_dimensions + known_nonexpanding_dimensions)}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: 1, 2>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>}> : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @C9(%operand: tensor<1x3xf32>, %output_dimensions: tensor<3xi64>) {
  // expected-error@+1 {{(C9): in_range(known_expanding_dimensions, rank(operand))}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: 1, 2>, known_expanding_dimensions = array<i64: 2>}> : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @C9_negative(%operand: tensor<1x3xf32>, %output_dimensions: tensor<3xi64>) {
  // expected-error@+1 {{(C9): in_range(known_expanding_dimensions, rank(operand))}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: 1, 2>, known_expanding_dimensions = array<i64: -1>}> : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @C10(%operand: tensor<1x3xf32>, %output_dimensions: tensor<3xi64>) {
  // expected-error@+1 {{(C10): in_range(known_nonexpanding_dimensions, rank(operand))}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: 1, 2>, known_nonexpanding_dimensions = array<i64: 2>}> : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @C10_negative(%operand: tensor<1x3xf32>, %output_dimensions: tensor<3xi64>) {
  // expected-error@+1 {{(C10): in_range(known_nonexpanding_dimensions, rank(operand))}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: 1, 2>, known_nonexpanding_dimensions = array<i64: -1>}> : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @types(%operand: !stablehlo.token, %output_dimensions: tensor<3xi64>, %operand_1: tensor<1x3xf32>, %output_dimensions_1: tensor<3xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) <{broadcast_dimensions = array<i64: 1, 2>}> : (!stablehlo.token, tensor<3xi64>) -> tensor<2x4x3xf32>
  // expected-error@+1 {{operand #1 (output_dimensions) must be statically shaped 1-dimensional tensor of integer or index type, but is tensor<3xf32>}}
  %1 = "stablehlo.dynamic_broadcast_in_dim"(%operand_1, %output_dimensions_1) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<1x3xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "stablehlo.dynamic_broadcast_in_dim"(%operand_1, %output_dimensions) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<1x3xf32>, tensor<3xi64>) -> !stablehlo.token
  // expected-error@+1 {{requires attribute 'broadcast_dimensions'}}
  %3 = "stablehlo.dynamic_broadcast_in_dim"(%operand_1, %output_dimensions) : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %4 = "stablehlo.dynamic_broadcast_in_dim"(%operand_1, %output_dimensions) <{broadcast_dimensions = "wrong"}> : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  // expected-error@+1 {{attribute 'known_expanding_dimensions' must be a list of 64-bit integers}}
  %5 = "stablehlo.dynamic_broadcast_in_dim"(%operand_1, %output_dimensions) <{broadcast_dimensions = array<i64: 1, 2>, known_expanding_dimensions = "wrong"}> : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  // expected-error@+1 {{attribute 'known_nonexpanding_dimensions' must be a list of 64-bit integers}}
  %6 = "stablehlo.dynamic_broadcast_in_dim"(%operand_1, %output_dimensions) <{broadcast_dimensions = array<i64: 1, 2>, known_nonexpanding_dimensions = "wrong"}> : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @shape(%operand: tensor<4xf32>) {
  %d = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  // expected-error@+1 {{(shape): shape(result) == output_dimensions}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %d) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  // expected-error@+1 {{(shape): all(n in (1, output_dimensions[d]) for n, d in zip(shape(operand), broadcast_dimensions))}}
  %1 = "stablehlo.dynamic_broadcast_in_dim"(%operand, %d) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}
