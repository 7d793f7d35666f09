// function: @main
// operand: %x: tensor<4xf32>
// operand: %n: tensor<i32>
// result: %t4#1: tensor<f32>
// result: %t4#0: tensor<i32>
// dialect: stablehlo
func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%arg0 init: %cst) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%arg2: tensor<f32>, %arg3: tensor<f32>)  {
    %4 = stablehlo.maximum %arg2, %0 : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }
  %3:2 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %1) : tensor<i32>, tensor<f32>
    cond {
    %4 = stablehlo.compare LT, %iterArg, %arg1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  } do {
    %4 = stablehlo.add %iterArg, %iterArg : tensor<i32>
    stablehlo.return %4, %iterArg_0 : tensor<i32>, tensor<f32>
  }
  return %3#1, %3#0 : tensor<f32>, tensor<i32>
}

// ----- inlined
%t0 = stablehlo.constant dense<0.0> : tensor<f32>
%t1 = stablehlo.reduce(%x init: %t0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
%t2 = stablehlo.reduce(%x init: %t0) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  reducer(%blk_arg0: tensor<f32>, %blk_arg1: tensor<f32>)  {
  %t3 = stablehlo.maximum %blk_arg0, %t1 : tensor<f32>
  stablehlo.return %t3 : tensor<f32>
}
%t4:2 = stablehlo.while(%blk_arg2 = %n, %blk_arg3 = %t2) : tensor<i32>, tensor<f32>
  cond {
  %t5 = stablehlo.compare LT, %blk_arg2, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %t5 : tensor<i1>
} do {
  %t6 = stablehlo.add %blk_arg2, %blk_arg2 : tensor<i32>
  stablehlo.return %t6, %blk_arg3 : tensor<i32>, tensor<f32>
}
