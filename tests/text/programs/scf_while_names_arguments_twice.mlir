// function: @f
// operand: %x: i32
// operand: %y: i32
// result: %t0: i32
// dialect: scf
func.func @f(%start: i32, %limit: i32) -> i32 {
  %0 = scf.while (%arg2 = %start) : (i32) -> i32 {
    %1 = arith.cmpi slt, %arg2, %limit : i32
    scf.condition(%1) %arg2 : i32
  } do {
  ^bb0(%arg2: i32):
    %1 = arith.addi %arg2, %arg2 : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

// ----- inlined
%t0 = scf.while (%blk_arg0 = %x) : (i32) -> i32 {
  %t1 = arith.cmpi slt, %blk_arg0, %y : i32
  scf.condition(%t1) %blk_arg0 : i32
} do {
^bb0(%blk_arg1: i32):
  %t2 = arith.addi %blk_arg1, %blk_arg1 : i32
  scf.yield %t2 : i32
}
