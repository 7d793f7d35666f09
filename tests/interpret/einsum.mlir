// RUN: stablehlo-interp --split-input-file %s

func.func @matrix_product() {
  %lhs = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %rhs = stablehlo.constant dense<[[1, 0, 2, 0], [0, 1, 0, 3]]> : tensor<2x4xi32>
  %0 = stablehlo.einsum %lhs, %rhs, config = "ab,bc->ac" : (tensor<3x2xi32>, tensor<2x4xi32>) -> tensor<3x4xi32>
  check.expect_eq_const %0, dense<[[1, 2, 2, 6], [3, 4, 6, 12], [5, 6, 10, 18]]> : tensor<3x4xi32>
  %1 = stablehlo.einsum %lhs, %rhs, config = "ab,bc->ca" : (tensor<3x2xi32>, tensor<2x4xi32>) -> tensor<4x3xi32>
  check.expect_eq_const %1, dense<[[1, 3, 5], [2, 4, 6], [2, 6, 10], [6, 12, 18]]> : tensor<4x3xi32>
  func.return
}

// -----

// One dimension is a batch dimension, another is summed on one side only.
func.func @batches_and_sums() {
  %lhs = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xbf16>
  %rhs = stablehlo.constant dense<[[1.0, -1.0], [2.0, 0.5]]> : tensor<2x2xbf16>
  %0 = stablehlo.einsum %lhs, %rhs, config = "bij,bj->bi" : (tensor<2x2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xbf16>
  check.expect_eq_const %0, dense<[[-1.0, -1.0], [13.0, 18.0]]> : tensor<2x2xbf16>
  %1 = stablehlo.einsum %lhs, %rhs, config = "bij,bk->kb" : (tensor<2x2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xbf16>
  check.expect_eq_const %1, dense<[[10.0, 52.0], [-10.0, 13.0]]> : tensor<2x2xbf16>
  func.return
}

// -----

// A repeated name in one operand selects the diagonal.
func.func @diagonals() {
  %lhs = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %rhs = stablehlo.constant dense<[10, 20]> : tensor<2xi8>
  %0 = stablehlo.einsum %lhs, %rhs, config = "aa,a->a" : (tensor<2x2xi8>, tensor<2xi8>) -> tensor<2xi8>
  check.expect_eq_const %0, dense<[10, 80]> : tensor<2xi8>
  %1 = "stablehlo.einsum"(%lhs, %rhs) {einsum_config = "aa,b->b"} : (tensor<2x2xi8>, tensor<2xi8>) -> tensor<2xi8>
  check.expect_eq_const %1, dense<[50, 100]> : tensor<2xi8>
  func.return
}

// -----

func.func @scalars_and_empty_tensors() {
  %lhs = stablehlo.constant dense<3> : tensor<i32>
  %rhs = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = stablehlo.einsum %lhs, %rhs, config = ",a->a" : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[3, 6]> : tensor<2xi32>
  %empty = stablehlo.constant dense<> : tensor<0x2xi32>
  %1 = stablehlo.einsum %empty, %rhs, config = "ab,b->" : (tensor<0x2xi32>, tensor<2xi32>) -> tensor<i32>
  check.expect_eq_const %1, dense<0> : tensor<i32>
  func.return
}

// -----

// An ellipsis is any number of dimensions, here batch dimensions: a matrix product, and a batched dot product.
func.func @ellipses() {
  %lhs = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi32>
  %rhs = stablehlo.constant dense<[[1, 0], [10, 1]]> : tensor<2x2xi32>
  %0 = stablehlo.einsum %lhs, %rhs, config = "...x,xy->...y" : (tensor<2x2x2xi32>, tensor<2x2xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %0, dense<[[[21, 2], [43, 4]], [[65, 6], [87, 8]]]> : tensor<2x2x2xi32>
  %1 = stablehlo.einsum %lhs, %lhs, config = "...x,...x->..." : (tensor<2x2x2xi32>, tensor<2x2x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %1, dense<[[5, 25], [61, 113]]> : tensor<2x2xi32>
  %2 = stablehlo.einsum %lhs, %rhs, config = "i...,...->...i" : (tensor<2x2x2xi32>, tensor<2x2xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %2, dense<[[[1, 5], [0, 0]], [[30, 70], [4, 8]]]> : tensor<2x2x2xi32>
  // The ellipsis of one operand has no dimensions; those of the other are summed.
  %3 = stablehlo.einsum %rhs, %rhs, config = "ij...,...->ji" : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %3, dense<[[12, 120], [0, 12]]> : tensor<2x2xi32>
  func.return
}
