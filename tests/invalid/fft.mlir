func.func @C1(%operand: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{(C1): size(fft_length) <= rank(operand)}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4, 4>}> : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @C2_FFT(%operand: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{(C2): is_complex(operand) and element_type(operand) == element_type(result)}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4>}> : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f64>>
  return
}

// -----

func.func @C2_FFT_of_floats(%operand: tensor<4xf32>) {
  // expected-error@+1 {{(C2): is_complex(operand) and element_type(operand) == element_type(result)}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @C2_IFFT(%operand: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{(C2): is_complex(operand) and element_type(operand) == element_type(result)}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type IFFT>, fft_length = array<i64: 4>}> : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f64>>
  return
}

// -----

func.func @C2_RFFT(%operand: tensor<4xf32>) {
  // expected-error@+1 {{(C2): is_float(operand) and complex_element_type(result) == element_type(operand)}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 4>}> : (tensor<4xf32>) -> tensor<3xcomplex<f64>>
  return
}

// -----

func.func @C2_RFFT_of_complex(%operand: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{(C2): is_float(operand) and complex_element_type(result) == element_type(operand)}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 4>}> : (tensor<4xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  return
}

// -----

func.func @C2_IRFFT(%operand: tensor<3xcomplex<f32>>) {
  // expected-error@+1 {{(C2): is_complex(operand) and complex_element_type(operand) == element_type(result)}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 4>}> : (tensor<3xcomplex<f32>>) -> tensor<4xf64>
  return
}

// -----

func.func @C2_IRFFT_of_floats(%operand: tensor<3xf32>) {
  // expected-error@+1 {{(C2): is_complex(operand) and complex_element_type(operand) == element_type(result)}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 4>}> : (tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @C3(%operand: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{(C3): 1 <= size(fft_length) <= 3}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64>}> : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @C3_many(%operand: tensor<1x1x1x1xcomplex<f32>>) {
  // expected-error@+1 {{(C3): 1 <= size(fft_length) <= 3}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 1, 1, 1, 1>}> : (tensor<1x1x1x1xcomplex<f32>>) -> tensor<1x1x1x1xcomplex<f32>>
  return
}

// -----

func.func @C4_RFFT(%operand: tensor<4xf32>) {
  // expected-error@+1 {{(C4): shape(real)[-L:] == fft_length}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 5>}> : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  return
}

// -----

func.func @C4_IRFFT(%operand: tensor<3xcomplex<f32>>) {
  // expected-error@+1 {{(C4): shape(real)[-L:] == fft_length}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 5>}> : (tensor<3xcomplex<f32>>) -> tensor<4xf32>
  return
}

// -----

func.func @C4_IRFFT_unknown(%operand: tensor<4x3xcomplex<f32>>) {
  // expected-error@+1 {{(C4): shape(operand)[-L:-1] == fft_length[:-1]}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 5, 4>}> : (tensor<4x3xcomplex<f32>>) -> tensor<?x4xf32>
  return
}

// -----

func.func @C5(%operand: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{(C5): shape(result) == shape(operand)}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4>}> : (tensor<4xcomplex<f32>>) -> tensor<5xcomplex<f32>>
  return
}

// -----

func.func @C5_RFFT(%operand: tensor<4xf32>) {
  // expected-error@+1 {{(C5): dim(result, rank(result) - 1) == last_of_rfft(dim(operand, rank(operand) - 1))}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 4>}> : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @C5_IRFFT(%operand: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{(C5): dim(operand, rank(operand) - 1) == last_of_rfft(fft_length[-1])}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 4>}> : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return
}

// -----

func.func @C5_batch(%operand: tensor<2x4xcomplex<f32>>) {
  // expected-error@+1 {{(C5): shape(result)[:-1] == shape(operand)[:-1]}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4>}> : (tensor<2x4xcomplex<f32>>) -> tensor<3x4xcomplex<f32>>
  return
}

// -----

func.func @C5_rank(%operand: tensor<2x4xcomplex<f32>>) {
  // expected-error@+1 {{(C5): shape(result)[:-1] == shape(operand)[:-1]}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4>}> : (tensor<2x4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @types(%operand: tensor<4xi32>, %operand_1: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point or complex type, but is tensor<4xi32>}}
  %0 = "stablehlo.fft"(%operand) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4>}> : (tensor<4xi32>) -> tensor<4xcomplex<f32>>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type, but is tensor<4xi32>}}
  %1 = "stablehlo.fft"(%operand_1) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4>}> : (tensor<4xcomplex<f32>>) -> tensor<4xi32>
  // expected-error@+1 {{requires attribute 'fft_type'}}
  %2 = "stablehlo.fft"(%operand_1) <{fft_length = array<i64: 4>}> : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  // expected-error@+1 {{attribute 'fft_type' must be a fft_type: one of FFT, IFFT, RFFT, IRFFT}}
  %3 = "stablehlo.fft"(%operand_1) <{fft_type = "wrong", fft_length = array<i64: 4>}> : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  // expected-error@+1 {{requires attribute 'fft_length'}}
  %4 = "stablehlo.fft"(%operand_1) <{fft_type = #stablehlo<fft_type FFT>}> : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  // expected-error@+1 {{attribute 'fft_length' must be a list of 64-bit integers}}
  %5 = "stablehlo.fft"(%operand_1) <{fft_type = #stablehlo<fft_type FFT>, fft_length = "wrong"}> : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}
