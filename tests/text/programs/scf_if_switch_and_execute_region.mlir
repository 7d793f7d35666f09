// function: @f
// operand: %p: i1
// operand: %q: index
// operand: %r: i32
// result: %t3: i32
// dialect: scf
// dialect: cf
func.func @f(%c: i1, %k: index, %a: i32) -> i32 {
  %0:2 = scf.if %c -> (i32, i32) {
    scf.yield %a, %a : i32, i32
  } else {
    %1 = arith.addi %a, %a : i32
    scf.yield %1, %a : i32, i32
  }
  %2 = scf.index_switch %k -> i32
  case 2 {
    scf.yield %0#1 : i32
  }
  default {
    scf.yield %0#0 : i32
  }
  %3 = scf.execute_region -> i32 {
    cf.br ^bb1(%2 : i32)
  ^bb1(%x: i32):
    scf.yield %x : i32
  }
  return %3 : i32
}

// ----- inlined
%t0:2 = scf.if %p -> (i32, i32) {
  scf.yield %r, %r : i32, i32
} else {
  %t1 = arith.addi %r, %r : i32
  scf.yield %t1, %r : i32, i32
}
%t2 = scf.index_switch %q -> i32
case 2 {
  scf.yield %t0#1 : i32
}
default {
  scf.yield %t0#0 : i32
}
%t3 = scf.execute_region -> i32 {
  cf.br ^bb1(%t2 : i32)
^bb1(%blk_arg0: i32):
  scf.yield %blk_arg0 : i32
}
