func.func @C1(%lhs: tensor<2xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C1): compatible(lhs, rhs, result)}}
  %0 = "stablehlo.add"(%lhs, %rhs) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

func.func @C1_quantized(%lhs: tensor<2x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<3x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C1): shape(lhs) == shape(rhs) == shape(result)}}
  %0 = "stablehlo.add"(%lhs, %rhs) : (tensor<2x!quant.uniform<i8:f32, 1.0>>, tensor<3x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @C2(%lhs: tensor<2x2x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<2x2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C2): all(map(is_quantized, (lhs, rhs, result)))}}
  %0 = "stablehlo.add"(%lhs, %rhs) : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2xf32>
  return
}

// -----

func.func @C3(%lhs: tensor<2x2x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<2x2x!quant.uniform<i16:f32, 1.0>>) {
  // expected-error@+1 {{(C3): storage_type(lhs) == storage_type(rhs) == storage_type(result)}}
  %0 = "stablehlo.add"(%lhs, %rhs) : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i16:f32, 1.0>>) -> tensor<2x2x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @C4(%lhs: tensor<2x2x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<2x2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C4): expressed_type(lhs) == expressed_type(rhs) == expressed_type(result)}}
  %0 = "stablehlo.add"(%lhs, %rhs) : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2x!quant.uniform<i8:f16, 1.0>>
  return
}

// -----

func.func @C5(%lhs: tensor<2x2x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<2x2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C5): (is_per_axis_quantized(lhs) or is_per_axis_quantized(rhs)) == is_per_axis_quantized(result)}}
  %0 = "stablehlo.add"(%lhs, %rhs) : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

func.func @C6(%lhs: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %rhs: tensor<2x2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{(C6): quantization_dimension(lhs) == quantization_dimension(result)}}
  %0 = "stablehlo.add"(%lhs, %rhs) : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2x2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

// -----

func.func @C7(%lhs: tensor<2x2x!quant.uniform<i8:f32, 1.0>>, %rhs: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{(C7): quantization_dimension(rhs) == quantization_dimension(result)}}
  %0 = "stablehlo.add"(%lhs, %rhs) : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

// -----

func.func @types(%lhs: !stablehlo.token, %rhs: tensor<2xf32>, %lhs_1: tensor<2xf32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "stablehlo.add"(%lhs, %rhs) : (!stablehlo.token, tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "stablehlo.add"(%lhs_1, %rhs_1) : (tensor<2xf32>, !stablehlo.token) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "stablehlo.add"(%lhs_1, %rhs) : (tensor<2xf32>, tensor<2xf32>) -> !stablehlo.token
  return
}
