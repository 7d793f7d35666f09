// function: @main
// operand: %v: f32
// result: %t2#0: f32
// dialect: func
// global: func.func private @helper(f32) -> (f32, f32)
func.func private @helper(%a: f32) -> (f32, f32) {
  return %a, %a : f32, f32
}
func.func @main(%x: f32) -> f32 {
  %f = constant @helper : (f32) -> (f32, f32)
  %0:2 = call @helper(%x) : (f32) -> (f32, f32)
  %1:2 = call_indirect %f(%0#1) : (f32) -> (f32, f32)
  return %1#0 : f32
}

// ----- inlined
%t0 = constant @helper : (f32) -> (f32, f32)
%t1:2 = call @helper(%v) : (f32) -> (f32, f32)
%t2:2 = call_indirect %t0(%t1#1) : (f32) -> (f32, f32)
