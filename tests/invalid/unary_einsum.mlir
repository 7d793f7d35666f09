func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C1): re.fullmatch(r"\w*(\.{3})?\w*->\w*(\.{3})?\w*", einsum_config)}}
  %0 = "stablehlo.unary_einsum"(%operand) <{einsum_config = "ij"}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C2): size(names) == rank(operand)}}
  %0 = "stablehlo.unary_einsum"(%operand) <{einsum_config = "i->i"}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C3): is_unique([*kept]) and set(kept) <= set(names)}}
  %0 = "stablehlo.unary_einsum"(%operand) <{einsum_config = "ij->jk"}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C3): is_unique([*kept]) and set(kept) <= set(names)}}
  %0 = "stablehlo.unary_einsum"(%operand) <{einsum_config = "ij->jj"}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C4): same_sizes(names, shape(operand))}}
  %0 = "stablehlo.unary_einsum"(%operand) <{einsum_config = "ii->i"}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C5): compatible(result, UnaryEinsum.infer(operand, einsum_config))}}
  %0 = "stablehlo.unary_einsum"(%operand) <{einsum_config = "ij->ji"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C5): compatible(result, UnaryEinsum.infer(operand, einsum_config))}}
  %0 = "stablehlo.unary_einsum"(%operand) <{einsum_config = "ij->ji"}> : (tensor<2x3xf32>) -> tensor<3x2xf64>
  return
}

// -----

func.func @types(%operand: tensor<2x3x!quant.uniform<i8:f32, 1.0>>, %operand_1: tensor<2x3xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor, but is tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %0 = "stablehlo.unary_einsum"(%operand) <{einsum_config = "ij->ji"}> : (tensor<2x3x!quant.uniform<i8:f32, 1.0>>) -> tensor<3x2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor, but is tensor<3x2x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %1 = "stablehlo.unary_einsum"(%operand_1) <{einsum_config = "ij->ji"}> : (tensor<2x3xf32>) -> tensor<3x2x!quant.uniform<i8:f32, 1.0>>
  // expected-error@+1 {{requires attribute 'einsum_config'}}
  %2 = "stablehlo.unary_einsum"(%operand_1) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // expected-error@+1 {{attribute 'einsum_config' must be a string}}
  %3 = "stablehlo.unary_einsum"(%operand_1) <{einsum_config = 1 : i64}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
