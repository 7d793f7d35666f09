func.func @C1() {
  // expected-error@+1 {{(C1): compatible_constant(value.type, output)}}
  %0 = "stablehlo.constant"() <{value = dense<0> : tensor<2xi32>}> : () -> tensor<3xi32>
  return
}

// -----

func.func @C1_element_type() {
  // expected-error@+1 {{(C1): compatible_constant(value.type, output)}}
  %0 = "stablehlo.constant"() <{value = dense<0> : tensor<2xi32>}> : () -> tensor<2xi64>
  return
}

// -----

func.func @types() {
  // expected-error@+1 {{result #0 (output) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "stablehlo.constant"() <{value = dense<0> : tensor<2xi32>}> : () -> !stablehlo.token
  // expected-error@+1 {{requires attribute 'value'}}
  %1 = "stablehlo.constant"() : () -> tensor<2xi32>
  // expected-error@+1 {{attribute 'value' must be a tensor constant}}
  %2 = "stablehlo.constant"() <{value = "wrong"}> : () -> tensor<2xi32>
  return
}
