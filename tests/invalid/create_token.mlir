func.func @types() {
  // expected-error@+1 {{result #0 (output) must be token, but is tensor<f32>}}
  %0 = "stablehlo.create_token"() : () -> tensor<f32>
  return
}
