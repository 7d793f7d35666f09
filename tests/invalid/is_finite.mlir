func.func @C1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1): shape(x) == shape(y)}}
  %0 = "stablehlo.is_finite"(%x) : (tensor<2xf32>) -> tensor<3xi1>
  return
}

// -----

func.func @types(%x: tensor<2xi32>, %x_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (x) must be tensor of floating-point type or per-tensor quantized tensor, but is tensor<2xi32>}}
  %0 = "stablehlo.is_finite"(%x) : (tensor<2xi32>) -> tensor<2xi1>
  // expected-error@+1 {{result #0 (y) must be tensor of boolean type, but is tensor<2xi32>}}
  %1 = "stablehlo.is_finite"(%x_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}
