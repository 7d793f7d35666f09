// function: @f
// operand: %x: i1
// operand: %y: i32
// result: %t3: i32
// dialect: cf
func.func @f(%c: i1, %a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  cf.cond_br %c, ^left, ^right(%0 : i32)
^left:  // pred: ^bb0
  %1 = arith.muli %0, %a : i32
  cf.br ^join(%1, %a : i32, i32)
^right(%r: i32):
  %two = arith.constant 2 : i32
  cf.br ^join(%r, %two : i32, i32)
^join(%p: i32, %q: i32):
  %2 = arith.addi %p, %q : i32
  return %2 : i32
}

// ----- inlined
%t0 = arith.addi %y, %y : i32
cf.cond_br %x, ^t_bb0, ^t_bb1(%t0 : i32)
^t_bb0:  // pred: ^bb0
%t1 = arith.muli %t0, %y : i32
cf.br ^t_bb2(%t1, %y : i32, i32)
^t_bb1(%blk_arg0: i32):
%t2 = arith.constant 2 : i32
cf.br ^t_bb2(%blk_arg0, %t2 : i32, i32)
^t_bb2(%blk_arg1: i32, %blk_arg2: i32):
%t3 = arith.addi %blk_arg1, %blk_arg2 : i32
