func.func @C1() {
  // expected-error@+1 {{(C1): 0 < size(inputs) == size(init_values) == size(results)}}
  "stablehlo.reduce_window"() <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    stablehlo.return
  }) : () -> ()
  return
}

// -----

func.func @C1_results(%inputs: tensor<3x2xi32>, %init_values: tensor<i32>) {
  // expected-error@+1 {{(C1): 0 < size(inputs) == size(init_values) == size(results)}}
  %0:2 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> (tensor<2x2xi32>, tensor<2x2xi32>)
  return
}

// -----

func.func @C2(%inputs0: tensor<3x2xf32>, %inputs1: tensor<3x3xi32>, %init_values0: tensor<f32>, %init_values1: tensor<i32>) {
  // expected-error@+1 {{(C2): same(map(shape, inputs))}}
  %0:2 = "stablehlo.reduce_window"(%inputs0, %inputs1, %init_values0, %init_values1) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a0: tensor<f32>, %a1: tensor<i32>, %b0: tensor<f32>, %b1: tensor<i32>):
      stablehlo.return %a0, %a1 : tensor<f32>, tensor<i32>
  }) : (tensor<3x2xf32>, tensor<3x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  return
}

// -----

func.func @C3(%inputs: tensor<3x2xi32>, %init_values: tensor<i64>) {
  // expected-error@+1 {{(C3): list(map(element_type, inputs)) == list(map(element_type, init_values))}}
  %0 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i64>) -> tensor<2x2xi32>
  return
}

// -----

func.func @C4(%inputs: tensor<3x2xi32>, %init_values: tensor<i32>) {
  // expected-error@+1 {{(C4): size(window_dimensions) == rank(inputs[0])}}
  %0 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @C5(%inputs: tensor<3x2xi32>, %init_values: tensor<i32>) {
  // expected-error@+1 {{(C5): all(0 < n for n in window_dimensions)}}
  %0 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2, 0>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @C6(%inputs: tensor<3x2xi32>, %init_values: tensor<i32>) {
  // expected-error@+1 {{(C6): window_strides is None or size(window_strides) == rank(inputs[0])}}
  %0 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @C7(%inputs: tensor<3x2xi32>, %init_values: tensor<i32>) {
  // expected-error@+1 {{(C7): window_strides is None or all(0 < n for n in window_strides)}}
  %0 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 0>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @C8(%inputs: tensor<3x2xi32>, %init_values: tensor<i32>) {
  // expected-error@+1 {{(C8): base_dilations is None or size(base_dilations) == rank(inputs[0])}}
  %0 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @C9(%inputs: tensor<3x2xi32>, %init_values: tensor<i32>) {
  // expected-error@+1 {{(C9): base_dilations is None or all(0 < n for n in base_dilations)}}
  %0 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 0>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @C10(%inputs: tensor<3x2xi32>, %init_values: tensor<i32>) {
  // expected-error@+1 {{(C10): window_dilations is None or size(window_dilations) == rank(inputs[0])}}
  %0 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @C11(%inputs: tensor<3x2xi32>, %init_values: tensor<i32>) {
  // expected-error@+1 {{(C11): window_dilations is None or all(0 < n for n in window_dilations)}}
  %0 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 0>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @C12(%inputs: tensor<3x2xi32>, %init_values: tensor<i32>) {
  // expected-error@+1 {{(C12): padding is None or (size(padding) == rank(inputs[0]) and all(size(p) == 2 for p in padding))}}
  %0 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @C12_columns(%inputs: tensor<3x2xi32>, %init_values: tensor<i32>) {
  // expected-error@+1 {{(C12): padding is None or (size(padding) == rank(inputs[0]) and all(size(p) == 2 for p in padding))}}
  %0 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2], [0]]> : tensor<2x1xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @C13(%inputs: tensor<3x2xi32>, %init_values: tensor<i32>) {
  // expected-error@+1 {{(C13): is_reducer(body, inputs)}}
  %0 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @C14(%inputs0: tensor<3x2xf32>, %inputs1: tensor<3x2xi32>, %init_values0: tensor<f32>, %init_values1: tensor<i32>) {
  // expected-error@+1 {{(C14): same(map(shape, results))}}
  %0:2 = "stablehlo.reduce_window"(%inputs0, %inputs1, %init_values0, %init_values1) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a0: tensor<f32>, %a1: tensor<i32>, %b0: tensor<f32>, %b1: tensor<i32>):
      stablehlo.return %a0, %a1 : tensor<f32>, tensor<i32>
  }) : (tensor<3x2xf32>, tensor<3x2xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x3xi32>)
  return
}

// -----

func.func @C15(%inputs: tensor<3x2xi32>, %init_values: tensor<i32>) {
  // expected-error@+1 {{(C15): shape(results[0]) == shape(infer()[0])}}
  %0 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<3x2xi32>
  return
}

// -----

func.func @C16(%inputs: tensor<3x2xi32>, %init_values: tensor<i32>) {
  // expected-error@+1 {{(C16): list(map(element_type, results)) == list(map(element_type, body.outputs))}}
  %0 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi64>
  return
}

// -----

func.func @types(%inputs: tensor<3x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>, %init_values: tensor<i32>, %inputs_1: tensor<3x2xi32>, %init_values_1: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 (inputs) must be tensor or per-tensor quantized tensor, but is tensor<3x2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00}>>}}
  %0 = "stablehlo.reduce_window"(%inputs, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>, tensor<i32>) -> tensor<2x2xi32>
  // expected-error@+1 {{operand #1 (init_values) must be 0-dimensional tensor (I2), but is tensor<2xi32>}}
  %1 = "stablehlo.reduce_window"(%inputs_1, %init_values_1) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
  // expected-error@+1 {{result #0 (results) must be tensor or per-tensor quantized tensor, but is tensor<2x2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %2 = "stablehlo.reduce_window"(%inputs_1, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // expected-error@+1 {{requires attribute 'window_dimensions'}}
  %3 = "stablehlo.reduce_window"(%inputs_1, %init_values) <{window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  // expected-error@+1 {{attribute 'window_dimensions' must be a list of 64-bit integers}}
  %4 = "stablehlo.reduce_window"(%inputs_1, %init_values) <{window_dimensions = "wrong", window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  // expected-error@+1 {{attribute 'window_strides' must be a list of 64-bit integers}}
  %5 = "stablehlo.reduce_window"(%inputs_1, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = "wrong", base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  // expected-error@+1 {{attribute 'base_dilations' must be a list of 64-bit integers}}
  %6 = "stablehlo.reduce_window"(%inputs_1, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = "wrong", window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  // expected-error@+1 {{attribute 'window_dilations' must be a list of 64-bit integers}}
  %7 = "stablehlo.reduce_window"(%inputs_1, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = "wrong", padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  // expected-error@+1 {{attribute 'padding' must be a 2-dimensional tensor of 64-bit integers}}
  %8 = "stablehlo.reduce_window"(%inputs_1, %init_values) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = "wrong"}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  return
}
