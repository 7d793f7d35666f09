func.func @C1(%operand: tensor<5xf32>, %start_indices: tensor<1xi64>, %limit_indices: tensor<1xi64>, %strides: tensor<1xi64>) {
  // expected-error@+1 {{(C1): element_type(operand) == element_type(result)}}
  %0 = "stablehlo.real_dynamic_slice"(%operand, %start_indices, %limit_indices, %strides) : (tensor<5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf64>
  return
}

// -----

func.func @C2(%operand: tensor<5xf32>, %start_indices: tensor<2xi64>, %limit_indices: tensor<1xi64>, %strides: tensor<1xi64>) {
  // expected-error@+1 {{(C2): size(start_indices) == size(limit_indices) == size(strides) == rank(operand)}}
  %0 = "stablehlo.real_dynamic_slice"(%operand, %start_indices, %limit_indices, %strides) : (tensor<5xf32>, tensor<2xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @C2_limit_indices(%operand: tensor<5xf32>, %start_indices: tensor<1xi64>, %limit_indices: tensor<0xi64>, %strides: tensor<1xi64>) {
  // expected-error@+1 {{(C2): size(start_indices) == size(limit_indices) == size(strides) == rank(operand)}}
  %0 = "stablehlo.real_dynamic_slice"(%operand, %start_indices, %limit_indices, %strides) : (tensor<5xf32>, tensor<1xi64>, tensor<0xi64>, tensor<1xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @C2_strides(%operand: tensor<5xf32>, %start_indices: tensor<1xi64>, %limit_indices: tensor<1xi64>, %strides: tensor<2xi64>) {
  // expected-error@+1 {{(C2): size(start_indices) == size(limit_indices) == size(strides) == rank(operand)}}
  %0 = "stablehlo.real_dynamic_slice"(%operand, %start_indices, %limit_indices, %strides) : (tensor<5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @C3_negative(%operand: tensor<5xf32>) {
  %start_indices = stablehlo.constant dense<[-1]> : tensor<1xi64>
  %limit_indices = stablehlo.constant dense<[3]> : tensor<1xi64>
  %strides = stablehlo.constant dense<[2]> : tensor<1xi64>
  // expected-error@+1 {{(C3): all(0 <= start <= limit <= n for start, limit, n in zip(start_indices, limit_indices, most(operand)))}}
  %0 = "stablehlo.real_dynamic_slice"(%operand, %start_indices, %limit_indices, %strides) : (tensor<5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<5xf32>
  %start_indices_0 = stablehlo.constant dense<[-1]> : tensor<1xi64>
  %start_indices = stablehlo.optimization_barrier %start_indices_0 : tensor<1xi64>
  %limit_indices_0 = stablehlo.constant dense<[3]> : tensor<1xi64>
  %limit_indices = stablehlo.optimization_barrier %limit_indices_0 : tensor<1xi64>
  %strides_0 = stablehlo.constant dense<[2]> : tensor<1xi64>
  %strides = stablehlo.optimization_barrier %strides_0 : tensor<1xi64>
  // expected-error@+1 {{(C3): all(0 <= start <= limit <= n for start, limit, n in zip(start_indices, limit_indices, most(operand)))}}
  %0 = "stablehlo.real_dynamic_slice"(%operand, %start_indices, %limit_indices, %strides) : (tensor<5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @C3_order(%operand: tensor<5xf32>) {
  %start_indices = stablehlo.constant dense<[4]> : tensor<1xi64>
  %limit_indices = stablehlo.constant dense<[3]> : tensor<1xi64>
  %strides = stablehlo.constant dense<[1]> : tensor<1xi64>
  // expected-error@+1 {{(C3): all(0 <= start <= limit <= n for start, limit, n in zip(start_indices, limit_indices, most(operand)))}}
  %0 = "stablehlo.real_dynamic_slice"(%operand, %start_indices, %limit_indices, %strides) : (tensor<5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<5xf32>
  %start_indices_0 = stablehlo.constant dense<[4]> : tensor<1xi64>
  %start_indices = stablehlo.optimization_barrier %start_indices_0 : tensor<1xi64>
  %limit_indices_0 = stablehlo.constant dense<[3]> : tensor<1xi64>
  %limit_indices = stablehlo.optimization_barrier %limit_indices_0 : tensor<1xi64>
  %strides_0 = stablehlo.constant dense<[1]> : tensor<1xi64>
  %strides = stablehlo.optimization_barrier %strides_0 : tensor<1xi64>
  // expected-error@+1 {{(C3): all(0 <= start <= limit <= n for start, limit, n in zip(start_indices, limit_indices, most(operand)))}}
  %0 = "stablehlo.real_dynamic_slice"(%operand, %start_indices, %limit_indices, %strides) : (tensor<5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @C3_beyond(%operand: tensor<5xf32>) {
  %start_indices = stablehlo.constant dense<[0]> : tensor<1xi64>
  %limit_indices = stablehlo.constant dense<[6]> : tensor<1xi64>
  %strides = stablehlo.constant dense<[1]> : tensor<1xi64>
  // expected-error@+1 {{(C3): all(0 <= start <= limit <= n for start, limit, n in zip(start_indices, limit_indices, most(operand)))}}
  %0 = "stablehlo.real_dynamic_slice"(%operand, %start_indices, %limit_indices, %strides) : (tensor<5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<5xf32>
  %start_indices_0 = stablehlo.constant dense<[0]> : tensor<1xi64>
  %start_indices = stablehlo.optimization_barrier %start_indices_0 : tensor<1xi64>
  %limit_indices_0 = stablehlo.constant dense<[6]> : tensor<1xi64>
  %limit_indices = stablehlo.optimization_barrier %limit_indices_0 : tensor<1xi64>
  %strides_0 = stablehlo.constant dense<[1]> : tensor<1xi64>
  %strides = stablehlo.optimization_barrier %strides_0 : tensor<1xi64>
  // expected-error@+1 {{(C3): all(0 <= start <= limit <= n for start, limit, n in zip(start_indices, limit_indices, most(operand)))}}
  %0 = "stablehlo.real_dynamic_slice"(%operand, %start_indices, %limit_indices, %strides) : (tensor<5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @C4(%operand: tensor<5xf32>) {
  %start_indices = stablehlo.constant dense<[0]> : tensor<1xi64>
  %limit_indices = stablehlo.constant dense<[3]> : tensor<1xi64>
  %strides = stablehlo.constant dense<[0]> : tensor<1xi64>
  // expected-error@+1 {{(C4): all(0 < step for step in strides)}}
  %0 = "stablehlo.real_dynamic_slice"(%operand, %start_indices, %limit_indices, %strides) : (tensor<5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<5xf32>
  %start_indices_0 = stablehlo.constant dense<[0]> : tensor<1xi64>
  %start_indices = stablehlo.optimization_barrier %start_indices_0 : tensor<1xi64>
  %limit_indices_0 = stablehlo.constant dense<[3]> : tensor<1xi64>
  %limit_indices = stablehlo.optimization_barrier %limit_indices_0 : tensor<1xi64>
  %strides_0 = stablehlo.constant dense<[0]> : tensor<1xi64>
  %strides = stablehlo.optimization_barrier %strides_0 : tensor<1xi64>
  // expected-error@+1 {{(C4): all(0 < step for step in strides)}}
  %0 = "stablehlo.real_dynamic_slice"(%operand, %start_indices, %limit_indices, %strides) : (tensor<5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @C5(%operand: tensor<5xf32>, %start_indices: tensor<1xi64>, %limit_indices: tensor<1xi64>, %strides: tensor<1xi64>) {
  // expected-error@+1 {{(C5): shape(result) == shape(infer())}}
  %0 = "stablehlo.real_dynamic_slice"(%operand, %start_indices, %limit_indices, %strides) : (tensor<5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x1xf32>
  return
}

// -----

func.func @types(%operand: tensor<5x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0, 5.0}>>, %start_indices: tensor<1xi64>, %limit_indices: tensor<1xi64>, %strides: tensor<1xi64>, %operand_1: tensor<5xf32>, %start_indices_1: tensor<1xf32>, %limit_indices_1: tensor<1xf32>, %strides_1: tensor<1xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or per-tensor quantized tensor, but is tensor<5x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00,4.000000e+00,5.000000e+00}>>}}
  %0 = "stablehlo.real_dynamic_slice"(%operand, %start_indices, %limit_indices, %strides) : (tensor<5x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0, 5.0}>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  // expected-error@+1 {{operand #1 (start_indices) must be 1-dimensional tensor of integer or index type, but is tensor<1xf32>}}
  %1 = "stablehlo.real_dynamic_slice"(%operand_1, %start_indices_1, %limit_indices, %strides) : (tensor<5xf32>, tensor<1xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  // expected-error@+1 {{operand #2 (limit_indices) must be 1-dimensional tensor of integer or index type, but is tensor<1xf32>}}
  %2 = "stablehlo.real_dynamic_slice"(%operand_1, %start_indices, %limit_indices_1, %strides) : (tensor<5xf32>, tensor<1xi64>, tensor<1xf32>, tensor<1xi64>) -> tensor<2xf32>
  // expected-error@+1 {{operand #3 (strides) must be 1-dimensional tensor of integer or index type, but is tensor<1xf32>}}
  %3 = "stablehlo.real_dynamic_slice"(%operand_1, %start_indices, %limit_indices, %strides_1) : (tensor<5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xf32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %4 = "stablehlo.real_dynamic_slice"(%operand_1, %start_indices, %limit_indices, %strides) : (tensor<5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}
