// function: @f
// operand: %x: tensor<4x8xf32>
// operand: %y: tensor<4xf32>
// result: %t1: tensor<4xf32>
// dialect: linalg
func.func @f(%a: tensor<4x8xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.reduce { arith.addf } ins(%a:tensor<4x8xf32>) outs(%init:tensor<4xf32>) dimensions = [1]
  %1 = linalg.reduce ins(%a:tensor<4x8xf32>) outs(%0:tensor<4xf32>) dimensions = [1]
    (%in: f32, %acc: f32) {
      %2 = arith.maximumf %in, %acc : f32
      linalg.yield %2 : f32
    }
  return %1 : tensor<4xf32>
}

// ----- inlined
%t0 = linalg.reduce { arith.addf } ins(%x:tensor<4x8xf32>) outs(%y:tensor<4xf32>) dimensions = [1]
%t1 = linalg.reduce ins(%x:tensor<4x8xf32>) outs(%t0:tensor<4xf32>) dimensions = [1]
  (%blk_arg0: f32, %blk_arg1: f32) {
    %t2 = arith.maximumf %blk_arg0, %blk_arg1 : f32
    linalg.yield %t2 : f32
  }
