// RUN: stablehlo-interp --split-input-file %s

// All drawn numbers are in [a, b).
func.func @uniform_f32() {
  %a = stablehlo.constant dense<-1.0> : tensor<f32>
  %b = stablehlo.constant dense<2.0> : tensor<f32>
  %shape = stablehlo.constant dense<[10, 100]> : tensor<2xi64>
  %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<10x100xf32>
  %1 = stablehlo.clamp %a, %0, %b : (tensor<f32>, tensor<10x100xf32>, tensor<f32>) -> tensor<10x100xf32>
  check.expect_eq %0, %1 : tensor<10x100xf32>
  %2 = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<10x100xf32>
  %3 = stablehlo.compare LT, %0, %2 : (tensor<10x100xf32>, tensor<10x100xf32>) -> tensor<10x100xi1>
  check.expect_eq_const %3, dense<true> : tensor<10x100xi1>
  func.return
}

// -----

// Only one integer is in [3, 4).
func.func @uniform_i32() {
  %a = stablehlo.constant dense<3> : tensor<i32>
  %b = stablehlo.constant dense<4> : tensor<i32>
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = "stablehlo.rng"(%a, %b, %shape) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<3> : tensor<2x3xi32>
  func.return
}

// -----

func.func @uniform_i1() {
  %a = stablehlo.constant dense<false> : tensor<i1>
  %b = stablehlo.constant dense<true> : tensor<i1>
  %shape = stablehlo.constant dense<5> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<i1>, tensor<i1>, tensor<1xi64>) -> tensor<5xi1>
  check.expect_eq_const %0, dense<false> : tensor<5xi1>
  func.return
}

// -----

func.func @normal_without_deviation() {
  %mean = stablehlo.constant dense<1.5> : tensor<bf16>
  %deviation = stablehlo.constant dense<0.0> : tensor<bf16>
  %shape = stablehlo.constant dense<3> : tensor<1xi64>
  %0 = stablehlo.rng %mean, %deviation, %shape, distribution = NORMAL : (tensor<bf16>, tensor<bf16>, tensor<1xi64>) -> tensor<3xbf16>
  check.expect_eq_const %0, dense<1.5> : tensor<3xbf16>
  func.return
}

// -----

func.func @scalars_and_empty_tensors() {
  %a = stablehlo.constant dense<7> : tensor<ui8>
  %b = stablehlo.constant dense<8> : tensor<ui8>
  %scalar = stablehlo.constant dense<> : tensor<0xi64>
  %0 = stablehlo.rng %a, %b, %scalar, distribution = UNIFORM : (tensor<ui8>, tensor<ui8>, tensor<0xi64>) -> tensor<ui8>
  check.expect_eq_const %0, dense<7> : tensor<ui8>
  %empty = stablehlo.constant dense<[0, 4]> : tensor<2xi64>
  %1 = stablehlo.rng %a, %b, %empty, distribution = UNIFORM : (tensor<ui8>, tensor<ui8>, tensor<2xi64>) -> tensor<0x4xui8>
  check.expect_eq_const %1, dense<> : tensor<0x4xui8>
  func.return
}
