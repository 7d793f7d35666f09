// RUN: stablehlo-interp --split-input-file %s

func.func @elements() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = tensor.extract %x[%c1, %c2] : tensor<2x3xi32>
  %1 = tensor.extract %x[%c0, %c1] : tensor<2x3xi32>
  %2 = tensor.from_elements %0, %1, %0, %0 : tensor<2x2xi32>
  check.expect_eq_const %2, dense<[[6, 2], [6, 6]]> : tensor<2x2xi32>
  %3 = tensor.insert %1 into %x[%c1, %c0] : tensor<2x3xi32>
  check.expect_eq_const %3, dense<[[1, 2, 3], [2, 5, 6]]> : tensor<2x3xi32>
  check.expect_eq_const %x, dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %4 = tensor.splat %0 : tensor<3xi32>
  check.expect_eq_const %4, dense<6> : tensor<3xi32>
  %s = stablehlo.constant dense<7> : tensor<i32>
  %5 = tensor.extract %s[] : tensor<i32>
  %6 = tensor.from_elements %5 : tensor<i32>
  check.expect_eq_const %6, dense<7> : tensor<i32>
  func.return
}

// -----

func.func @sizes() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %0 = tensor.cast %x : tensor<2x3xi32> to tensor<?x?xi32>
  %c1 = arith.constant 1 : index
  %1 = tensor.dim %0, %c1 : tensor<?x?xi32>
  %2 = tensor.rank %0 : tensor<?x?xi32>
  %3 = tensor.from_elements %1, %2 : tensor<2xindex>
  %4 = arith.index_cast %3 : tensor<2xindex> to tensor<2xi32>
  check.expect_eq_const %4, dense<[3, 2]> : tensor<2xi32>
  %5 = stablehlo.add %0, %0 : tensor<?x?xi32>
  %6 = tensor.cast %5 : tensor<?x?xi32> to tensor<2x3xi32>
  check.expect_eq_const %6, dense<[[2, 4, 6], [8, 10, 12]]> : tensor<2x3xi32>
  %7 = tensor.empty(%1) : tensor<2x?xf32>
  %8 = tensor.dim %7, %c1 : tensor<2x?xf32>
  %9 = tensor.splat %8[%2] : tensor<?xindex>
  %10 = arith.index_cast %9 : tensor<?xindex> to tensor<?xi32>
  %11 = tensor.cast %10 : tensor<?xi32> to tensor<2xi32>
  check.expect_eq_const %11, dense<3> : tensor<2xi32>
  func.return
}

// -----

func.func @shapes() {
  %x = stablehlo.iota dim = 0 : tensor<12xi32>
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [3, 4] : tensor<12xi32> into tensor<3x4xi32>
  check.expect_eq_const %0, dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<3x4xi32> into tensor<12xi32>
  check.expect_eq %1, %x : tensor<12xi32>
  %c6 = arith.constant 6 : index
  %c2 = arith.constant 2 : index
  %sizes = tensor.from_elements %c2, %c6 : tensor<2xindex>
  %2 = tensor.reshape %0(%sizes) : (tensor<3x4xi32>, tensor<2xindex>) -> tensor<2x?xi32>
  %3 = tensor.cast %2 : tensor<2x?xi32> to tensor<2x6xi32>
  check.expect_eq_const %3, dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]> : tensor<2x6xi32>
  %4 = tensor.concat dim(1) %0, %0 : (tensor<3x4xi32>, tensor<3x4xi32>) -> tensor<3x8xi32>
  %5 = stablehlo.slice %4 [1:2, 2:6] : (tensor<3x8xi32>) -> tensor<1x4xi32>
  check.expect_eq_const %5, dense<[[6, 7, 4, 5]]> : tensor<1x4xi32>
  %6 = tensor.cast %x : tensor<12xi32> to tensor<?xi32>
  %7 = tensor.expand_shape %6 [[0, 1]] output_shape [%c6, 2] : tensor<?xi32> into tensor<?x2xi32>
  %8 = tensor.cast %7 : tensor<?x2xi32> to tensor<6x2xi32>
  check.expect_eq_const %8, dense<[[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11]]> : tensor<6x2xi32>
  func.return
}
