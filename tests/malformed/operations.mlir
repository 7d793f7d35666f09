// Malformed operations. Each part has one error, announced above its line.

// expected-error@+1 {{expected an operation, got '('}}
()

// -----

// expected-error@+1 {{unknown op 'stablehlo.frobnicate'}}
stablehlo.frobnicate %0 : tensor<f32>

// -----

// expected-error@+1 {{unknown op 'stablehlo.transposed'; did you mean 'stablehlo.transpose'?}}
stablehlo.transposed %0 : tensor<f32>

// -----

// expected-error@+1 {{unknown op 'stablehlo.transposed'; did you mean 'stablehlo.transpose'?}}
"stablehlo.transposed"() : () -> ()

// -----

// expected-error@+1 {{unsupported pretty form of op 'tosa.add'; use its generic form}}
tosa.add %0 : tensor<f32>

// -----

// expected-error@+1 {{op 'a.b' belongs to an unregistered dialect; use allow_unregistered_dialect or --allow-unregistered-dialect to accept it}}
"a.b"() : () -> ()

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected '->', got '}'}}
  %0 = "stablehlo.abs"(%x) : (tensor<f32>)
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{1 operands present, but expected 2}}
  %0 = "stablehlo.abs"(%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected ',' or ')', got '%x'}}
  %0 = "stablehlo.add"(%x %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected ':', got 'tensor'}}
  %0 = stablehlo.abs %x tensor<f32>
  return
}

// -----

// expected-error@+1 {{expected names for all arguments or for none}}
func.func @f(%x: tensor<f32>, tensor<f32>)

// -----

// expected-error@+1 {{expected names for the arguments of a function with a body}}
func.func @f(tensor<f32>) { return }

// -----

// expected-error@+1 {{expected a symbol name such as '@main', got 'f'}}
func.func f()

// -----

func.func @f() {
  // expected-error@+1 {{expected '}', got the end of the text}}
  return

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{expected the inner-op to be a commutative binary-op}}
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.subtract across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected ':', got ']'}}
  %0 = stablehlo.slice %x [0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected a format such as 'e5m10', got 'm10e5'}}
  %0 = stablehlo.reduce_precision %x, format = m10e5 : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected comparison_direction: one of}}
  %0 = stablehlo.compare XX, %x, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected tensor with complex element type, got tensor<f32>}}
  %0 = stablehlo.complex %x, %x : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<1x2x3xf32>) {
  // expected-error@+1 {{Unexpected dimension c, expecting b, f}}
  %0 = stablehlo.convolution(%x, %x) dim_numbers = [c, 0, f]x[0, i, o]->[b, 0, f], window = {} : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<f32>
  return
}

// -----

// expected-error@+1 {{expected 'dialect_resources' or 'external_resources', got 'x'}}
{-# x: {} #-}

// -----

// expected-error@+1 {{reference to an undefined block '^a'}}
"cf.br"()[^a] : () -> ()

// -----

func.func @f() {
  // expected-error@+1 {{attribute 'value' is already given outside of the dictionary}}
  %0 = stablehlo.constant {value = dense<1.0> : tensor<f32>} dense<2.0> : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected '[', got ':'}}
  %0 = tensor.extract %x : tensor<f32>
  return
}
