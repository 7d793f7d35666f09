// function: @f
// operand: %x: index
// operand: %y: tensor<4xf32>
// result: %t2: tensor<6xf32>
// dialect: tensor
func.func @f(%n: index, %t: tensor<4xf32>) -> tensor<6xf32> {
  %g = tensor.generate %n {
  ^bb0(%i: index):
    %0 = arith.constant 1.0 : f32
    tensor.yield %0 : f32
  } : tensor<?xf32>
  %1 = tensor.pad %t low[1] high[1] {
  ^bb0(%i: index):
    %2 = tensor.extract %g[%i] : tensor<?xf32>
    tensor.yield %2 : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %1 : tensor<6xf32>
}

// ----- inlined
%t0 = tensor.generate %x {
^bb0(%blk_arg0: index):
  %t1 = arith.constant 1.0 : f32
  tensor.yield %t1 : f32
} : tensor<?xf32>
%t2 = tensor.pad %y low[1] high[1] {
^bb0(%blk_arg1: index):
  %t3 = tensor.extract %t0[%blk_arg1] : tensor<?xf32>
  tensor.yield %t3 : f32
} : tensor<4xf32> to tensor<6xf32>
