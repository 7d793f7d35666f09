// A real result would discard the imaginary parts of complex products. The spec does not forbid it.
func.func @main() {
  %operand = stablehlo.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>
  // expected-error@+1 {{products of complex64 and complex64 cannot be summed as float32}}
  %result = stablehlo.dot_general %operand, %operand, contracting_dims = [0] x [0]
    : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<f32>
  return
}
