func.func @C1(%index: tensor<i32>) {
  // expected-error@+1 {{(C1): 0 < size(branches)}}
  "stablehlo.case"(%index) : (tensor<i32>) -> ()
  return
}

// -----

func.func @C2(%index: tensor<i32>) {
  // expected-error@+1 {{(C2): all(size(b.inputs) == 0 for b in branches)}}
  %0 = "stablehlo.case"(%index) ({
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }, {
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @C3(%index: tensor<i32>) {
  // expected-error@+1 {{(C3): all(all_compatible(b.outputs, branches[0].outputs) for b in branches)}}
  %0 = "stablehlo.case"(%index) ({
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }, {
    %c = stablehlo.constant dense<1.0> : tensor<f64>
    stablehlo.return %c : tensor<f64>
  }) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @C4(%index: tensor<i32>) {
  // expected-error@+1 {{(C4): all_compatible(results, branches[0].outputs)}}
  %0 = "stablehlo.case"(%index) ({
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }, {
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<i32>) -> tensor<f64>
  return
}

// -----

func.func @types(%index: tensor<ui32>) {
  // expected-error@+1 {{operand #0 (index) must be 0-dimensional tensor of type si32, but is tensor<ui32>}}
  %0 = "stablehlo.case"(%index) ({
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }, {
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<ui32>) -> tensor<f32>
  return
}

// -----

func.func @types(%index: tensor<i32>, %x: i32) {
  // expected-error@+1 {{result #0 (results) must be tensor or token, but is i32}}
  %0 = "stablehlo.case"(%index) ({
    // expected-error@+1 {{operand #0 (results) must be tensor, token or buffer, but is i32}}
    stablehlo.return %x : i32
  }) : (tensor<i32>) -> i32
  return
}
