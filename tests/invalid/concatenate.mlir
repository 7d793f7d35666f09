func.func @C1(%inputs0: tensor<3x2xf32>, %inputs1: tensor<1x2xf64>) {
  // expected-error@+1 {{(C1): same(map(element_type, inputs))}}
  %0 = "stablehlo.concatenate"(%inputs0, %inputs1) <{dimension = 0 : i64}> : (tensor<3x2xf32>, tensor<1x2xf64>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C2(%inputs0: tensor<3x2xf32>, %inputs1: tensor<1x3xf32>) {
  // expected-error@+1 {{(C2): same(map(rank, inputs)) and same(without(shape(x), [dimension]) for x in inputs)}}
  %0 = "stablehlo.concatenate"(%inputs0, %inputs1) <{dimension = 0 : i64}> : (tensor<3x2xf32>, tensor<1x3xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C2_rank(%inputs0: tensor<3x2xf32>, %inputs1: tensor<1xf32>) {
  // expected-error@+1 {{(C2): same(map(rank, inputs)) and same(without(shape(x), [dimension]) for x in inputs)}}
  %0 = "stablehlo.concatenate"(%inputs0, %inputs1) <{dimension = 0 : i64}> : (tensor<3x2xf32>, tensor<1xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C3() {
  // expected-error@+1 {{(C3): 0 < size(inputs)}}
  %0 = "stablehlo.concatenate"() <{dimension = 0 : i64}> : () -> tensor<4x2xf32>
  return
}

// -----

func.func @C4(%inputs0: tensor<3x2xf32>, %inputs1: tensor<1x2xf32>) {
  // expected-error@+1 {{(C4): 0 <= dimension < rank(inputs[0])}}
  %0 = "stablehlo.concatenate"(%inputs0, %inputs1) <{dimension = 2 : i64}> : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C4_negative(%inputs0: tensor<3x2xf32>, %inputs1: tensor<1x2xf32>) {
  // expected-error@+1 {{(C4): 0 <= dimension < rank(inputs[0])}}
  %0 = "stablehlo.concatenate"(%inputs0, %inputs1) <{dimension = -1 : i64}> : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C5(%inputs0: tensor<3x2xf32>, %inputs1: tensor<1x2xf32>) {
  // expected-error@+1 {{(C5): element_type(result) == element_type(inputs[0])}}
  %0 = "stablehlo.concatenate"(%inputs0, %inputs1) <{dimension = 0 : i64}> : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf64>
  return
}

// -----

func.func @C6(%inputs0: tensor<3x2xf32>, %inputs1: tensor<1x2xf32>) {
  // expected-error@+1 {{(C6): shape(result) == shape(infer())}}
  %0 = "stablehlo.concatenate"(%inputs0, %inputs1) <{dimension = 0 : i64}> : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<5x2xf32>
  return
}

// -----

func.func @types(%inputs0: tensor<3x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>, %inputs1: tensor<1x2xf32>, %inputs0_1: tensor<3x2xf32>) {
  // expected-error@+1 {{operand #0 (inputs) must be tensor or per-tensor quantized tensor, but is tensor<3x2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00}>>}}
  %0 = "stablehlo.concatenate"(%inputs0, %inputs1) <{dimension = 0 : i64}> : (tensor<3x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>, tensor<1x2xf32>) -> tensor<4x2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<4x2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00,4.000000e+00}>>}}
  %1 = "stablehlo.concatenate"(%inputs0_1, %inputs1) <{dimension = 0 : i64}> : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<4x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0}>>
  // expected-error@+1 {{requires attribute 'dimension'}}
  %2 = "stablehlo.concatenate"(%inputs0_1, %inputs1) : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  // expected-error@+1 {{attribute 'dimension' must be a 64-bit integer}}
  %3 = "stablehlo.concatenate"(%inputs0_1, %inputs1) <{dimension = "wrong"}> : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @width(%x: tensor<2xf32>) {
  // expected-error@+1 {{attribute 'dimension' must be a 64-bit integer}}
  %0 = "stablehlo.concatenate"(%x) <{dimension = 0 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
