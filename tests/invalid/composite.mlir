func.func private @f(tensor<f32>) -> tensor<f32>

func.func @C1(%inputs: tensor<f32>) {
  // expected-error@+1 {{(C1): is_namespaced_op_name(name)}}
  %0 = "stablehlo.composite"(%inputs) <{name = "my", decomposition = @f}> : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>

func.func @C1_letters(%inputs: tensor<f32>) {
  // expected-error@+1 {{(C1): is_namespaced_op_name(name)}}
  %0 = "stablehlo.composite"(%inputs) <{name = "my.op!", decomposition = @f}> : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>

func.func @C2(%inputs: tensor<f32>) {
  // expected-error@+1 {{(C2): is_defined_in_parent_scope(decomposition, symbol)}}
  %0 = "stablehlo.composite"(%inputs) <{name = "my.op", decomposition = @g}> : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>

func.func @C3(%inputs: tensor<f64>) {
  // expected-error@+1 {{(C3): inputs == declared.inputs}}
  %0 = "stablehlo.composite"(%inputs) <{name = "my.op", decomposition = @f}> : (tensor<f64>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>

func.func @C3_size() {
  // expected-error@+1 {{(C3): inputs == declared.inputs}}
  %0 = "stablehlo.composite"() <{name = "my.op", decomposition = @f}> : () -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>

func.func @C4(%inputs: tensor<f32>) {
  // expected-error@+1 {{(C4): results == declared.outputs}}
  %0 = "stablehlo.composite"(%inputs) <{name = "my.op", decomposition = @f}> : (tensor<f32>) -> tensor<f64>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>

func.func @types(%inputs: tensor<f32>) {
  // expected-error@+1 {{requires attribute 'name'}}
  %0 = "stablehlo.composite"(%inputs) <{decomposition = @f}> : (tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{attribute 'name' must be a string}}
  %1 = "stablehlo.composite"(%inputs) <{name = 1 : i64, decomposition = @f}> : (tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{attribute 'composite_attributes' must be a dictionary}}
  %2 = "stablehlo.composite"(%inputs) <{name = "my.op", decomposition = @f, composite_attributes = "wrong"}> : (tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{requires attribute 'decomposition'}}
  %3 = "stablehlo.composite"(%inputs) <{name = "my.op"}> : (tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{attribute 'decomposition' must be a symbol reference}}
  %4 = "stablehlo.composite"(%inputs) <{name = "my.op", decomposition = "wrong"}> : (tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{attribute 'version' must be a 32-bit integer}}
  %5 = "stablehlo.composite"(%inputs) <{name = "my.op", decomposition = @f, version = "wrong"}> : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @g(i32) -> tensor<f32>
func.func private @h(tensor<f32>) -> i32

func.func @types(%x: i32, %y: tensor<f32>) {
  // expected-error@+1 {{operand #0 (inputs) must be tensor, token, tuple, buffer or future, but is i32}}
  %0 = "stablehlo.composite"(%x) <{name = "a.b", decomposition = @g}> : (i32) -> tensor<f32>
  // expected-error@+1 {{result #0 (results) must be tensor, token, tuple, buffer or future, but is i32}}
  %1 = "stablehlo.composite"(%y) <{name = "a.b", decomposition = @h}> : (tensor<f32>) -> i32
  return
}
