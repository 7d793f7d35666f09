// function: @main
// operand: %x: tensor<2xf32>
// operand: %y: tensor<2xf32>
// result: %t0: tensor<2xf32>
// dialect: stablehlo
#loc1 = loc("states[0]")
module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf32> {jax.buffer_donor = true} loc("states[0]"),
                         %arg1: tensor<2xf32> loc(#loc1)) -> (tensor<2xf32> {jax.result_info = "%arg0"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2xf32> loc(#loc4)
    return %0 : tensor<2xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("model.py":12:7)
#loc3 = loc("jit(f)/add"(#loc2))
#loc4 = loc(fused<{a = #loc2}>[#loc3, callsite("f" at #loc2), "g"(#loc)])

// ----- inlined
%t0 = stablehlo.add %x, %y : tensor<2xf32> loc(fused<{a = loc("model.py":12:7)}>["jit(f)/add"("model.py":12:7), callsite("f" at "model.py":12:7), "g"(unknown)])
