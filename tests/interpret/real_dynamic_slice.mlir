// RUN: stablehlo-interp --split-input-file %s

// Bounds known at run time: rows 0 and 2, columns 1 and 3 of a 3 x 4 matrix of 0 to 11.
func.func @main() {
  %x = stablehlo.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi32>
  %zero = stablehlo.constant dense<0> : tensor<2xi64>
  %two = stablehlo.constant dense<2> : tensor<2xi64>
  %one = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
  %start = stablehlo.add %zero, %one : tensor<2xi64>
  %limit = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
  %0 = stablehlo.real_dynamic_slice %x, %start, %limit, %two : (tensor<3x4xi32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xi32>
  %1 = tensor.cast %0 : tensor<?x?xi32> to tensor<2x2xi32>
  check.expect_eq_const %1, dense<[[1, 3], [9, 11]]> : tensor<2x2xi32>
  func.return
}

// -----

// The slice is empty if limit equals start; a stride may be larger than the slice.
func.func @main() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xbf16>
  %start = stablehlo.constant dense<1> : tensor<1xi32>
  %limit = stablehlo.constant dense<3> : tensor<1xi32>
  %stride = stablehlo.constant dense<100> : tensor<1xi32>
  %0 = stablehlo.real_dynamic_slice %x, %start, %start, %stride : (tensor<3xbf16>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<0xbf16>
  check.expect_eq_const %0, dense<> : tensor<0xbf16>
  %1 = stablehlo.real_dynamic_slice %x, %start, %limit, %stride : (tensor<3xbf16>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1xbf16>
  check.expect_eq_const %1, dense<2.0> : tensor<1xbf16>
  func.return
}

// -----

// Quantized elements are moved in stored form.
func.func @main() {
  %f = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %x = stablehlo.uniform_quantize %f : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 0.5>>
  %start = stablehlo.constant dense<0> : tensor<1xi64>
  %limit = stablehlo.constant dense<3> : tensor<1xi64>
  %stride = stablehlo.constant dense<2> : tensor<1xi64>
  %0 = stablehlo.real_dynamic_slice %x, %start, %limit, %stride : (tensor<3x!quant.uniform<i8:f32, 0.5>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  check.expect_eq_const %0, dense<[2, 6]> : tensor<2x!quant.uniform<i8:f32, 0.5>>
  func.return
}
