func.func @C1(%val: tensor<f32>) {
  // expected-error@+1 {{(C1): result == TupleType(tuple(val))}}
  %0 = "stablehlo.tuple"(%val) : (tensor<f32>) -> tuple<tensor<f64>>
  return
}

// -----

func.func @C1_size(%val: tensor<f32>) {
  // expected-error@+1 {{(C1): result == TupleType(tuple(val))}}
  %0 = "stablehlo.tuple"(%val) : (tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
  return
}

// -----

func.func @types(%val: tensor<f32>) {
  // expected-error@+1 {{result #0 (result) must be tuple, but is tensor<f32>}}
  %0 = "stablehlo.tuple"(%val) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @operand_type(%val: i32) {
  // expected-error@+1 {{operand #0 (val) must be tensor, token, tuple, buffer or future, but is i32}}
  %0 = "stablehlo.tuple"(%val) : (i32) -> tuple<i32>
  return
}
