func.func @C1(%operand: tensor<3x4xf32>) {
  // expected-error@+1 {{(C1): 0 <= dimension < rank(operand)}}
  %0 = "stablehlo.get_dimension_size"(%operand) <{dimension = 2 : i64}> : (tensor<3x4xf32>) -> tensor<i32>
  return
}

// -----

func.func @C1_negative(%operand: tensor<3x4xf32>) {
  // expected-error@+1 {{(C1): 0 <= dimension < rank(operand)}}
  %0 = "stablehlo.get_dimension_size"(%operand) <{dimension = -1 : i64}> : (tensor<3x4xf32>) -> tensor<i32>
  return
}

// -----

func.func @types(%operand: !stablehlo.token, %operand_1: tensor<3x4xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "stablehlo.get_dimension_size"(%operand) <{dimension = 1 : i64}> : (!stablehlo.token) -> tensor<i32>
  // expected-error@+1 {{result #0 (result) must be 0-dimensional tensor of type si32, but is tensor<i64>}}
  %1 = "stablehlo.get_dimension_size"(%operand_1) <{dimension = 1 : i64}> : (tensor<3x4xf32>) -> tensor<i64>
  // expected-error@+1 {{requires attribute 'dimension'}}
  %2 = "stablehlo.get_dimension_size"(%operand_1) : (tensor<3x4xf32>) -> tensor<i32>
  // expected-error@+1 {{attribute 'dimension' must be a 64-bit integer}}
  %3 = "stablehlo.get_dimension_size"(%operand_1) <{dimension = "wrong"}> : (tensor<3x4xf32>) -> tensor<i32>
  return
}
