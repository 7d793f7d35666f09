func.func @C1(%operand: tuple<tensor<f32>>) {
  // expected-error@+1 {{(C1): 0 <= index < size(operand.elements)}}
  %0 = "stablehlo.get_tuple_element"(%operand) <{index = 1 : i32}> : (tuple<tensor<f32>>) -> tensor<f32>
  return
}

// -----

func.func @C1_negative(%operand: tuple<tensor<f32>>) {
  // expected-error@+1 {{(C1): 0 <= index < size(operand.elements)}}
  %0 = "stablehlo.get_tuple_element"(%operand) <{index = -1 : i32}> : (tuple<tensor<f32>>) -> tensor<f32>
  return
}

// -----

func.func @C2(%operand: tuple<tensor<f32>>) {
  // expected-error@+1 {{(C2): result == operand.elements[index]}}
  %0 = "stablehlo.get_tuple_element"(%operand) <{index = 0 : i32}> : (tuple<tensor<f32>>) -> tensor<f64>
  return
}

// -----

func.func @types(%operand: tensor<f32>, %operand_1: tuple<tensor<f32>>) {
  // expected-error@+1 {{operand #0 (operand) must be tuple, but is tensor<f32>}}
  %0 = "stablehlo.get_tuple_element"(%operand) <{index = 0 : i32}> : (tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{requires attribute 'index'}}
  %1 = "stablehlo.get_tuple_element"(%operand_1) : (tuple<tensor<f32>>) -> tensor<f32>
  // expected-error@+1 {{attribute 'index' must be a 32-bit integer}}
  %2 = "stablehlo.get_tuple_element"(%operand_1) <{index = "wrong"}> : (tuple<tensor<f32>>) -> tensor<f32>
  return
}

// -----

func.func @result_type(%operand: tuple<i32>) {
  // expected-error@+1 {{result #0 (result) must be tensor, token, tuple, buffer or future, but is i32}}
  %0 = "stablehlo.get_tuple_element"(%operand) <{index = 0 : i32}> : (tuple<i32>) -> i32
  return
}
