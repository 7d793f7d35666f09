// function: @f
// operand: %x: index
// operand: %y: f32
// operand: %z: memref<?x?xf32>
// result: %t2: f32
// dialect: scf
// dialect: memref
func.func @f(%n: index, %init: f32, %m: memref<?x?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) init (%init) -> f32 {
    %1 = memref.load %m[%i, %j] : memref<?x?xf32>
    scf.reduce(%1 : f32) {
    ^bb0(%lhs: f32, %rhs: f32):
      %2 = arith.addf %lhs, %rhs : f32
      scf.reduce.return %2 : f32
    }
  }
  return %0 : f32
}

// ----- inlined
%t0 = arith.constant 0 : index
%t1 = arith.constant 1 : index
%t2 = scf.parallel (%blk_arg0, %blk_arg1) = (%t0, %t0) to (%x, %x) step (%t1, %t1) init (%y) -> f32 {
  %t3 = memref.load %z[%blk_arg0, %blk_arg1] : memref<?x?xf32>
  scf.reduce(%t3 : f32) {
  ^bb0(%blk_arg2: f32, %blk_arg3: f32):
    %t4 = arith.addf %blk_arg2, %blk_arg3 : f32
    scf.reduce.return %t4 : f32
  }
}
