// function: @f
// operand: %x: f32
// operand: %y#1: i32
// result: %y#1: i32
// result: %x: f32
// result: %x: f32
// result: %t0#2: f32
func.func @f(%a: f32, %b: i32) -> (i32, f32, f32, f32) {
  %unused:3 = "test.op"(%a) : (f32) -> (f32, f32, f32)
  return %b, %a, %a, %unused#2 : i32, f32, f32, f32
}

// ----- inlined
%t0:3 = "test.op"(%x) : (f32) -> (f32, f32, f32)
