// function: @f
// operand: %a: index
// operand: %b: index
// operand: %c: index
// operand: %d: f32
// result: %t0: f32
// dialect: scf
func.func @f(%lb: index, %ub: index, %step: index, %init: f32) -> f32 {
  %sum = scf.for %i = %lb to %ub step %step iter_args(%acc = %init) -> (f32) {
    %next = scf.for %j = %lb to %i step %step iter_args(%inner = %acc) -> (f32) {
      %0 = arith.addf %inner, %acc : f32
      scf.yield %0 : f32
    }
    scf.yield %next : f32
  }
  return %sum : f32
}

// ----- inlined
%t0 = scf.for %blk_arg0 = %a to %b step %c iter_args(%blk_arg1 = %d) -> (f32) {
  %t1 = scf.for %blk_arg2 = %a to %blk_arg0 step %c iter_args(%blk_arg3 = %blk_arg1) -> (f32) {
    %t2 = arith.addf %blk_arg3, %blk_arg1 : f32
    scf.yield %t2 : f32
  }
  scf.yield %t1 : f32
}
