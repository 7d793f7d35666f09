func.func @C1(%operand: tensor<3xf32>) {
  // expected-error@+1 {{(C1): all(0 <= n for n in broadcast_sizes)}}
  %0 = "stablehlo.broadcast"(%operand) <{broadcast_sizes = array<i64: -1>}> : (tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @C2(%operand: tensor<3xf32>) {
  // expected-error@+1 {{(C2): compatible(result, infer())}}
  %0 = "stablehlo.broadcast"(%operand) <{broadcast_sizes = array<i64: 2>}> : (tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @C2_element_type(%operand: tensor<3xf32>) {
  // expected-error@+1 {{(C2): compatible(result, infer())}}
  %0 = "stablehlo.broadcast"(%operand) <{broadcast_sizes = array<i64: 2>}> : (tensor<3xf32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @types(%operand: !stablehlo.token, %operand_1: tensor<3xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "stablehlo.broadcast"(%operand) <{broadcast_sizes = array<i64: 2>}> : (!stablehlo.token) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "stablehlo.broadcast"(%operand_1) <{broadcast_sizes = array<i64: 2>}> : (tensor<3xf32>) -> !stablehlo.token
  // expected-error@+1 {{requires attribute 'broadcast_sizes'}}
  %2 = "stablehlo.broadcast"(%operand_1) : (tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{attribute 'broadcast_sizes' must be a list of 64-bit integers}}
  %3 = "stablehlo.broadcast"(%operand_1) <{broadcast_sizes = "wrong"}> : (tensor<3xf32>) -> tensor<2x3xf32>
  return
}
