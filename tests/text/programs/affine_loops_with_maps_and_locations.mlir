// function: @f
// operand: %x: memref<16x16xf32>
// operand: %y: index
// result: %t2: f32
// dialect: affine
// dialect: memref
#lb = affine_map<(d0) -> (d0)>
#ub = affine_map<(d0)[s0] -> (d0 + s0, 16)>
#set = affine_set<(d0) : (d0 - 1 >= 0)>
func.func @f(%m: memref<16x16xf32>, %n: index) -> f32 {
  %zero = arith.constant 0.0 : f32
  affine.for %i loc("outer loop") = 0 to 16 {
    affine.for %j = #lb(%i) to min #ub(%i)[%n] step 2 {
      %0 = affine.load %m[%i, %j + 1] : memref<16x16xf32>
      affine.if #set(%i) {
        affine.store %0, %m[%j, %i] : memref<16x16xf32>
      }
    }
  }
  %sum = affine.for %i = 0 to 4 iter_args(%acc = %zero) -> f32 {
    affine.yield %acc : f32
  }
  affine.parallel (%i, %j) = (0, 0) to (16, 16) {
    affine.store %sum, %m[%i, %j] : memref<16x16xf32>
  }
  return %sum : f32
}

// ----- inlined
%t0 = arith.constant 0.0 : f32
affine.for %blk_arg0 loc("outer loop") = 0 to 16 {
  affine.for %blk_arg1 = affine_map<(d0) -> (d0)>(%blk_arg0) to min affine_map<(d0)[s0] -> (d0 + s0, 16)>(%blk_arg0)[%y] step 2 {
    %t1 = affine.load %x[%blk_arg0, %blk_arg1 + 1] : memref<16x16xf32>
    affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%blk_arg0) {
      affine.store %t1, %x[%blk_arg1, %blk_arg0] : memref<16x16xf32>
    }
  }
}
%t2 = affine.for %blk_arg2 = 0 to 4 iter_args(%blk_arg3 = %t0) -> f32 {
  affine.yield %blk_arg3 : f32
}
affine.parallel (%blk_arg4, %blk_arg5) = (0, 0) to (16, 16) {
  affine.store %t2, %x[%blk_arg4, %blk_arg5] : memref<16x16xf32>
}
