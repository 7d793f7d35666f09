// function: @f
// operand: %p: tensor<i1>
// operand: %x: tensor<f32>
// operand: %y: tensor<f32>
// result: %t0: tensor<f32>
// dialect: tosa
func.func @f(%c: tensor<i1>, %a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = tosa.cond_if %c (%then = %a, %else = %b) : tensor<i1> (tensor<f32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%then: tensor<f32>, %else: tensor<f32>):
    %1 = tosa.add %then, %else : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tosa.yield %1 : tensor<f32>
  } else {
  ^bb0(%then: tensor<f32>, %else: tensor<f32>):
    tosa.yield %else : tensor<f32>
  }
  return %0 : tensor<f32>
}

// ----- inlined
%t0 = tosa.cond_if %p (%blk_arg0 = %x, %blk_arg1 = %y) : tensor<i1> (tensor<f32>, tensor<f32>) -> tensor<f32> {
^bb0(%blk_arg0: tensor<f32>, %blk_arg1: tensor<f32>):
  %t1 = tosa.add %blk_arg0, %blk_arg1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tosa.yield %t1 : tensor<f32>
} else {
^bb0(%blk_arg2: tensor<f32>, %blk_arg3: tensor<f32>):
  tosa.yield %blk_arg3 : tensor<f32>
}
