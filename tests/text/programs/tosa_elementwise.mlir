// function: @f
// operand: %x: tensor<2x3xf32>
// result: %t2: tensor<2x3xf32>
// dialect: tosa
func.func @f(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tosa.const"() {values = dense<1.0> : tensor<1x3xf32>} : () -> tensor<1x3xf32>
  %1 = tosa.add %arg0, %0 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %2 = tosa.tanh %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// ----- inlined
%t0 = "tosa.const"() {values = dense<1.0> : tensor<1x3xf32>} : () -> tensor<1x3xf32>
%t1 = tosa.add %x, %t0 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
%t2 = tosa.tanh %t1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
