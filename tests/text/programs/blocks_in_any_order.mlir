// function: @f
// operand: %x: i1
// result: %t1: i32
// dialect: cf
func.func @f(%c: i1) -> i32 {
  cf.br ^second
^first:
  %1 = arith.addi %0, %0 : i32
  cf.br ^last
^second:
  %0 = arith.constant 3 : i32
  cf.cond_br %c, ^first, ^last
^last:
  return %0 : i32
}

// ----- inlined
cf.br ^t_bb1
^t_bb0:
%t0 = arith.addi %t1, %t1 : i32
cf.br ^t_bb2
^t_bb1:
%t1 = arith.constant 3 : i32
cf.cond_br %x, ^t_bb0, ^t_bb2
^t_bb2:
