// function: @f
// operand: %x: vector<4xf32>
// operand: %y: f32
// result: %t3: f32
// dialect: math
// dialect: vector
func.func @f(%v: vector<4xf32>, %acc: f32) -> f32 {
  %0 = math.exp %v : vector<4xf32>
  %1 = vector.reduction <add>, %0, %acc : vector<4xf32> into f32
  %2 = arith.cmpf oeq, %1, %acc : f32
  %3 = arith.select %2, %1, %acc : f32
  return %3 : f32
}

// ----- inlined
%t0 = math.exp %x : vector<4xf32>
%t1 = vector.reduction <add>, %t0, %y : vector<4xf32> into f32
%t2 = arith.cmpf oeq, %t1, %y : f32
%t3 = arith.select %t2, %t1, %y : f32
