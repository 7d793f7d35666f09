func.func @C1() {
  // expected-error@+1 {{(C1): 0 <= iota_dimension < rank(output)}}
  %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4xi32>
  return
}

// -----

func.func @C1_negative() {
  // expected-error@+1 {{(C1): 0 <= iota_dimension < rank(output)}}
  %0 = "stablehlo.iota"() <{iota_dimension = -1 : i64}> : () -> tensor<4xi32>
  return
}

// -----

func.func @types() {
  // expected-error@+1 {{result #0 (output) must be statically shaped tensor of integer or floating-point or complex type or per-tensor quantized tensor, but is tensor<?xi32>}}
  %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<?xi32>
  // expected-error@+1 {{requires attribute 'iota_dimension'}}
  %1 = "stablehlo.iota"() : () -> tensor<4xi32>
  // expected-error@+1 {{attribute 'iota_dimension' must be a 64-bit integer}}
  %2 = "stablehlo.iota"() <{iota_dimension = "wrong"}> : () -> tensor<4xi32>
  return
}
