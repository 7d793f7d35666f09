func.func @C1(%a: tensor<i32>, %b: tensor<i64>, %shape: tensor<2xi64>) {
  // expected-error@+1 {{(C1): element_type(a) == element_type(b) == element_type(result)}}
  %0 = "stablehlo.rng"(%a, %b, %shape) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<i32>, tensor<i64>, tensor<2xi64>) -> tensor<3x3xi32>
  return
}

// -----

func.func @C1_result(%a: tensor<i32>, %b: tensor<i32>, %shape: tensor<2xi64>) {
  // expected-error@+1 {{(C1): element_type(a) == element_type(b) == element_type(result)}}
  %0 = "stablehlo.rng"(%a, %b, %shape) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<3x3xi64>
  return
}

// -----

func.func @C2(%a: tensor<i32>, %b: tensor<i32>, %shape: tensor<2xi64>) {
  // expected-error@+1 {{(C2): is_float(a)}}
  %0 = "stablehlo.rng"(%a, %b, %shape) <{rng_distribution = #stablehlo<rng_distribution NORMAL>}> : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<3x3xi32>
  return
}

// -----

func.func @C3(%a: tensor<i32>, %b: tensor<i32>, %shape: tensor<2xi64>) {
  // expected-error@+1 {{(C3): dim(shape, 0) == rank(result) and shape_of(result) == shape_of(infer())}}
  %0 = "stablehlo.rng"(%a, %b, %shape) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<3xi32>
  return
}

// -----

func.func @C3_size(%a: tensor<i32>, %b: tensor<i32>) {
  %shape = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
  // expected-error@+1 {{(C3): dim(shape, 0) == rank(result) and shape_of(result) == shape_of(infer())}}
  %0 = "stablehlo.rng"(%a, %b, %shape) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<3x3xi32>
  return
}

// -----

func.func @types(%a: tensor<complex<f32>>, %b: tensor<i32>, %shape: tensor<2xi64>, %a_1: tensor<i32>, %b_1: tensor<complex<f32>>, %shape_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (a) must be 0-dimensional tensor of integer or boolean or floating-point type, but is tensor<complex<f32>>}}
  %0 = "stablehlo.rng"(%a, %b, %shape) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<complex<f32>>, tensor<i32>, tensor<2xi64>) -> tensor<3x3xi32>
  // expected-error@+1 {{operand #1 (b) must be 0-dimensional tensor of integer or boolean or floating-point type, but is tensor<complex<f32>>}}
  %1 = "stablehlo.rng"(%a_1, %b_1, %shape) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<i32>, tensor<complex<f32>>, tensor<2xi64>) -> tensor<3x3xi32>
  // expected-error@+1 {{operand #2 (shape) must be statically shaped 1-dimensional tensor of integer or index type, but is tensor<2xf32>}}
  %2 = "stablehlo.rng"(%a_1, %b, %shape_1) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<i32>, tensor<i32>, tensor<2xf32>) -> tensor<3x3xi32>
  // expected-error@+1 {{result #0 (result) must be tensor of integer or boolean or floating-point type, but is tensor<3x3xcomplex<f32>>}}
  %3 = "stablehlo.rng"(%a_1, %b, %shape) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<3x3xcomplex<f32>>
  // expected-error@+1 {{requires attribute 'rng_distribution'}}
  %4 = "stablehlo.rng"(%a_1, %b, %shape) : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<3x3xi32>
  // expected-error@+1 {{attribute 'rng_distribution' must be a rng_distribution: one of UNIFORM, NORMAL}}
  %5 = "stablehlo.rng"(%a_1, %b, %shape) <{rng_distribution = "wrong"}> : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<3x3xi32>
  return
}
