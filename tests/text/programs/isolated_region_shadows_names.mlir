// function: @f
// operand: %x: f32
// result: %t0: f32
// dialect: test
func.func @f(%arg0: f32) -> f32 {
  %0 = test.isolated(%arg0) (%arg0: f32) {
    %1 = arith.addf %arg0, %arg0 : f32
    test.return %1 : f32
  } : (f32) -> f32
  return %0 : f32
}

// ----- inlined
%t0 = test.isolated(%x) (%blk_arg0: f32) {
  %t1 = arith.addf %blk_arg0, %blk_arg0 : f32
  test.return %t1 : f32
} : (f32) -> f32
