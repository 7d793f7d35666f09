func.func @C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(operand), baseline_type(output))}}
  %0 = "stablehlo.reduce_precision"(%operand) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @C2(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C2): 1 <= exponent_bits}}
  %0 = "stablehlo.reduce_precision"(%operand) <{exponent_bits = 0 : i32, mantissa_bits = 10 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C3(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C3): 0 <= mantissa_bits}}
  %0 = "stablehlo.reduce_precision"(%operand) <{exponent_bits = 5 : i32, mantissa_bits = -1 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point type or per-tensor quantized tensor, but is tensor<2xi32>}}
  %0 = "stablehlo.reduce_precision"(%operand) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (output) must be tensor of floating-point type or per-tensor quantized tensor, but is tensor<2xi32>}}
  %1 = "stablehlo.reduce_precision"(%operand_1) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<2xf32>) -> tensor<2xi32>
  // expected-error@+1 {{requires attribute 'exponent_bits'}}
  %2 = "stablehlo.reduce_precision"(%operand_1) <{mantissa_bits = 10 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'exponent_bits' must be a 32-bit integer}}
  %3 = "stablehlo.reduce_precision"(%operand_1) <{exponent_bits = "wrong", mantissa_bits = 10 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{requires attribute 'mantissa_bits'}}
  %4 = "stablehlo.reduce_precision"(%operand_1) <{exponent_bits = 5 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'mantissa_bits' must be a 32-bit integer}}
  %5 = "stablehlo.reduce_precision"(%operand_1) <{exponent_bits = 5 : i32, mantissa_bits = "wrong"}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
