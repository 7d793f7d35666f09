func.func @C1(%inputs0: tensor<2x3xf32>, %inputs1: tensor<2x4xi32>, %init_values0: tensor<f32>, %init_values1: tensor<i32>) {
  // expected-error@+1 {{(C1): same(map(shape, inputs))}}
  %0:2 = "stablehlo.reduce"(%inputs0, %inputs1, %init_values0, %init_values1) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a0: tensor<f32>, %a1: tensor<i32>, %b0: tensor<f32>, %b1: tensor<i32>):
      stablehlo.return %a0, %a1 : tensor<f32>, tensor<i32>
  }) : (tensor<2x3xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
  return
}

// -----

func.func @C2(%inputs: tensor<2x3xf32>, %init_values: tensor<f64>) {
  // expected-error@+1 {{(C2): list(map(element_type, inputs)) == list(map(element_type, init_values))}}
  %0 = "stablehlo.reduce"(%inputs, %init_values) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f64>) -> tensor<2xf32>
  return
}

// -----

func.func @C3() {
  // expected-error@+1 {{(C3): 0 < size(inputs) == size(init_values) == size(results)}}
  "stablehlo.reduce"() <{dimensions = array<i64: 1>}> ({
    stablehlo.return
  }) : () -> ()
  return
}

// -----

func.func @C3_results(%inputs: tensor<2x3xf32>, %init_values: tensor<f32>) {
  // expected-error@+1 {{(C3): 0 < size(inputs) == size(init_values) == size(results)}}
  %0:2 = "stablehlo.reduce"(%inputs, %init_values) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C4(%inputs: tensor<2x3xf32>, %init_values: tensor<f32>) {
  // expected-error@+1 {{(C4): in_range(dimensions, rank(inputs[0]))}}
  %0 = "stablehlo.reduce"(%inputs, %init_values) <{dimensions = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @C4_negative(%inputs: tensor<2x3xf32>, %init_values: tensor<f32>) {
  // expected-error@+1 {{(C4): in_range(dimensions, rank(inputs[0]))}}
  %0 = "stablehlo.reduce"(%inputs, %init_values) <{dimensions = array<i64: -1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @C5(%inputs: tensor<2x3xf32>, %init_values: tensor<f32>) {
  // expected-error@+1 {{(C5): is_unique(dimensions)}}
  %0 = "stablehlo.reduce"(%inputs, %init_values) <{dimensions = array<i64: 1, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @C6(%inputs: tensor<2x3xf32>, %init_values: tensor<f32>) {
  // expected-error@+1 {{(C6): is_reducer(body, inputs)}}
  %0 = "stablehlo.reduce"(%inputs, %init_values) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xi32>
  return
}

// -----

func.func @C6_size(%inputs: tensor<2x3xf32>, %init_values: tensor<f32>) {
  // expected-error@+1 {{(C6): is_reducer(body, inputs)}}
  %0 = "stablehlo.reduce"(%inputs, %init_values) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @C6_promotable(%inputs: tensor<2x3xf64>, %init_values: tensor<f64>) {
  // expected-error@+1 {{(C6): is_reducer(body, inputs)}}
  %0 = "stablehlo.reduce"(%inputs, %init_values) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf32>
  return
}

// -----

func.func @C7(%inputs: tensor<2x3xf32>, %init_values: tensor<f32>) {
  // expected-error@+1 {{(C7): all(shape(t) == without(shape(inputs[0]), dimensions) for t in results)}}
  %0 = "stablehlo.reduce"(%inputs, %init_values) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @C8(%inputs: tensor<2x3xf32>, %init_values: tensor<f32>) {
  // expected-error@+1 {{(C8): list(map(element_type, results)) == list(map(element_type, body.outputs))}}
  %0 = "stablehlo.reduce"(%inputs, %init_values) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf64>
  return
}

// -----

func.func @types(%inputs: tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %init_values: tensor<f32>, %inputs_1: tensor<2x3xf32>, %init_values_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (inputs) must be tensor or per-tensor quantized tensor, but is tensor<2x3x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.reduce"(%inputs, %init_values) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<f32>) -> tensor<2xf32>
  // expected-error@+1 {{operand #1 (init_values) must be 0-dimensional tensor (I2), but is tensor<2xf32>}}
  %1 = "stablehlo.reduce"(%inputs_1, %init_values_1) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (results) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %2 = "stablehlo.reduce"(%inputs_1, %init_values) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // expected-error@+1 {{requires attribute 'dimensions'}}
  %3 = "stablehlo.reduce"(%inputs_1, %init_values) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'dimensions' must be a list of 64-bit integers}}
  %4 = "stablehlo.reduce"(%inputs_1, %init_values) <{dimensions = "wrong"}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}
