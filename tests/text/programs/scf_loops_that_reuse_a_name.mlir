// function: @f
// operand: %a: index
// operand: %b: memref<?xf32>
// operand: %c: f32
// dialect: scf
// dialect: memref
func.func @f(%n: index, %m: memref<?xf32>, %v: f32) {
  scf.for %i = %n to %n step %n {
    memref.store %v, %m[%i] : memref<?xf32>
  }
  scf.for %i = %n to %n step %n {
    memref.store %v, %m[%i] : memref<?xf32>
  }
  return
}

// ----- inlined
scf.for %blk_arg0 = %a to %a step %a {
  memref.store %c, %b[%blk_arg0] : memref<?xf32>
}
scf.for %blk_arg1 = %a to %a step %a {
  memref.store %c, %b[%blk_arg1] : memref<?xf32>
}
