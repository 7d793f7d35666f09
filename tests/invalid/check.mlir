func.func @expect_almost_eq_C1(%lhs: tensor<2xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C1): lhs == rhs}}
  "check.expect_almost_eq"(%lhs, %rhs) : (tensor<2xf32>, tensor<3xf32>) -> ()
  return
}

// -----

func.func @expect_almost_eq_types(%lhs: tensor<2xi32>, %rhs: tensor<2xf32>, %lhs_1: tensor<2xf32>, %rhs_1: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  "check.expect_almost_eq"(%lhs, %rhs) : (tensor<2xi32>, tensor<2xf32>) -> ()
  // expected-error@+1 {{operand #1 (rhs) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  "check.expect_almost_eq"(%lhs_1, %rhs_1) : (tensor<2xf32>, tensor<2xi32>) -> ()
  // expected-error@+1 {{attribute 'tolerance' must be a f64 number}}
  "check.expect_almost_eq"(%lhs_1, %rhs) <{tolerance = "wrong"}> : (tensor<2xf32>, tensor<2xf32>) -> ()
  return
}

// -----

func.func @expect_eq_C1(%lhs: tensor<2xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C1): lhs == rhs}}
  "check.expect_eq"(%lhs, %rhs) : (tensor<2xf32>, tensor<3xf32>) -> ()
  return
}

// -----

func.func @expect_eq_types(%lhs: !stablehlo.token, %rhs: tensor<2xf32>, %lhs_1: tensor<2xf32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor, but is !stablehlo.token}}
  "check.expect_eq"(%lhs, %rhs) : (!stablehlo.token, tensor<2xf32>) -> ()
  // expected-error@+1 {{operand #1 (rhs) must be tensor, but is !stablehlo.token}}
  "check.expect_eq"(%lhs_1, %rhs_1) : (tensor<2xf32>, !stablehlo.token) -> ()
  return
}

// -----

func.func @expect_almost_eq_const_C1(%lhs: tensor<3xf32>) {
  // expected-error@+1 {{(C1): lhs == value.type}}
  "check.expect_almost_eq_const"(%lhs) <{value = dense<0.0> : tensor<2xf32>}> : (tensor<3xf32>) -> ()
  return
}

// -----

func.func @expect_almost_eq_const_types(%lhs: tensor<2xi32>, %lhs_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  "check.expect_almost_eq_const"(%lhs) <{value = dense<0.0> : tensor<2xf32>}> : (tensor<2xi32>) -> ()
  // expected-error@+1 {{requires attribute 'value'}}
  "check.expect_almost_eq_const"(%lhs_1) : (tensor<2xf32>) -> ()
  // expected-error@+1 {{attribute 'value' must be a tensor constant}}
  "check.expect_almost_eq_const"(%lhs_1) <{value = "wrong"}> : (tensor<2xf32>) -> ()
  // expected-error@+1 {{attribute 'tolerance' must be a f64 number}}
  "check.expect_almost_eq_const"(%lhs_1) <{value = dense<0.0> : tensor<2xf32>, tolerance = "wrong"}> : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @expect_eq_const_C1(%lhs: tensor<3xf32>) {
  // expected-error@+1 {{(C1): lhs == value.type}}
  "check.expect_eq_const"(%lhs) <{value = dense<0.0> : tensor<2xf32>}> : (tensor<3xf32>) -> ()
  return
}

// -----

func.func @expect_eq_const_types(%lhs: !stablehlo.token, %lhs_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor, but is !stablehlo.token}}
  "check.expect_eq_const"(%lhs) <{value = dense<0.0> : tensor<2xf32>}> : (!stablehlo.token) -> ()
  // expected-error@+1 {{requires attribute 'value'}}
  "check.expect_eq_const"(%lhs_1) : (tensor<2xf32>) -> ()
  // expected-error@+1 {{attribute 'value' must be a tensor constant}}
  "check.expect_eq_const"(%lhs_1) <{value = "wrong"}> : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @expect_close_C1(%actual: tensor<2xf32>, %expected: tensor<2xf64>) {
  // expected-error@+1 {{(C1): element_type(actual) == element_type(expected)}}
  "check.expect_close"(%actual, %expected) <{max_ulp_difference = 3 : i64, min_ulp_difference = 0 : i64}> : (tensor<2xf32>, tensor<2xf64>) -> ()
  return
}

// -----

func.func @expect_close_C2(%actual: tensor<2xf32>, %expected: tensor<3xf32>) {
  // expected-error@+1 {{(C2): actual == expected}}
  "check.expect_close"(%actual, %expected) <{max_ulp_difference = 3 : i64, min_ulp_difference = 0 : i64}> : (tensor<2xf32>, tensor<3xf32>) -> ()
  return
}

// -----

func.func @expect_close_C3(%actual: tensor<2xf32>, %expected: tensor<2xf32>) {
  // expected-error@+1 {{(C3): 0 <= min_ulp_difference}}
  "check.expect_close"(%actual, %expected) <{max_ulp_difference = 3 : i64, min_ulp_difference = -1 : i64}> : (tensor<2xf32>, tensor<2xf32>) -> ()
  return
}

// -----

func.func @expect_close_C4(%actual: tensor<2xf32>, %expected: tensor<2xf32>) {
  // expected-error@+1 {{(C4): 0 <= max_ulp_difference}}
  "check.expect_close"(%actual, %expected) <{max_ulp_difference = -1 : i64, min_ulp_difference = 0 : i64}> : (tensor<2xf32>, tensor<2xf32>) -> ()
  return
}

// -----

func.func @expect_close_types(%actual: tensor<2xi32>, %expected: tensor<2xf32>, %actual_1: tensor<2xf32>, %expected_1: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 (actual) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  "check.expect_close"(%actual, %expected) <{max_ulp_difference = 3 : i64, min_ulp_difference = 0 : i64}> : (tensor<2xi32>, tensor<2xf32>) -> ()
  // expected-error@+1 {{operand #1 (expected) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  "check.expect_close"(%actual_1, %expected_1) <{max_ulp_difference = 3 : i64, min_ulp_difference = 0 : i64}> : (tensor<2xf32>, tensor<2xi32>) -> ()
  // expected-error@+1 {{attribute 'max_ulp_difference' must be a 64-bit integer}}
  "check.expect_close"(%actual_1, %expected) <{max_ulp_difference = "wrong", min_ulp_difference = 0 : i64}> : (tensor<2xf32>, tensor<2xf32>) -> ()
  // expected-error@+1 {{attribute 'min_ulp_difference' must be a 64-bit integer}}
  "check.expect_close"(%actual_1, %expected) <{max_ulp_difference = 3 : i64, min_ulp_difference = "wrong"}> : (tensor<2xf32>, tensor<2xf32>) -> ()
  return
}

// -----

func.func @expect_serialized_eq_C1(%expected: tensor<2xf32>) {
  // expected-error@+1 {{(C1): 0 <= iteration}}
  "check.expect_serialized_eq"(%expected) <{probe_id = "a", iteration = -1 : i32}> : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @expect_serialized_eq_types(%expected: tensor<2x!quant.uniform<i8:f32, 1.0>>, %expected_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (expected) must be tensor, but is tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>}}
  "check.expect_serialized_eq"(%expected) <{probe_id = "a"}> : (tensor<2x!quant.uniform<i8:f32, 1.0>>) -> ()
  // expected-error@+1 {{requires attribute 'probe_id'}}
  "check.expect_serialized_eq"(%expected_1) : (tensor<2xf32>) -> ()
  // expected-error@+1 {{attribute 'probe_id' must be a string}}
  "check.expect_serialized_eq"(%expected_1) <{probe_id = 1 : i64}> : (tensor<2xf32>) -> ()
  // expected-error@+1 {{attribute 'iteration' must be a 32-bit integer}}
  "check.expect_serialized_eq"(%expected_1) <{probe_id = "a", iteration = "wrong"}> : (tensor<2xf32>) -> ()
  return
}
