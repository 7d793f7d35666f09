func.func @C1() {
  // expected-error@+1 {{(C1): 0 < size(inputs)}}
  "stablehlo.sort"() <{dimension = 1 : i64, is_stable = true}> ({
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : () -> ()
  return
}

// -----

func.func @C2(%inputs0: tensor<3x4xf32>, %inputs1: tensor<3x4xi32>) {
  // expected-error@+1 {{(C2): list(map(element_type, inputs)) == list(map(element_type, results))}}
  %0:2 = "stablehlo.sort"(%inputs0, %inputs1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<i32>, %b1: tensor<i32>):
      %r = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }) : (tensor<3x4xf32>, tensor<3x4xi32>) -> (tensor<3x4xf32>, tensor<3x4xf32>)
  return
}

// -----

func.func @C2_size(%inputs0: tensor<3x4xf32>, %inputs1: tensor<3x4xi32>) {
  // expected-error@+1 {{(C2): list(map(element_type, inputs)) == list(map(element_type, results))}}
  %0 = "stablehlo.sort"(%inputs0, %inputs1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<i32>, %b1: tensor<i32>):
      %r = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }) : (tensor<3x4xf32>, tensor<3x4xi32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @C3(%inputs0: tensor<3x4xf32>, %inputs1: tensor<3x5xi32>) {
  // expected-error@+1 {{(C3): same(map(shape, (*inputs, *results)))}}
  %0:2 = "stablehlo.sort"(%inputs0, %inputs1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<i32>, %b1: tensor<i32>):
      %r = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }) : (tensor<3x4xf32>, tensor<3x5xi32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)
  return
}

// -----

func.func @C3_results(%inputs0: tensor<3x4xf32>, %inputs1: tensor<3x4xi32>) {
  // expected-error@+1 {{(C3): same(map(shape, (*inputs, *results)))}}
  %0:2 = "stablehlo.sort"(%inputs0, %inputs1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<i32>, %b1: tensor<i32>):
      %r = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }) : (tensor<3x4xf32>, tensor<3x4xi32>) -> (tensor<3x5xf32>, tensor<3x4xi32>)
  return
}

// -----

func.func @C4(%inputs0: tensor<3x4xf32>, %inputs1: tensor<3x4xi32>) {
  // expected-error@+1 {{(C4): -rank(inputs[0]) <= dimension < rank(inputs[0])}}
  %0:2 = "stablehlo.sort"(%inputs0, %inputs1) <{dimension = 2 : i64, is_stable = true}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<i32>, %b1: tensor<i32>):
      %r = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }) : (tensor<3x4xf32>, tensor<3x4xi32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)
  return
}

// -----

func.func @C4_negative(%inputs0: tensor<3x4xf32>, %inputs1: tensor<3x4xi32>) {
  // expected-error@+1 {{(C4): -rank(inputs[0]) <= dimension < rank(inputs[0])}}
  %0:2 = "stablehlo.sort"(%inputs0, %inputs1) <{dimension = -3 : i64, is_stable = true}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<i32>, %b1: tensor<i32>):
      %r = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }) : (tensor<3x4xf32>, tensor<3x4xi32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)
  return
}

// -----

func.func @C5(%inputs0: tensor<3x4xf32>, %inputs1: tensor<3x4xi32>) {
  // expected-error@+1 {{(C5): comparator.inputs == pairs and comparator.outputs == (tensor_type((), BOOLEAN),)}}
  %0:2 = "stablehlo.sort"(%inputs0, %inputs1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<f32>, %b1: tensor<f32>):
      %r = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }) : (tensor<3x4xf32>, tensor<3x4xi32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)
  return
}

// -----

func.func @C5_result(%inputs0: tensor<3x4xf32>, %inputs1: tensor<3x4xi32>) {
  // expected-error@+1 {{(C5): comparator.inputs == pairs and comparator.outputs == (tensor_type((), BOOLEAN),)}}
  %0:2 = "stablehlo.sort"(%inputs0, %inputs1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<i32>, %b1: tensor<i32>):
      stablehlo.return %a0 : tensor<f32>
  }) : (tensor<3x4xf32>, tensor<3x4xi32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)
  return
}

// -----

func.func @types(%inputs0: tensor<3x4x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>, %inputs1: tensor<3x4xi32>, %inputs0_1: tensor<3x4xf32>) {
  // expected-error@+1 {{operand #0 (inputs) must be tensor or per-tensor quantized tensor, but is tensor<3x4x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00}>>}}
  %0:2 = "stablehlo.sort"(%inputs0, %inputs1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<i32>, %b1: tensor<i32>):
      %r = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }) : (tensor<3x4x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>, tensor<3x4xi32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)
  // expected-error@+1 {{result #0 (results) must be tensor or per-tensor quantized tensor, but is tensor<3x4x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00}>>}}
  %1:2 = "stablehlo.sort"(%inputs0_1, %inputs1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<i32>, %b1: tensor<i32>):
      %r = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }) : (tensor<3x4xf32>, tensor<3x4xi32>) -> (tensor<3x4x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>, tensor<3x4xi32>)
  // expected-error@+1 {{attribute 'dimension' must be a 64-bit integer}}
  %2:2 = "stablehlo.sort"(%inputs0_1, %inputs1) <{dimension = "wrong", is_stable = true}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<i32>, %b1: tensor<i32>):
      %r = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }) : (tensor<3x4xf32>, tensor<3x4xi32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)
  // expected-error@+1 {{attribute 'is_stable' must be a boolean}}
  %3:2 = "stablehlo.sort"(%inputs0_1, %inputs1) <{dimension = 1 : i64, is_stable = "wrong"}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<i32>, %b1: tensor<i32>):
      %r = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }) : (tensor<3x4xf32>, tensor<3x4xi32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)
  return
}
