func.func @C1(%operand: tensor<4x2xf32>, %source: tensor<2x2xf64>, %init_value: tensor<f32>) {
  // expected-error@+1 {{(C1): element_type(operand) == element_type(source)}}
  %0 = "stablehlo.select_and_scatter"(%operand, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf64>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C2(%operand: tensor<4x2xf32>, %source: tensor<3x2xf32>, %init_value: tensor<f32>) {
  // expected-error@+1 {{(C2): shape(source) == num_windows(shape(operand), window, strides, plain, plain, edges)}}
  %0 = "stablehlo.select_and_scatter"(%operand, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<3x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C3(%operand: tensor<4x2xf32>, %source: tensor<2x2xf32>, %init_value: tensor<f64>) {
  // expected-error@+1 {{(C3): element_type(init_value) == element_type(operand)}}
  %0 = "stablehlo.select_and_scatter"(%operand, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f64>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C4(%operand: tensor<4x2xf32>, %source: tensor<2x2xf32>, %init_value: tensor<f32>) {
  // expected-error@+1 {{(C4): size(window) == rank(operand)}}
  %0 = "stablehlo.select_and_scatter"(%operand, %source, %init_value) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C5(%operand: tensor<4x2xf32>, %source: tensor<2x2xf32>, %init_value: tensor<f32>) {
  // expected-error@+1 {{(C5): all(0 < n for n in window)}}
  %0 = "stablehlo.select_and_scatter"(%operand, %source, %init_value) <{window_dimensions = array<i64: 3, 0>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C6(%operand: tensor<4x2xf32>, %source: tensor<2x2xf32>, %init_value: tensor<f32>) {
  // expected-error@+1 {{(C6): size(strides) == rank(operand)}}
  %0 = "stablehlo.select_and_scatter"(%operand, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C7(%operand: tensor<4x2xf32>, %source: tensor<2x2xf32>, %init_value: tensor<f32>) {
  // expected-error@+1 {{(C7): all(0 < n for n in strides)}}
  %0 = "stablehlo.select_and_scatter"(%operand, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 0>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C8(%operand: tensor<4x2xf32>, %source: tensor<2x2xf32>, %init_value: tensor<f32>) {
  // expected-error@+1 {{(C8): size(edges) == rank(operand) and all(size(p) == 2 for p in edges)}}
  %0 = "stablehlo.select_and_scatter"(%operand, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C8_columns(%operand: tensor<4x2xf32>, %source: tensor<2x2xf32>, %init_value: tensor<f32>) {
  // expected-error@+1 {{(C8): size(edges) == rank(operand) and all(size(p) == 2 for p in edges)}}
  %0 = "stablehlo.select_and_scatter"(%operand, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0], [0]]> : tensor<2x1xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C9(%operand: tensor<4x2xf32>, %source: tensor<2x2xf32>, %init_value: tensor<f32>) {
  // expected-error@+1 {{(C9): select.inputs == (scalar(operand),) * 2 and select.outputs == (tensor_type((), BOOLEAN),)}}
  %0 = "stablehlo.select_and_scatter"(%operand, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C9_inputs(%operand: tensor<4x2xf32>, %source: tensor<2x2xf32>, %init_value: tensor<f32>) {
  // expected-error@+1 {{(C9): select.inputs == (scalar(operand),) * 2 and select.outputs == (tensor_type((), BOOLEAN),)}}
  %0 = "stablehlo.select_and_scatter"(%operand, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @C10(%operand: tensor<4x2xf32>, %source: tensor<2x2xf32>, %init_value: tensor<f32>) {
  // expected-error@+1 {{(C10): is_reducer(scatter, [operand])}}
  %0 = "stablehlo.select_and_scatter"(%operand, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xi32>
  return
}

// -----

func.func @C11(%operand: tensor<4x2xf32>, %source: tensor<2x2xf32>, %init_value: tensor<f32>) {
  // expected-error@+1 {{(C11): shape(operand) == shape(result)}}
  %0 = "stablehlo.select_and_scatter"(%operand, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @C12(%operand: tensor<4x2xf32>, %source: tensor<2x2xf32>, %init_value: tensor<f32>) {
  // expected-error@+1 {{(C12): element_type(result) == element_type(scatter.outputs[0])}}
  %0 = "stablehlo.select_and_scatter"(%operand, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf64>
  return
}

// -----

func.func @types(%operand: tensor<4x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0}>>, %source: tensor<2x2xf32>, %init_value: tensor<f32>, %operand_1: tensor<4x2xf32>, %source_1: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %init_value_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or per-tensor quantized tensor, but is tensor<4x2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00,4.000000e+00}>>}}
  %0 = "stablehlo.select_and_scatter"(%operand, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0}>>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  // expected-error@+1 {{operand #1 (source) must be tensor or per-tensor quantized tensor, but is tensor<2x2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %1 = "stablehlo.select_and_scatter"(%operand_1, %source_1, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<f32>) -> tensor<4x2xf32>
  // expected-error@+1 {{operand #2 (init_value) must be 0-dimensional tensor, but is tensor<2xf32>}}
  %2 = "stablehlo.select_and_scatter"(%operand_1, %source, %init_value_1) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<4x2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00,4.000000e+00}>>}}
  %3 = "stablehlo.select_and_scatter"(%operand_1, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0}>>
  // expected-error@+1 {{requires attribute 'window_dimensions'}}
  %4 = "stablehlo.select_and_scatter"(%operand_1, %source, %init_value) <{window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  // expected-error@+1 {{attribute 'window_dimensions' must be a list of 64-bit integers}}
  %5 = "stablehlo.select_and_scatter"(%operand_1, %source, %init_value) <{window_dimensions = "wrong", window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  // expected-error@+1 {{attribute 'window_strides' must be a list of 64-bit integers}}
  %6 = "stablehlo.select_and_scatter"(%operand_1, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = "wrong", padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  // expected-error@+1 {{attribute 'padding' must be a 2-dimensional tensor of 64-bit integers}}
  %7 = "stablehlo.select_and_scatter"(%operand_1, %source, %init_value) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = "wrong"}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}
