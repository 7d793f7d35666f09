// RUN: stablehlo-interp %s

func.func @main() {
  %x = stablehlo.constant dense<[[1.0, -3.0], [0.0, 0.5]]> : tensor<2x2xf32>
  %0 = toy.softsign %x : tensor<2x2xf32>
  check.expect_almost_eq_const %0, dense<[[0.5, -0.75], [0.0, 0.333333343]]> : tensor<2x2xf32>
  %1 = toy.rotate %x, dim = 1 {by = 1 : i64} : tensor<2x2xf32>
  check.expect_eq_const %1, dense<[[-3.0, 1.0], [0.5, 0.0]]> : tensor<2x2xf32>
  %2 = "toy.rotate"(%x) <{dimension = 0 : i64}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %2, dense<[[0.0, 0.5], [1.0, -3.0]]> : tensor<2x2xf32>
  %3 = stablehlo.custom_call @toy.clip(%x) {backend_config = {high = 0.75 : f32, low = -1.0 : f32}, api_version = 4 : i32} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %3, dense<[[0.75, -1.0], [0.0, 0.5]]> : tensor<2x2xf32>
  return
}
