// RUN: stablehlo-interp --split-input-file %s

// An impulse has all frequencies.
func.func @fft() {
  %operand = stablehlo.constant dense<[(1.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]> : tensor<4xcomplex<f32>>
  %result = stablehlo.fft %operand, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  check.expect_eq_const %result, dense<(1.0, 0.0)> : tensor<4xcomplex<f32>>
  func.return
}

// -----

// A complex exponential has one frequency; in the forward transform it is the first.
func.func @fft_sign() {
  %operand = stablehlo.constant dense<[(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]> : tensor<4xcomplex<f64>>
  %result = stablehlo.fft %operand, type = FFT, length = [4] : (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
  check.expect_eq_const %result, dense<[(0.0, 0.0), (4.0, 0.0), (0.0, 0.0), (0.0, 0.0)]> : tensor<4xcomplex<f64>>
  func.return
}

// -----

// The inverse divides by the length.
func.func @ifft() {
  %operand = stablehlo.constant dense<[(0.0, 0.0), (4.0, 0.0), (0.0, 0.0), (0.0, 0.0)]> : tensor<4xcomplex<f64>>
  %result = stablehlo.fft %operand, type = IFFT, length = [4] : (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
  check.expect_eq_const %result, dense<[(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]> : tensor<4xcomplex<f64>>
  func.return
}

// -----

// 1 + 2 + 3 + 4, 1 - 3 + i (4 - 2), 1 - 2 + 3 - 4.
func.func @rfft() {
  %operand = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %result = stablehlo.fft %operand, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  check.expect_eq_const %result, dense<[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @irfft() {
  %operand = stablehlo.constant dense<[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)]> : tensor<3xcomplex<f32>>
  %result = stablehlo.fft %operand, type = IRFFT, length = [4] : (tensor<3xcomplex<f32>>) -> tensor<4xf32>
  check.expect_eq_const %result, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  func.return
}

// -----

// An odd length has no Nyquist frequency: (6 + 2 * 1.5) / 3, (6 - 1.5 -+ sqrt(3) * 1) / 3.
func.func @irfft_of_odd_length() {
  %operand = stablehlo.constant dense<[(6.0, 0.0), (1.5, 1.0)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.fft %operand, type = IRFFT, length = [3] : (tensor<2xcomplex<f64>>) -> tensor<3xf64>
  check.expect_almost_eq_const %result, dense<[3.0, 0.9226497308103743, 2.0773502691896257]> : tensor<3xf64>
  func.return
}

// -----

// The last two dimensions of each matrix are transformed: sums and differences along rows, then columns.
func.func @fft_of_matrices() {
  %operand = stablehlo.constant dense<[[[(1.0, 0.0), (2.0, 0.0)], [(3.0, 0.0), (4.0, 0.0)]],
                                       [[(0.0, 1.0), (0.0, 0.0)], [(0.0, 0.0), (0.0, 0.0)]]]> : tensor<2x2x2xcomplex<f32>>
  %result = stablehlo.fft %operand, type = FFT, length = [2, 2] : (tensor<2x2x2xcomplex<f32>>) -> tensor<2x2x2xcomplex<f32>>
  check.expect_eq_const %result, dense<[[[(10.0, 0.0), (-2.0, 0.0)], [(-4.0, 0.0), (0.0, 0.0)]],
                                        [[(0.0, 1.0), (0.0, 1.0)], [(0.0, 1.0), (0.0, 1.0)]]]> : tensor<2x2x2xcomplex<f32>>
  func.return
}

// -----

func.func @rfft_there_and_back() {
  %operand = stablehlo.constant dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [0.0, 1.0, 5.0]]]> : tensor<2x2x3xf64>
  %0 = stablehlo.fft %operand, type = RFFT, length = [2, 2, 3] : (tensor<2x2x3xf64>) -> tensor<2x2x2xcomplex<f64>>
  %result = stablehlo.fft %0, type = IRFFT, length = [2, 2, 3] : (tensor<2x2x2xcomplex<f64>>) -> tensor<2x2x3xf64>
  check.expect_almost_eq %result, %operand, tolerance = 1.0e-14 : tensor<2x2x3xf64>
  func.return
}

// -----

func.func @nothing() {
  %operand = stablehlo.constant dense<> : tensor<2x0xf32>
  %0 = stablehlo.fft %operand, type = RFFT, length = [0] : (tensor<2x0xf32>) -> tensor<2x0xcomplex<f32>>
  check.expect_eq_const %0, dense<> : tensor<2x0xcomplex<f32>>
  %1 = stablehlo.fft %0, type = IRFFT, length = [0] : (tensor<2x0xcomplex<f32>>) -> tensor<2x0xf32>
  check.expect_eq_const %1, dense<> : tensor<2x0xf32>
  func.return
}
