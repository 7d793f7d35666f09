// Undefined, duplicate and mistyped values and blocks.

func.func @f() {
  // expected-error@+1 {{use of undeclared SSA value name '%y'}}
  return %y : tensor<f32>
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{redefinition of SSA value '%x'}}
  %x = stablehlo.constant dense<0.0> : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{use of value '%x' expects different type than prior uses: 'tensor<f64>' vs 'tensor<f32>'}}
  %0 = stablehlo.abs %x : tensor<f64>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected 1 result names for 'stablehlo.abs', got 2}}
  %0:2 = stablehlo.abs %x : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{use of undeclared SSA value name '%x#1'}}
  return %x#1 : tensor<f32>
}

// -----

func.func @f(%p: tensor<i32>) {
  %0 = "stablehlo.case"(%p) ({
    %inner = stablehlo.constant dense<0.0> : tensor<f32>
    stablehlo.return %inner : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  // expected-error@+1 {{use of undeclared SSA value name '%inner'}}
  return %inner : tensor<f32>
}

// -----

func.func @f(%x: tensor<f32>) {
  func.func @g() {
    // expected-error@+1 {{use of undeclared SSA value name '%x'}}
    return %x : tensor<f32>
  }
  return
}

// -----

"stablehlo.case"() ({
// expected-error@+1 {{reference to an undefined block '^bb7'}}
  "cf.br"()[^bb7] : () -> ()
}) : () -> ()

// -----

"stablehlo.case"() ({
^a:
// expected-error@+1 {{redefinition of block '^a'}}
^a:
}) : () -> ()

// -----

func.func @f(%x: tensor<2xf32>) {
  %0 = "stablehlo.async_start"(%x) ({
    // expected-error@+1 {{use of undeclared SSA value name '%y'}}
    %1 = stablehlo.slice %y [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    stablehlo.return %1 : tensor<1xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<1xf32>>
  return
}
