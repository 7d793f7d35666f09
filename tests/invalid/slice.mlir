func.func @C1(%operand: tensor<5xf32>) {
  // expected-error@+1 {{(C1): element_type(operand) == element_type(result)}}
  %0 = "stablehlo.slice"(%operand) <{start_indices = array<i64: 1>, limit_indices = array<i64: 4>, strides = array<i64: 2>}> : (tensor<5xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @C2(%operand: tensor<5xf32>) {
  // expected-error@+1 {{(C2): size(start_indices) == size(limit_indices) == size(strides) == rank(operand)}}
  %0 = "stablehlo.slice"(%operand) <{start_indices = array<i64: 1, 0>, limit_indices = array<i64: 4>, strides = array<i64: 2>}> : (tensor<5xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C2_limit_indices(%operand: tensor<5xf32>) {
  // expected-error@+1 {{(C2): size(start_indices) == size(limit_indices) == size(strides) == rank(operand)}}
  %0 = "stablehlo.slice"(%operand) <{start_indices = array<i64: 1>, limit_indices = array<i64>, strides = array<i64: 2>}> : (tensor<5xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C2_strides(%operand: tensor<5xf32>) {
  // expected-error@+1 {{(C2): size(start_indices) == size(limit_indices) == size(strides) == rank(operand)}}
  %0 = "stablehlo.slice"(%operand) <{start_indices = array<i64: 1>, limit_indices = array<i64: 4>, strides = array<i64: 2, 1>}> : (tensor<5xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C3_negative(%operand: tensor<5xf32>) {
  // expected-error@+1 {{(C3): all(0 <= start <= limit <= n for start, limit, n in zip(start_indices, limit_indices, most(operand)))}}
  %0 = "stablehlo.slice"(%operand) <{start_indices = array<i64: -1>, limit_indices = array<i64: 4>, strides = array<i64: 3>}> : (tensor<5xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C3_order(%operand: tensor<5xf32>) {
  // expected-error@+1 {{(C3): all(0 <= start <= limit <= n for start, limit, n in zip(start_indices, limit_indices, most(operand)))}}
  %0 = "stablehlo.slice"(%operand) <{start_indices = array<i64: 5>, limit_indices = array<i64: 4>, strides = array<i64: 2>}> : (tensor<5xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @C3_beyond(%operand: tensor<5xf32>) {
  // expected-error@+1 {{(C3): all(0 <= start <= limit <= n for start, limit, n in zip(start_indices, limit_indices, most(operand)))}}
  %0 = "stablehlo.slice"(%operand) <{start_indices = array<i64: 1>, limit_indices = array<i64: 6>, strides = array<i64: 2>}> : (tensor<5xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @C4(%operand: tensor<5xf32>) {
  // expected-error@+1 {{(C4): all(0 < step for step in strides)}}
  %0 = "stablehlo.slice"(%operand) <{start_indices = array<i64: 1>, limit_indices = array<i64: 4>, strides = array<i64: 0>}> : (tensor<5xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C5(%operand: tensor<5xf32>) {
  // expected-error@+1 {{(C5): shape(result) == shape(infer())}}
  %0 = "stablehlo.slice"(%operand) <{start_indices = array<i64: 1>, limit_indices = array<i64: 4>, strides = array<i64: 2>}> : (tensor<5xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @types(%operand: tensor<5x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0, 5.0}>>, %operand_1: tensor<5xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or per-tensor quantized tensor, but is tensor<5x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00,4.000000e+00,5.000000e+00}>>}}
  %0 = "stablehlo.slice"(%operand) <{start_indices = array<i64: 1>, limit_indices = array<i64: 4>, strides = array<i64: 2>}> : (tensor<5x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0, 5.0}>>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %1 = "stablehlo.slice"(%operand_1) <{start_indices = array<i64: 1>, limit_indices = array<i64: 4>, strides = array<i64: 2>}> : (tensor<5xf32>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // expected-error@+1 {{requires attribute 'start_indices'}}
  %2 = "stablehlo.slice"(%operand_1) <{limit_indices = array<i64: 4>, strides = array<i64: 2>}> : (tensor<5xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'start_indices' must be a list of 64-bit integers}}
  %3 = "stablehlo.slice"(%operand_1) <{start_indices = "wrong", limit_indices = array<i64: 4>, strides = array<i64: 2>}> : (tensor<5xf32>) -> tensor<2xf32>
  // expected-error@+1 {{requires attribute 'limit_indices'}}
  %4 = "stablehlo.slice"(%operand_1) <{start_indices = array<i64: 1>, strides = array<i64: 2>}> : (tensor<5xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'limit_indices' must be a list of 64-bit integers}}
  %5 = "stablehlo.slice"(%operand_1) <{start_indices = array<i64: 1>, limit_indices = "wrong", strides = array<i64: 2>}> : (tensor<5xf32>) -> tensor<2xf32>
  // expected-error@+1 {{requires attribute 'strides'}}
  %6 = "stablehlo.slice"(%operand_1) <{start_indices = array<i64: 1>, limit_indices = array<i64: 4>}> : (tensor<5xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'strides' must be a list of 64-bit integers}}
  %7 = "stablehlo.slice"(%operand_1) <{start_indices = array<i64: 1>, limit_indices = array<i64: 4>, strides = "wrong"}> : (tensor<5xf32>) -> tensor<2xf32>
  return
}
