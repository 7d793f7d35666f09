func.func @C1(%pred: tensor<i1>) {
  // expected-error@+1 {{(C1): len(true_branch.inputs) == len(false_branch.inputs) == 0}}
  %0 = "stablehlo.if"(%pred) ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }, {
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @C1_false(%pred: tensor<i1>) {
  // expected-error@+1 {{(C1): len(true_branch.inputs) == len(false_branch.inputs) == 0}}
  %0 = "stablehlo.if"(%pred) ({
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }, {
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @C2(%pred: tensor<i1>) {
  // expected-error@+1 {{(C2): all_compatible(true_branch.outputs, false_branch.outputs)}}
  %0 = "stablehlo.if"(%pred) ({
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }, {
    %c = stablehlo.constant dense<1.0> : tensor<f64>
    stablehlo.return %c : tensor<f64>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @C2_size(%pred: tensor<i1>) {
  // expected-error@+1 {{(C2): all_compatible(true_branch.outputs, false_branch.outputs)}}
  %0 = "stablehlo.if"(%pred) ({
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @C3(%pred: tensor<i1>) {
  // expected-error@+1 {{(C3): all_compatible(results, true_branch.outputs)}}
  %0 = "stablehlo.if"(%pred) ({
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }, {
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<i1>) -> tensor<f64>
  return
}

// -----

func.func @C3_size(%pred: tensor<i1>) {
  // expected-error@+1 {{(C3): all_compatible(results, true_branch.outputs)}}
  %0:2 = "stablehlo.if"(%pred) ({
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }, {
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<i1>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @types(%pred: tensor<i32>) {
  // expected-error@+1 {{operand #0 (pred) must be 0-dimensional tensor of boolean type, but is tensor<i32>}}
  %0 = "stablehlo.if"(%pred) ({
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }, {
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @types(%pred: tensor<i1>, %x: i32) {
  // expected-error@+1 {{result #0 (results) must be tensor or token, but is i32}}
  %0 = "stablehlo.if"(%pred) ({
    // expected-error@+1 {{operand #0 (results) must be tensor, token or buffer, but is i32}}
    stablehlo.return %x : i32
  }, {
    // expected-error@+1 {{operand #0 (results) must be tensor, token or buffer, but is i32}}
    stablehlo.return %x : i32
  }) : (tensor<i1>) -> i32
  return
}

// -----

func.func @terminator(%pred: tensor<i1>, %x: tensor<f32>) {
  // expected-error@+1 {{expects a region that ends with a terminator of its dialect, got 'func.return'}}
  %0 = "stablehlo.if"(%pred) ({
    func.return %x : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return
}
