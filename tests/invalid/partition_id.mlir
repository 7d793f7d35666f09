func.func @types() {
  // expected-error@+1 {{result #0 (result) must be tensor<ui32>, but is tensor<i32>}}
  %0 = "stablehlo.partition_id"() : () -> tensor<i32>
  return
}
