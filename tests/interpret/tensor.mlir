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

// -----

// The edges of tensors: scalars and tensors without elements.
func.func @edges() {
  %s = stablehlo.constant dense<7> : tensor<i32>
  %0 = tensor.expand_shape %s [] output_shape [1, 1] : tensor<i32> into tensor<1x1xi32>
  check.expect_eq_const %0, dense<[[7]]> : tensor<1x1xi32>
  %1 = tensor.collapse_shape %0 [] : tensor<1x1xi32> into tensor<i32>
  check.expect_eq %1, %s : tensor<i32>
  %2 = tensor.rank %s : tensor<i32>
  %e = stablehlo.constant dense<> : tensor<2x0xi32>
  %c1 = arith.constant 1 : index
  %3 = tensor.dim %e, %c1 : tensor<2x0xi32>
  %4 = tensor.from_elements %2, %3 : tensor<2xindex>
  %5 = arith.index_cast %4 : tensor<2xindex> to tensor<2xi64>
  check.expect_eq_const %5, dense<0> : tensor<2xi64>
  %6 = tensor.collapse_shape %e [[0, 1]] : tensor<2x0xi32> into tensor<0xi32>
  check.expect_eq_const %6, dense<> : tensor<0xi32>
  %7 = tensor.concat dim(1) %e, %e : (tensor<2x0xi32>, tensor<2x0xi32>) -> tensor<2x0xi32>
  check.expect_eq %7, %e : tensor<2x0xi32>
  func.return
}

// -----

// Elements of 4 and 8 bits, booleans, complex and quantized numbers are taken as they are.
func.func @element_types() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  %0 = tensor.extract %a[%c0] : tensor<2xi4>
  %1 = tensor.insert %0 into %a[%c1] : tensor<2xi4>
  check.expect_eq_const %1, dense<-8> : tensor<2xi4>
  %b = stablehlo.constant dense<[0x7F, 0x80]> : tensor<2xf8E4M3FN>
  %2 = tensor.extract %b[%c1] : tensor<2xf8E4M3FN>
  %3 = tensor.splat %2 : tensor<2x2xf8E4M3FN>
  check.expect_eq_const %3, dense<0x80> : tensor<2x2xf8E4M3FN>
  %c = stablehlo.constant dense<[(1.0, -2.0), (0.0, 0x7FC00000)]> : tensor<2xcomplex<f32>>
  %4 = tensor.extract %c[%c0] : tensor<2xcomplex<f32>>
  %5 = tensor.from_elements %4, %4 : tensor<2x1xcomplex<f32>>
  check.expect_eq_const %5, dense<(1.0, -2.0)> : tensor<2x1xcomplex<f32>>
  %p = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %6 = tensor.concat dim(0) %p, %p : (tensor<2xi1>, tensor<2xi1>) -> tensor<4xi1>
  check.expect_eq_const %6, dense<[true, false, true, false]> : tensor<4xi1>
  %f = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %q = stablehlo.uniform_quantize %f : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  %7 = tensor.collapse_shape %q [[0]] : tensor<2x!quant.uniform<i8:f32, 0.5>> into tensor<2x!quant.uniform<i8:f32, 0.5>>
  check.expect_eq_const %7, dense<[2, 4]> : tensor<2x!quant.uniform<i8:f32, 0.5>>
  func.return
}

// -----

// Dimensions that are joined and split again where only a run knows their sizes.
func.func @unknown_sizes() {
  %x = stablehlo.iota dim = 0 : tensor<12xi32>
  %0 = tensor.expand_shape %x [[0, 1, 2]] output_shape [2, 3, 2] : tensor<12xi32> into tensor<2x3x2xi32>
  %1 = tensor.cast %0 : tensor<2x3x2xi32> to tensor<?x?x2xi32>
  %2 = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<?x?x2xi32> into tensor<?x?xi32>
  %3 = tensor.cast %2 : tensor<?x?xi32> to tensor<2x6xi32>
  check.expect_eq_const %3, dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]> : tensor<2x6xi32>
  %4 = tensor.concat dim(0) %2, %2 : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
  %c0 = arith.constant 0 : index
  %5 = tensor.dim %4, %c0 : tensor<?x?xi32>
  %6 = tensor.empty(%5) : tensor<?x0xf32>
  %7 = tensor.cast %6 : tensor<?x0xf32> to tensor<4x0xf32>
  check.expect_eq_const %7, dense<> : tensor<4x0xf32>
  func.return
}

// -----

// Slices at static and dynamic offsets, some of which lose dimensions of size 1.
func.func @slices() {
  %x = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi32>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = tensor.extract_slice %x[%c1, 1] [2, 2] [1, 2] : tensor<3x4xi32> to tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[6, 8], [10, 12]]> : tensor<2x2xi32>
  %1 = tensor.extract_slice %x[0, %c2] [3, 1] [1, 1] : tensor<3x4xi32> to tensor<3xi32>
  check.expect_eq_const %1, dense<[3, 7, 11]> : tensor<3xi32>
  %2 = tensor.extract_slice %x[0, 0] [%c2, %c1] [%c2, 1] : tensor<3x4xi32> to tensor<?x?xi32>
  %3 = tensor.cast %2 : tensor<?x?xi32> to tensor<2x1xi32>
  check.expect_eq_const %3, dense<[[1], [9]]> : tensor<2x1xi32>
  %4 = tensor.insert_slice %1 into %x[0, %c1] [3, 1] [1, 1] : tensor<3xi32> into tensor<3x4xi32>
  check.expect_eq_const %4, dense<[[1, 3, 3, 4], [5, 7, 7, 8], [9, 11, 11, 12]]> : tensor<3x4xi32>
  %5 = tensor.insert_slice %0 into %x[0, 0] [2, 2] [%c2, %c1] : tensor<2x2xi32> into tensor<3x4xi32>
  check.expect_eq_const %5, dense<[[6, 8, 3, 4], [5, 6, 7, 8], [10, 12, 11, 12]]> : tensor<3x4xi32>
  %6 = tensor.bitcast %0 : tensor<2x2xi32> to tensor<2x2xui32>
  check.expect_eq_const %6, dense<[[6, 8], [10, 12]]> : tensor<2x2xui32>
  func.return
}

// -----

// Regions that compute elements: elementwise in all indices, with an element of another tensor, constant.
func.func @regions() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = tensor.generate %c2 {
  ^bb0(%i: index, %j: index):
    %c10 = arith.constant 10 : index
    %a = arith.muli %i, %c10 : index
    %b = arith.addi %a, %j : index
    tensor.yield %b : index
  } : tensor<?x3xindex>
  %1 = tensor.cast %0 : tensor<?x3xindex> to tensor<2x3xindex>
  %2 = arith.index_cast %1 : tensor<2x3xindex> to tensor<2x3xi32>
  check.expect_eq_const %2, dense<[[0, 1, 2], [10, 11, 12]]> : tensor<2x3xi32>
  %3 = tensor.generate {
  ^bb0(%i: index, %j: index):
    %a = tensor.extract %x[%j, %i] : tensor<2x2xi32>
    tensor.yield %a : i32
  } : tensor<2x2xi32>
  check.expect_eq_const %3, dense<[[1, 3], [2, 4]]> : tensor<2x2xi32>
  %seven = arith.constant 7 : i32
  %4 = tensor.pad %x low[%c1, 0] high[0, %c2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %seven : i32
  } : tensor<2x2xi32> to tensor<3x?xi32>
  %5 = tensor.cast %4 : tensor<3x?xi32> to tensor<3x4xi32>
  check.expect_eq_const %5, dense<[[7, 7, 7, 7], [1, 2, 7, 7], [3, 4, 7, 7]]> : tensor<3x4xi32>
  %6 = tensor.pad %x nofold low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    %a = arith.index_cast %i : index to i32
    tensor.yield %a : i32
  } : tensor<2x2xi32> to tensor<2x3xi32>
  check.expect_eq_const %6, dense<[[0, 1, 2], [1, 3, 4]]> : tensor<2x3xi32>
  func.return
}
