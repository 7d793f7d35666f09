func.func @types(%operand: tensor<!quant.uniform<i8:f32, 1.0>>, %operand_1: tensor<f32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor, but is tensor<!quant.uniform<i8:f32, 1.000000e+00>>}}
  "stablehlo.trace"(%operand) <{tag = "here"}> : (tensor<!quant.uniform<i8:f32, 1.0>>) -> ()
  // expected-error@+1 {{requires attribute 'tag'}}
  "stablehlo.trace"(%operand_1) : (tensor<f32>) -> ()
  // expected-error@+1 {{attribute 'tag' must be a string}}
  "stablehlo.trace"(%operand_1) <{tag = 1 : i64}> : (tensor<f32>) -> ()
  return
}
