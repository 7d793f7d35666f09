// function: @main
// operand: %x: f32
// operand: %y: i1
// result: %t0: f32
// dialect: scf
"builtin.module"() ({
  "func.func"() <{function_type = (f32, i1) -> f32, sym_name = "main"}> ({
  ^bb0(%arg0: f32, %arg1: i1):
    %0 = "scf.if"(%arg1) ({
      %2 = "arith.addf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "scf.yield"(%2) : (f32) -> ()
    }, {
      "scf.yield"(%arg0) : (f32) -> ()
    }) : (i1) -> f32
    "func.return"(%0) : (f32) -> ()
  }) : () -> ()
}) : () -> ()

// ----- inlined
%t0 = "scf.if"(%y) ({
  %t1 = "arith.addf"(%x, %x) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
  "scf.yield"(%t1) : (f32) -> ()
}, {
  "scf.yield"(%x) : (f32) -> ()
}) : (i1) -> f32
