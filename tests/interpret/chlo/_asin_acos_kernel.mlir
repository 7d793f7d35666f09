// RUN: stablehlo-interp --split-input-file %s

// With w the kernel of z: asin(z) = atan2(Re z, Re w) + i sign(Im z) Im w.
func.func @asin() {
  %z = stablehlo.constant dense<[(0.5, 0.25), (-2.0, 1.0), (0.125, -3.0), (1.5, 0.001)]> : tensor<4xcomplex<f64>>
  %w = "chlo._asin_acos_kernel"(%z) : (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
  %a = stablehlo.real %z : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
  %b = stablehlo.imag %z : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
  %c = stablehlo.real %w : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
  %d = stablehlo.imag %w : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
  %angle = stablehlo.atan2 %a, %c : tensor<4xf64>
  %sign = stablehlo.sign %b : tensor<4xf64>
  %imag = stablehlo.multiply %sign, %d : tensor<4xf64>
  %result = stablehlo.complex %angle, %imag : tensor<4xcomplex<f64>>
  %expected = chlo.asin %z : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 4 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
  func.return
}
