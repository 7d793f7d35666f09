// Sums that would lose their imaginary parts, which the spec does not forbid.
func.func @main() {
  %operand = stablehlo.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>
  // expected-error@+1 {{products of complex64 and complex64 are not summed up as float32}}
  %result = stablehlo.dot_general %operand, %operand, contracting_dims = [0] x [0]
    : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<f32>
  return
}
