// RUN: stablehlo-interp --split-input-file %s

// (3 - i), (-2 + 3i): arithmetic, comparisons and parts.
func.func @main() {
  %a = complex.constant [3.0 : f32, -1.0 : f32] : complex<f32>
  %re = arith.constant -2.0 : f32
  %im = arith.constant 3.0 : f32
  %b = complex.create %re, %im : complex<f32>
  %0 = complex.add %a, %b : complex<f32>
  %1 = complex.sub %a, %b : complex<f32>
  %2 = complex.mul %a, %b : complex<f32>
  %3 = complex.div %2, %b : complex<f32>
  %numbers = tensor.from_elements %0, %1, %2, %3 : tensor<4xcomplex<f32>>
  check.expect_eq_const %numbers, dense<[(1.0, 2.0), (5.0, -4.0), (-3.0, 11.0), (3.0, -1.0)]> : tensor<4xcomplex<f32>>
  %4 = complex.re %b : complex<f32>
  %5 = complex.im %b : complex<f32>
  %parts = tensor.from_elements %4, %5 : tensor<2xf32>
  check.expect_eq_const %parts, dense<[-2.0, 3.0]> : tensor<2xf32>
  %6 = complex.eq %a, %b : complex<f32>
  %7 = complex.neq %a, %b : complex<f32>
  %8 = complex.eq %a, %3 : complex<f32>
  %compared = tensor.from_elements %6, %7, %8 : tensor<3xi1>
  check.expect_eq_const %compared, dense<[false, true, true]> : tensor<3xi1>
  return
}

// -----

func.func @functions() {
  %x0 = complex.constant [-3.0, 4.0] : complex<f64>
  %y0 = complex.conj %x0 : complex<f64>
  %t0 = tensor.from_elements %y0 : tensor<complex<f64>>
  check.expect_almost_eq_const %t0, dense<(-3.0, -4.0)> : tensor<complex<f64>>
  %x1 = complex.constant [-3.0, 4.0] : complex<f64>
  %y1 = complex.neg %x1 : complex<f64>
  %t1 = tensor.from_elements %y1 : tensor<complex<f64>>
  check.expect_almost_eq_const %t1, dense<(3.0, -4.0)> : tensor<complex<f64>>
  %x2 = complex.constant [-3.0, 4.0] : complex<f64>
  %y2 = complex.sign %x2 : complex<f64>
  %t2 = tensor.from_elements %y2 : tensor<complex<f64>>
  check.expect_almost_eq_const %t2, dense<(-0.6, 0.8)> : tensor<complex<f64>>
  %x3 = complex.constant [-4.0, 0.0] : complex<f64>
  %y3 = complex.sqrt %x3 : complex<f64>
  %t3 = tensor.from_elements %y3 : tensor<complex<f64>>
  check.expect_almost_eq_const %t3, dense<(0.0, 2.0)> : tensor<complex<f64>>
  %x4 = complex.constant [4.0, 0.0] : complex<f64>
  %y4 = complex.rsqrt %x4 : complex<f64>
  %t4 = tensor.from_elements %y4 : tensor<complex<f64>>
  check.expect_almost_eq_const %t4, dense<(0.5, 0.0)> : tensor<complex<f64>>
  %x5 = complex.constant [0.0, 0.0] : complex<f64>
  %y5 = complex.exp %x5 : complex<f64>
  %t5 = tensor.from_elements %y5 : tensor<complex<f64>>
  check.expect_almost_eq_const %t5, dense<(1.0, 0.0)> : tensor<complex<f64>>
  %x6 = complex.constant [0.0, 0.0] : complex<f64>
  %y6 = complex.expm1 %x6 : complex<f64>
  %t6 = tensor.from_elements %y6 : tensor<complex<f64>>
  check.expect_almost_eq_const %t6, dense<(0.0, 0.0)> : tensor<complex<f64>>
  %x7 = complex.constant [1.0, 0.0] : complex<f64>
  %y7 = complex.log %x7 : complex<f64>
  %t7 = tensor.from_elements %y7 : tensor<complex<f64>>
  check.expect_almost_eq_const %t7, dense<(0.0, 0.0)> : tensor<complex<f64>>
  %x8 = complex.constant [0.0, 0.0] : complex<f64>
  %y8 = complex.log1p %x8 : complex<f64>
  %t8 = tensor.from_elements %y8 : tensor<complex<f64>>
  check.expect_almost_eq_const %t8, dense<(0.0, 0.0)> : tensor<complex<f64>>
  %x9 = complex.constant [0.0, 0.0] : complex<f64>
  %y9 = complex.sin %x9 : complex<f64>
  %t9 = tensor.from_elements %y9 : tensor<complex<f64>>
  check.expect_almost_eq_const %t9, dense<(0.0, 0.0)> : tensor<complex<f64>>
  %x10 = complex.constant [0.0, 0.0] : complex<f64>
  %y10 = complex.cos %x10 : complex<f64>
  %t10 = tensor.from_elements %y10 : tensor<complex<f64>>
  check.expect_almost_eq_const %t10, dense<(1.0, -0.0)> : tensor<complex<f64>>
  %x11 = complex.constant [0.0, 0.0] : complex<f64>
  %y11 = complex.tan %x11 : complex<f64>
  %t11 = tensor.from_elements %y11 : tensor<complex<f64>>
  check.expect_almost_eq_const %t11, dense<(0.0, 0.0)> : tensor<complex<f64>>
  %x12 = complex.constant [0.0, 0.0] : complex<f64>
  %y12 = complex.tanh %x12 : complex<f64>
  %t12 = tensor.from_elements %y12 : tensor<complex<f64>>
  check.expect_almost_eq_const %t12, dense<(0.0, 0.0)> : tensor<complex<f64>>
  %z = complex.constant [0.0, -2.0] : complex<f64>
  %abs = complex.abs %z : complex<f64>
  %angle = complex.angle %z : complex<f64>
  %polar = tensor.from_elements %abs, %angle : tensor<2xf64>
  check.expect_almost_eq_const %polar, dense<[2.0, -1.5707963267948966]> : tensor<2xf64>
  %two = complex.constant [2.0, 0.0] : complex<f64>
  %pow = complex.pow %z, %two : complex<f64>
  %one = complex.constant [1.0, 0.0] : complex<f64>
  %atan2 = complex.atan2 %one, %one : complex<f64>
  %binary = tensor.from_elements %pow, %atan2 : tensor<2xcomplex<f64>>
  check.expect_almost_eq_const %binary, dense<[(-4.0, 0.0), (0.78539816339744828, 0.0)]> : tensor<2xcomplex<f64>>
  return
}
