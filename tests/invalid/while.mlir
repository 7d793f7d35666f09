func.func @C1(%operand: tensor<f32>) {
  // expected-error@+1 {{(C1): all_compatible(cond.inputs, operand) and cond.outputs == (scalar(BOOLEAN),)}}
  %0 = "stablehlo.while"(%operand) ({
    ^bb0(%a: tensor<f64>):
      %p = stablehlo.constant dense<false> : tensor<i1>
      stablehlo.return %p : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @C1_result(%operand: tensor<f32>) {
  // expected-error@+1 {{(C1): all_compatible(cond.inputs, operand) and cond.outputs == (scalar(BOOLEAN),)}}
  %0 = "stablehlo.while"(%operand) ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }, {
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @C1_no_result(%operand: tensor<f32>) {
  // expected-error@+1 {{(C1): all_compatible(cond.inputs, operand) and cond.outputs == (scalar(BOOLEAN),)}}
  %0 = "stablehlo.while"(%operand) ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return
  }, {
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @C2(%operand: tensor<f32>) {
  // expected-error@+1 {{(C2): all_compatible(body.inputs, operand) and all_compatible(body.outputs, operand)}}
  %0 = "stablehlo.while"(%operand) ({
    ^bb0(%a: tensor<f32>):
      %p = stablehlo.constant dense<false> : tensor<i1>
      stablehlo.return %p : tensor<i1>
  }, {
    ^bb0(%a: tensor<f64>):
      stablehlo.return %a : tensor<f64>
  }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @C2_size(%operand: tensor<f32>) {
  // expected-error@+1 {{(C2): all_compatible(body.inputs, operand) and all_compatible(body.outputs, operand)}}
  %0 = "stablehlo.while"(%operand) ({
    ^bb0(%a: tensor<f32>):
      %p = stablehlo.constant dense<false> : tensor<i1>
      stablehlo.return %p : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a, %a : tensor<f32>, tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @C3(%operand: tensor<f32>) {
  // expected-error@+1 {{(C3): all_compatible(results, operand)}}
  %0 = "stablehlo.while"(%operand) ({
    ^bb0(%a: tensor<f32>):
      %p = stablehlo.constant dense<false> : tensor<i1>
      stablehlo.return %p : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }) : (tensor<f32>) -> tensor<f64>
  return
}

// -----

func.func @types(%operand: i32, %p: tensor<i1>, %x: tensor<f32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor, token or buffer, but is i32}}
  %0 = "stablehlo.while"(%operand) ({
    ^bb0(%a: i32):
      stablehlo.return %p : tensor<i1>
  }, {
    ^bb0(%a: i32):
      // expected-error@+1 {{operand #0 (results) must be tensor, token or buffer, but is i32}}
      stablehlo.return %a : i32
  }) : (i32) -> i32
  // expected-error@+1 {{result #0 (results) must be tensor, token or buffer, but is i32}}
  %1 = "stablehlo.while"(%x) ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %p : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }) : (tensor<f32>) -> i32
  return
}
