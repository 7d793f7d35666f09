// function: @op
// operand: %x: tensor<8x16xf32>
// operand: %bias: tensor<16xf32>
// result: %t1#0: tensor<8x16xf32>
// result: %t1#1: tensor<8x16xf32>
// dialect: linalg
// dialect: tensor
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
module {
  func.func @op(%arg0: tensor<8x16xf32>, %arg1: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
    %empty = tensor.empty() : tensor<8x16xf32>
    %0:2 = linalg.generic {indexing_maps = [#map, #row, #map, #map], iterator_types = ["parallel", "parallel"]}
        ins(%arg0, %arg1 : tensor<8x16xf32>, tensor<16xf32>) outs(%empty, %empty : tensor<8x16xf32>, tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32, %out_1: f32):
      %1 = arith.addf %in, %in_0 : f32
      %2 = arith.mulf %1, %in : f32
      linalg.yield %1, %2 : f32, f32
    } -> (tensor<8x16xf32>, tensor<8x16xf32>)
    return %0#0, %0#1 : tensor<8x16xf32>, tensor<8x16xf32>
  }
}

// ----- inlined
%t0 = tensor.empty() : tensor<8x16xf32>
%t1:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%x, %bias : tensor<8x16xf32>, tensor<16xf32>) outs(%t0, %t0 : tensor<8x16xf32>, tensor<8x16xf32>) {
^bb0(%blk_arg0: f32, %blk_arg1: f32, %blk_arg2: f32, %blk_arg3: f32):
  %t2 = arith.addf %blk_arg0, %blk_arg1 : f32
  %t3 = arith.mulf %t2, %blk_arg0 : f32
  linalg.yield %t2, %t3 : f32, f32
} -> (tensor<8x16xf32>, tensor<8x16xf32>)
