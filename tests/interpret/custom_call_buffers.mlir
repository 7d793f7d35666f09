// RUN: stablehlo-interp --split-input-file %s

// A tensor is written to a buffer and read back; a loop carries the buffer.
func.func @main() {
  %value = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %buffer = stablehlo.custom_call @Pin(%value) {api_version = 4 : i32} : (tensor<2xf32>) -> memref<2xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %results:2 = stablehlo.while(%i = %zero, %b = %buffer) : tensor<i32>, memref<2xf32>
    cond {
      %three = stablehlo.constant dense<3> : tensor<i32>
      %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %x = stablehlo.custom_call @Unpin(%b) {api_version = 4 : i32} : (memref<2xf32>) -> tensor<2xf32>
      %twice = stablehlo.add %x, %x : tensor<2xf32>
      %c = stablehlo.custom_call @Pin(%twice) {api_version = 4 : i32} : (tensor<2xf32>) -> memref<2xf32>
      stablehlo.return %j, %c : tensor<i32>, memref<2xf32>
    }
  %before = stablehlo.custom_call @Unpin(%buffer) {api_version = 4 : i32} : (memref<2xf32>) -> tensor<2xf32>
  %after = stablehlo.custom_call @Unpin(%results#1) {api_version = 4 : i32} : (memref<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %before, dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_eq_const %after, dense<[8.0, 16.0]> : tensor<2xf32>
  func.return
}

// -----

// An uninitialized buffer may hold anything; here it holds zeros.
func.func @main() {
  %buffer = "stablehlo.custom_call"() {call_target_name = "CreateBuffer", api_version = 4 : i32} : () -> memref<3xi32>
  %tuple = "stablehlo.tuple"(%buffer) : (memref<3xi32>) -> tuple<memref<3xi32>>
  %element = "stablehlo.get_tuple_element"(%tuple) {index = 0 : i32} : (tuple<memref<3xi32>>) -> memref<3xi32>
  %value = stablehlo.custom_call @Unpin(%element) {api_version = 4 : i32} : (memref<3xi32>) -> tensor<3xi32>
  check.expect_eq_const %value, dense<0> : tensor<3xi32>
  func.return
}
