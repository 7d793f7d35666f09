func.func @C1(%output_shape: tensor<1xi64>) {
  // expected-error@+1 {{(C1): 0 <= iota_dimension < size(output_shape)}}
  %0 = "stablehlo.dynamic_iota"(%output_shape) <{iota_dimension = 1 : i64}> : (tensor<1xi64>) -> tensor<4xi32>
  return
}

// -----

func.func @C1_negative(%output_shape: tensor<1xi64>) {
  // expected-error@+1 {{(C1): 0 <= iota_dimension < size(output_shape)}}
  %0 = "stablehlo.dynamic_iota"(%output_shape) <{iota_dimension = -1 : i64}> : (tensor<1xi64>) -> tensor<4xi32>
  return
}

// -----

func.func @C2(%output_shape: tensor<1xi64>) {
  // expected-error@+1 {{(C2): rank(result) == size(output_shape)}}
  %0 = "stablehlo.dynamic_iota"(%output_shape) <{iota_dimension = 0 : i64}> : (tensor<1xi64>) -> tensor<4x4xi32>
  return
}

// -----

func.func @types(%output_shape: tensor<1xf32>, %output_shape_1: tensor<1xi64>) {
  // expected-error@+1 {{operand #0 (output_shape) must be statically shaped 1-dimensional tensor of integer or index type, but is tensor<1xf32>}}
  %0 = "stablehlo.dynamic_iota"(%output_shape) <{iota_dimension = 0 : i64}> : (tensor<1xf32>) -> tensor<4xi32>
  // expected-error@+1 {{result #0 (result) must be tensor of integer or floating-point or complex type or per-tensor quantized tensor, but is tensor<4xi1>}}
  %1 = "stablehlo.dynamic_iota"(%output_shape_1) <{iota_dimension = 0 : i64}> : (tensor<1xi64>) -> tensor<4xi1>
  // expected-error@+1 {{requires attribute 'iota_dimension'}}
  %2 = "stablehlo.dynamic_iota"(%output_shape_1) : (tensor<1xi64>) -> tensor<4xi32>
  // expected-error@+1 {{attribute 'iota_dimension' must be a 64-bit integer}}
  %3 = "stablehlo.dynamic_iota"(%output_shape_1) <{iota_dimension = "wrong"}> : (tensor<1xi64>) -> tensor<4xi32>
  return
}

// -----

func.func @shape() {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  // expected-error@+1 {{(shape): shape(result) == output_shape}}
  %0 = "stablehlo.dynamic_iota"(%s) <{iota_dimension = 0 : i64}> : (tensor<2xi64>) -> tensor<2x4xf32>
  return
}
