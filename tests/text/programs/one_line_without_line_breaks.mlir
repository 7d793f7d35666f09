// function: @f
// operand: %x: f32
// operand: %y: index
// result: %t2: f32
// dialect: scf
module { func.func @f(%a: f32, %n: index) -> f32 { %0 = arith.addf %a, %a : f32 scf.for %i = %n to %n step %n { %u = arith.addf %0, %a : f32 } %1 = arith.mulf %0, %a : f32 func.return %1 : f32 } }

// ----- inlined
%t0 = arith.addf %x, %x : f32 scf.for %blk_arg0 = %y to %y step %y { %t1 = arith.addf %t0, %x : f32 } %t2 = arith.mulf %t0, %x : f32
