// function: @f
// operand: %x: tensor<4x8xf32>
// operand: %y: tensor<8x2xf32>
// operand: %z: tensor<4x2xf32>
// result: %t1: tensor<4x2xf32>
// dialect: no-longer-linalg
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x2xf32>) outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
  %mapped = linalg.map ins(%0 : tensor<4x2xf32>) outs(%init : tensor<4x2xf32>)
    (%in : f32) {
      %1 = arith.negf %in : f32
      linalg.yield %1 : f32
    }
  return %mapped : tensor<4x2xf32>
}

// ----- inlined
%t0 = linalg.matmul ins(%x, %y : tensor<4x8xf32>, tensor<8x2xf32>) outs(%z : tensor<4x2xf32>) -> tensor<4x2xf32>
%t1 = linalg.map ins(%t0 : tensor<4x2xf32>) outs(%z : tensor<4x2xf32>)
  (%blk_arg0 : f32) {
    %t2 = arith.negf %blk_arg0 : f32
    linalg.yield %t2 : f32
  }
