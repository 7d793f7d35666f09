// function: @f
// operand: %x: i32
// result: %t2: i32
func.func @f(%a: i32) -> i32 {
  "test.graph"() ({
    %0 = "test.use"(%1, %a) : (i32, i32) -> i32
    %1 = "test.def"() : () -> i32
  }) : () -> ()
  %2 = "test.op"(%a) {text = "%a and ^bb0 and #map", key = @"odd name"} : (i32) -> i32  // not %a, not ^bb0
  return %2 : i32
}

// ----- inlined
"test.graph"() ({
  %t0 = "test.use"(%t1, %x) : (i32, i32) -> i32
  %t1 = "test.def"() : () -> i32
}) : () -> ()
%t2 = "test.op"(%x) {text = "%a and ^bb0 and #map", key = @"odd name"} : (i32) -> i32  // not %a, not ^bb0
