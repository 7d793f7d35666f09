func.func @C1(%operand: tensor<3x4xf32>, %size: tensor<i32>) {
  // expected-error@+1 {{(C1): 0 <= dimension < rank(operand)}}
  %0 = "stablehlo.set_dimension_size"(%operand, %size) <{dimension = 2 : i64}> : (tensor<3x4xf32>, tensor<i32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @C1_negative(%operand: tensor<3x4xf32>, %size: tensor<i32>) {
  // expected-error@+1 {{(C1): 0 <= dimension < rank(operand)}}
  %0 = "stablehlo.set_dimension_size"(%operand, %size) <{dimension = -1 : i64}> : (tensor<3x4xf32>, tensor<i32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @C2_beyond(%operand: tensor<3x4xf32>) {
  %size = stablehlo.constant dense<5> : tensor<i32>
  // expected-error@+1 {{(C2): 0 <= cut <= dim(operand, dimension)}}
  %0 = "stablehlo.set_dimension_size"(%operand, %size) <{dimension = 1 : i64}> : (tensor<3x4xf32>, tensor<i32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  %size_0 = stablehlo.constant dense<5> : tensor<i32>
  %size = stablehlo.optimization_barrier %size_0 : tensor<i32>
  // expected-error@+1 {{(C2): 0 <= cut <= dim(operand, dimension)}}
  %0 = "stablehlo.set_dimension_size"(%operand, %size) <{dimension = 1 : i64}> : (tensor<3x4xf32>, tensor<i32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @C2_negative(%operand: tensor<3x4xf32>) {
  %size = stablehlo.constant dense<-1> : tensor<i32>
  // expected-error@+1 {{(C2): 0 <= cut <= dim(operand, dimension)}}
  %0 = "stablehlo.set_dimension_size"(%operand, %size) <{dimension = 1 : i64}> : (tensor<3x4xf32>, tensor<i32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  %size_0 = stablehlo.constant dense<-1> : tensor<i32>
  %size = stablehlo.optimization_barrier %size_0 : tensor<i32>
  // expected-error@+1 {{(C2): 0 <= cut <= dim(operand, dimension)}}
  %0 = "stablehlo.set_dimension_size"(%operand, %size) <{dimension = 1 : i64}> : (tensor<3x4xf32>, tensor<i32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @types(%operand: !stablehlo.token, %size: tensor<i32>, %operand_1: tensor<3x4xf32>, %size_1: tensor<f32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "stablehlo.set_dimension_size"(%operand, %size) <{dimension = 1 : i64}> : (!stablehlo.token, tensor<i32>) -> tensor<3x?xf32>
  // expected-error@+1 {{operand #1 (size) must be 0-dimensional tensor of type si32, but is tensor<f32>}}
  %1 = "stablehlo.set_dimension_size"(%operand_1, %size_1) <{dimension = 1 : i64}> : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x?xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "stablehlo.set_dimension_size"(%operand_1, %size) <{dimension = 1 : i64}> : (tensor<3x4xf32>, tensor<i32>) -> !stablehlo.token
  // expected-error@+1 {{requires attribute 'dimension'}}
  %3 = "stablehlo.set_dimension_size"(%operand_1, %size) : (tensor<3x4xf32>, tensor<i32>) -> tensor<3x?xf32>
  // expected-error@+1 {{attribute 'dimension' must be a 64-bit integer}}
  %4 = "stablehlo.set_dimension_size"(%operand_1, %size) <{dimension = "wrong"}> : (tensor<3x4xf32>, tensor<i32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @C3(%operand: tensor<3x4xf32>, %size: tensor<i32>) {
  // expected-error@+1 {{(C3): without(shape(result), [dimension]) == without(shape(operand), [dimension])}}
  %0 = "stablehlo.set_dimension_size"(%operand, %size) <{dimension = 1 : i64}> : (tensor<3x4xf32>, tensor<i32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @C3_rank(%operand: tensor<3x4xf32>, %size: tensor<i32>) {
  // expected-error@+1 {{(C3): without(shape(result), [dimension]) == without(shape(operand), [dimension])}}
  %0 = "stablehlo.set_dimension_size"(%operand, %size) <{dimension = 1 : i64}> : (tensor<3x4xf32>, tensor<i32>) -> tensor<3x?x1xf32>
  return
}

// -----

func.func @C4(%operand: tensor<3x4xf32>, %size: tensor<i32>) {
  // expected-error@+1 {{(C4): element_type(result) == element_type(operand)}}
  %0 = "stablehlo.set_dimension_size"(%operand, %size) <{dimension = 1 : i64}> : (tensor<3x4xf32>, tensor<i32>) -> tensor<3x?xf64>
  return
}
