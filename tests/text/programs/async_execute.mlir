// function: @f
// operand: %a: !async.token
// operand: %b: !async.value<f32>
// result: %t0: !async.token
// dialect: async
func.func @f(%token: !async.token, %v: !async.value<f32>) -> !async.token {
  %done, %out = async.execute [%token] (%v as %unwrapped: !async.value<f32>) -> !async.value<f32> {
    %0 = arith.addf %unwrapped, %unwrapped : f32
    async.yield %0 : f32
  }
  return %done : !async.token
}

// ----- inlined
%t0, %t1 = async.execute [%a] (%b as %blk_arg0: !async.value<f32>) -> !async.value<f32> {
  %t2 = arith.addf %blk_arg0, %blk_arg0 : f32
  async.yield %t2 : f32
}
