// function: @f
// operand: %a: index
// operand: %b: memref<?xf32>
// operand: %c: f32
// dialect: gpu
// dialect: memref
func.func @f(%n: index, %m: memref<?xf32>, %v: f32) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    memref.store %v, %m[%tx] : memref<?xf32>
    memref.store %v, %m[%gx] : memref<?xf32>
    gpu.terminator
  }
  return
}

// ----- inlined
gpu.launch blocks(%blk_arg0, %blk_arg1, %blk_arg2) in (%blk_arg3 = %a, %blk_arg4 = %a, %blk_arg5 = %a)
           threads(%blk_arg6, %blk_arg7, %blk_arg8) in (%blk_arg9 = %a, %blk_arg10 = %a, %blk_arg11 = %a) {
  memref.store %c, %b[%blk_arg6] : memref<?xf32>
  memref.store %c, %b[%blk_arg3] : memref<?xf32>
  gpu.terminator
}
