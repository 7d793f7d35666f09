func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %index = stablehlo.constant dense<0> : tensor<2x4xi32>
  // expected-error@+1 {{(C1): 0 <= batch_dims <= rank(index)}}
  %0 = "stablehlo.torch_index_select"(%operand, %index) <{dim = 1 : i64, batch_dims = 3 : i64}> : (tensor<2x3xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %index = stablehlo.constant dense<0> : tensor<2x4xi32>
  // expected-error@+1 {{(C1): 0 <= batch_dims <= rank(index)}}
  %0 = "stablehlo.torch_index_select"(%operand, %index) <{dim = 1 : i64, batch_dims = -3 : i64}> : (tensor<2x3xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %index = stablehlo.constant dense<0> : tensor<2x4xi32>
  // expected-error@+1 {{(C2): batch_dims <= dim < rank(operand)}}
  %0 = "stablehlo.torch_index_select"(%operand, %index) <{dim = 0 : i64, batch_dims = 1 : i64}> : (tensor<2x3xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %index = stablehlo.constant dense<0> : tensor<2x4xi32>
  // expected-error@+1 {{(C2): batch_dims <= dim < rank(operand)}}
  %0 = "stablehlo.torch_index_select"(%operand, %index) <{dim = 2 : i64, batch_dims = 1 : i64}> : (tensor<2x3xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %index = stablehlo.constant dense<0> : tensor<2x4xi32>
  // expected-error@+1 {{(C2): batch_dims <= dim < rank(operand)}}
  %0 = "stablehlo.torch_index_select"(%operand, %index) <{dim = -3 : i64, batch_dims = 0 : i64}> : (tensor<2x3xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %index = stablehlo.constant dense<0> : tensor<3x4xi32>
  // expected-error@+1 {{(C3): dims(operand, range(batch_dims)) == dims(index, range(batch_dims))}}
  %0 = "stablehlo.torch_index_select"(%operand, %index) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<2x3xf32>, tensor<3x4xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %index = stablehlo.constant dense<0> : tensor<2x4xi32>
  // expected-error@+1 {{(C4): compatible(result, inferred)}}
  %0 = "stablehlo.torch_index_select"(%operand, %index) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<2x3xf32>, tensor<2x4xi32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<2x0xf32>
  %index = stablehlo.constant dense<0> : tensor<2x4xi32>
  // expected-error@+1 {{(C5): 0 < shape(operand)[dim] or size(result) == 0}}
  %0 = "stablehlo.torch_index_select"(%operand, %index) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<2x0xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @types(%operand: !stablehlo.token, %index: tensor<2x4xi32>, %operand_1: tensor<2x3xf32>, %index_1: tensor<2x4xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "stablehlo.torch_index_select"(%operand, %index) <{dim = 1 : i64, batch_dims = 1 : i64}> : (!stablehlo.token, tensor<2x4xi32>) -> tensor<2x4xf32>
  // expected-error@+1 {{operand #1 (index) must be tensor of integer type, but is tensor<2x4xf32>}}
  %1 = "stablehlo.torch_index_select"(%operand_1, %index_1) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "stablehlo.torch_index_select"(%operand_1, %index) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<2x3xf32>, tensor<2x4xi32>) -> !stablehlo.token
  // expected-error@+1 {{requires attribute 'dim'}}
  %3 = "stablehlo.torch_index_select"(%operand_1, %index) <{batch_dims = 1 : i64}> : (tensor<2x3xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  // expected-error@+1 {{attribute 'dim' must be a 64-bit integer}}
  %4 = "stablehlo.torch_index_select"(%operand_1, %index) <{dim = "wrong", batch_dims = 1 : i64}> : (tensor<2x3xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  // expected-error@+1 {{requires attribute 'batch_dims'}}
  %5 = "stablehlo.torch_index_select"(%operand_1, %index) <{dim = 1 : i64}> : (tensor<2x3xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  // expected-error@+1 {{attribute 'batch_dims' must be a 64-bit integer}}
  %6 = "stablehlo.torch_index_select"(%operand_1, %index) <{dim = 1 : i64, batch_dims = "wrong"}> : (tensor<2x3xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  return
}
