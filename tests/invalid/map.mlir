func.func @C1(%inputs: tensor<2x3xf32>) {
  // expected-error@+1 {{(C1): all(shape(x) == shape(result) for x in inputs)}}
  %0 = "stablehlo.map"(%inputs) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C2() {
  // expected-error@+1 {{(C2): 0 < size(inputs)}}
  %0 = "stablehlo.map"() <{dimensions = array<i64>}> ({
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : () -> tensor<f32>
  return
}

// -----

func.func @C3(%inputs: tensor<2x3xf32>) {
  // expected-error@+1 {{(C3): dimensions == tuple(axes(inputs[0]))}}
  %0 = "stablehlo.map"(%inputs) <{dimensions = array<i64: 1, 0>}> ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @C4(%inputs: tensor<2x3xf32>) {
  // expected-error@+1 {{(C4): computation == FunctionType(tuple(map(scalar, inputs)), (scalar(result),))}}
  %0 = "stablehlo.map"(%inputs) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%a: tensor<f64>):
      stablehlo.return %a : tensor<f64>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @types(%inputs: tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %inputs_1: tensor<2x3xf32>) {
  // expected-error@+1 {{operand #0 (inputs) must be tensor or per-tensor quantized tensor, but is tensor<2x3x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.map"(%inputs) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<2x3x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %1 = "stablehlo.map"(%inputs_1) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // expected-error@+1 {{requires attribute 'dimensions'}}
  %2 = "stablehlo.map"(%inputs_1) ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{attribute 'dimensions' must be a list of 64-bit integers}}
  %3 = "stablehlo.map"(%inputs_1) <{dimensions = "wrong"}> ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
